"""Opens a user's store; its import is slow, so commands load this module only if they need the store."""

from __future__ import annotations

from pathlib import Path

from tuibench.host.system import is_remote, read_machine
from tuibench.store.lock import WAIT_S
from tuibench.store.store import Store


def open_store(root: Path, wait_s: float = WAIT_S) -> Store:
    """Return the store below `root`, with this limit for its locks; read and write nothing yet."""
    return Store(root, read_machine(), is_remote=is_remote, wait_s=wait_s)
