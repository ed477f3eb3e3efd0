"""Identity of this machine; callers pass it on only as a store's secret hash."""

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
    """Return the machine id, or the host name if there is none; in containers, which may share an id, return both."""
    tree = Tree(root)
    host = tree.read("proc/sys/kernel/hostname") or ""
    texts = (tree.read(path) for path in _FILES)
    # A golden image contains "uninitialized" until its first boot.
    machine = next((text for text in texts if text and _MACHINE_ID.fullmatch(text)), None)
    if machine is None:
        return f"host {host or 'unknown'}"
    contained = read_container(tree, os.environ if environ is None else environ)
    return f"machine-id {machine}" + (f" host {host}" if contained else "")
