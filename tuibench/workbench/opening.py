"""The store of a user, opened where it is needed: importing it takes time that other commands should not pay."""

from __future__ import annotations

from pathlib import Path

from tuibench.host.identity import read_machine
from tuibench.host.mount import is_remote
from tuibench.store.lock import WAIT_S
from tuibench.store.store import Store


def open_store(root: Path, wait_s: float = WAIT_S) -> Store:
    """The store below `root`, whose locks are waited for so long; nothing is read or written yet."""
    return Store(root, read_machine(), is_remote=is_remote, wait_s=wait_s)
