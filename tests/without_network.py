"""Runs a command in a network namespace without interfaces, and prints the attempts to send anything beyond it.

python -m tests.without_network COMMAND ... : the last line of stderr is JSON {"code", "attempts"}, or
{"cannot_cut"} with the reason where the kernel does not allow it.
"""

from __future__ import annotations

import ctypes
import json
import os
import subprocess
import sys
from pathlib import Path

_NEW_USER, _NEW_NET = 0x10000000, 0x40000000


def cut() -> None:
    """Leave the network; raise OSError where the kernel does not allow it."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(_NEW_NET) and libc.unshare(_NEW_USER | _NEW_NET):
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def attempts() -> int:
    """Return the packets and connections that found no route in this namespace, for both versions of IP."""
    rows = [line.split() for line in Path("/proc/self/net/snmp").read_text(encoding="ascii").splitlines()]
    names, values = (row for row in rows if row[0] == "Ip:")
    old = int(values[names.index("OutNoRoutes")])
    pairs = (line.split() for line in Path("/proc/self/net/snmp6").read_text(encoding="ascii").splitlines())
    return old + next(int(value) for name, value in pairs if name == "Ip6OutNoRoutes")


def main(command: list[str]) -> None:
    """Run the command and print what it tried."""
    try:
        cut()
    except OSError as error:
        print(json.dumps({"cannot_cut": str(error)}), file=sys.stderr)
        return
    done = subprocess.run(command, check=False)
    print(json.dumps({"code": done.returncode, "attempts": attempts()}), file=sys.stderr)


if __name__ == "__main__":
    main(sys.argv[1:])
