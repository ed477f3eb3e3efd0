"""What tells this machine from others: read here, and only ever passed on through the secret hash of a store."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path

from tuibench.host.system import read_container
from tuibench.host.tree import Tree

_MACHINE_ID = re.compile(r"[0-9a-f]{32}")
_FILES = ("etc/machine-id", "var/lib/dbus/machine-id")


def read_machine(root: Path = Path("/"), environ: Mapping[str, str] | None = None) -> str:
    """The machine's id; in a container, where many share one, with the host name; the host name where there is none."""
    tree = Tree(root)
    host = tree.read("proc/sys/kernel/hostname") or ""
    texts = (tree.read(path) for path in _FILES)
    # A golden image says "uninitialized" until its first boot.
    machine = next((text for text in texts if text and _MACHINE_ID.fullmatch(text)), None)
    if machine is None:
        return f"host {host or 'unknown'}"
    contained = read_container(tree, os.environ if environ is None else environ)
    return f"machine-id {machine}" + (f" host {host}" if contained else "")
