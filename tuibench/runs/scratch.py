"""Temporary directories of unsaved runs and counts: each locked by its owners, and swept once no owner is alive."""

from __future__ import annotations

import fcntl
import os
import re
import secrets
import shutil
from pathlib import Path

from tuibench.host.mount import is_remote

_PREFIX = "tuibench-tmp-"
_NAME = re.compile(re.escape(_PREFIX) + r"[0-9a-f]{12}")
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def draw_path(root: Path) -> Path:
    """Return an unused name for a temporary directory."""
    return root / f"{_PREFIX}{secrets.token_hex(6)}"


def make_scratch(path: Path) -> int:
    """Make a temporary directory; the descriptor returned holds its lock until it is closed."""
    while True:
        path.mkdir(mode=0o700)
        lock = hold_scratch(path)
        if lock is not None:
            return lock
        # Another start swept it before it was locked.


def hold_scratch(path: Path) -> int | None:
    """Lock a directory as one of its owners; None if it is gone."""
    try:
        lock = os.open(path, _DIRECTORY)
    except FileNotFoundError:
        return None
    try:
        fcntl.flock(lock, fcntl.LOCK_SH)
        if _is_at(path, lock):
            return lock
    except OSError:
        os.close(lock)
        raise
    os.close(lock)
    return None


def sweep(root: Path) -> None:
    """Remove this user's temporary directories that no process holds: their owners were killed.

    Directories on a network file system stay: locks of other machines may not be visible there.
    """
    if is_remote(str(root)):
        return
    try:
        names = os.listdir(root)
    except OSError:
        return  # nothing can be made there either, and the next attempt reports it
    for name in filter(_NAME.fullmatch, names):
        _remove_unheld(root / name)


def _remove_unheld(path: Path) -> None:
    try:
        lock = os.open(path, _DIRECTORY)
    except OSError:
        return  # removed since it was listed, a link, or another user's
    try:
        if os.fstat(lock).st_uid == os.geteuid():
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(path, ignore_errors=True)
    except OSError:
        return  # an owner is alive, or this file system has no locks
    finally:
        os.close(lock)


def _is_at(path: Path, lock: int) -> bool:
    try:
        found = os.lstat(path)
    except FileNotFoundError:
        return False
    return os.path.samestat(found, os.fstat(lock))
