"""System calls of the store, and errors for those that fail, with hints to mend them."""

from __future__ import annotations

import errno
import fcntl
import os
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any, cast

from tuibench.core.errors import StoreDamaged, StoreError, StoreNewer, StoreReadOnly, TooManyFiles
from tuibench.core.text import show

READ = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
"""Nonblocking: a pipe planted at a name of the store would block its reader for ever."""
CREATE = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW
LOCK = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
NAMELESS = os.O_WRONLY | os.O_TMPFILE | os.O_CLOEXEC
"""Files are opened without following links: one planted at a name of the store must not redirect a write."""


class Disk:
    """The system calls of the store, one per method; all raise OSError."""

    def open(self, path: str, flags: int, mode: int = 0o600) -> int:
        """Call os.open."""
        return os.open(path, flags, mode)

    def read(self, fd: int, count: int, offset: int) -> bytes:
        """Call os.pread."""
        return os.pread(fd, count, offset)

    def write(self, fd: int, data: bytes | memoryview) -> int:
        """Call os.write."""
        return os.write(fd, data)

    def fsync(self, fd: int) -> None:
        """Call os.fsync."""
        os.fsync(fd)

    def chmod(self, fd: int, mode: int) -> None:
        """Call os.fchmod."""
        os.fchmod(fd, mode)

    def close(self, fd: int) -> None:
        """Call os.close."""
        os.close(fd)

    def replace(self, source: str, target: str) -> None:
        """Call os.replace."""
        os.replace(source, target)

    def link(self, source: str, target: str) -> None:
        """Call os.link."""
        os.link(source, target, follow_symlinks=False)

    def unlink(self, path: str) -> None:
        """Call os.unlink."""
        os.unlink(path)

    def mkdir(self, path: str) -> None:
        """Call os.mkdir, for the owner alone."""
        os.mkdir(path, 0o700)

    def rmdir(self, path: str) -> None:
        """Call os.rmdir."""
        os.rmdir(path)

    def stat(self, path: str) -> os.stat_result:
        """Call os.lstat."""
        return os.lstat(path)

    def fstat(self, fd: int) -> os.stat_result:
        """Call os.fstat."""
        return os.fstat(fd)

    def scan(self, path: str) -> list[str]:
        """Call os.listdir and sort the names."""
        return sorted(os.listdir(path))

    def utime(self, path: str, ns: int) -> None:
        """Call os.utime."""
        os.utime(path, ns=(ns, ns), follow_symlinks=False)

    def lock(self, fd: int, operation: int) -> None:
        """Call fcntl.flock; the kernel frees the lock when its owner dies."""
        fcntl.flock(fd, operation)

    def room(self, path: str) -> int:
        """Call os.statvfs."""
        found = os.statvfs(path)
        return found.f_bavail * found.f_frsize


def retrying(disk: Disk) -> Disk:
    """Return a disk that repeats each call interrupted by a signal."""
    return cast("Disk", _Retrying(disk))


class _Retrying:
    """A disk that repeats the calls of another one on EINTR."""

    def __init__(self, disk: Disk) -> None:
        self._disk = disk

    def __getattr__(self, name: str) -> Callable[..., Any]:
        found = partial(_again, getattr(self._disk, name))
        # The next access finds the attribute without this method.
        setattr(self, name, found)
        return found

    def close(self, fd: int) -> None:
        """Close once: an interrupted close frees the descriptor, which another thread may already reuse."""
        with suppress(InterruptedError):
            self._disk.close(fd)


def _again(call: Callable[..., Any], *args: Any) -> Any:
    while True:
        try:
            return call(*args)
        except InterruptedError:
            continue


_NOT_OURS = frozenset({errno.EACCES, errno.EPERM})
_NO_PLACE = frozenset({errno.EACCES, errno.EPERM, errno.ENOENT})
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT})
_IN_THE_WAY = frozenset({errno.ELOOP, errno.EISDIR, errno.ENOTDIR, errno.EEXIST})


_OF_THE_STORE = " of the store"
_DAMAGED = " is damaged: "
_READABLE = "What is in the store can still be read and exported."


def damaged(name: str, why: str, hint: str = "") -> StoreDamaged:
    """Return the error for a file that differs from what was written."""
    aside = "`tuibench store check --read-data --repair` moves it to quarantine; other files stay unchanged."
    return StoreDamaged(f"{name}{_OF_THE_STORE}{_DAMAGED}{why}", hint or aside)


def drop_name(message: str, name: str) -> str:
    """Return a message without the leading file name."""
    return message.removeprefix(name).removeprefix(_OF_THE_STORE).removeprefix(_DAMAGED).removeprefix(": ").lstrip()


def explain(error: OSError, name: str, root: str) -> StoreError:
    """Return the error for a system error at the file `name` of the store in `root`.

    Errors that affect all files name the store. The reason comes first, as lines are cut at their end.
    """
    why = error.strerror or "the system gives no reason"
    if error.errno == errno.EROFS:
        return StoreReadOnly(f"the store is read-only: {root}", _READABLE)
    if error.errno in _FULL:
        full = "the disk of the store is full" if error.errno == errno.ENOSPC else "the quota of the store is used up"
        return StoreError(f"{full}: {root}", "Make room on that disk, or empty the trash with `tuibench trash empty`.")
    above = os.path.isabs(name) and error.errno in _NO_PLACE
    if above or (name == os.curdir and error.errno == errno.ENOENT):
        # A missing place does not explain why it cannot be made.
        more = "" if error.errno == errno.ENOENT else f": {why}"
        return StoreReadOnly(f"no store can be made in {root}{more}", "TUIBENCH_HOME=DIR keeps it elsewhere.")
    if error.errno in _NOT_OURS:
        path = os.path.join(root, name)
        hint = _READABLE if _is_readable(path) else f"This user may not read it: `ls -ld {show(path, 200)}` shows why."
        return StoreReadOnly(f"{_call(name)}: {why}", hint)
    if error.errno == errno.EMFILE:
        limit = TooManyFiles()
        return StoreError(limit.message, limit.hint)
    if error.errno in _IN_THE_WAY:
        return in_the_way(name, f"an unexpected file is there: {why}")
    return StoreError(f"{_call(name)}: {why}", "`tuibench store check` reports damage.")


def _is_readable(path: str) -> bool:
    """Return whether this user may read the path, or its nearest existing parent."""
    while not os.path.lexists(path):
        path = os.path.dirname(path)
    return os.access(path, os.R_OK | os.X_OK if os.path.isdir(path) else os.R_OK)


def in_the_way(name: str, what: str) -> StoreError:
    """Return the error for a foreign link, pipe or directory at a store path; it is neither followed nor replaced."""
    return StoreError(f"{_call(name)}: {what}", "Inspect it and move it away.")


def refuse_newer(name: str, schema: int, tool: str) -> StoreNewer:
    """Return the error for writing a file with an unknown newer schema."""
    return StoreNewer(
        f"{name} of the store was written by {_name_tool(tool)} (schema {schema}), which this version can only read",
        "Use that version, or a newer one, to change it.",
    )


def cannot_show(name: str, schema: int, tool: str) -> StoreNewer:
    """Return the error for a newer version's file without readable content."""
    return StoreNewer(
        f"{name} of the store was written by {_name_tool(tool)} (schema {schema}): this version cannot show it",
        "Use that version or a newer one; the file is intact.",
    )


def _call(name: str) -> str:
    if os.path.isabs(name):
        return name
    return f"the directory{_OF_THE_STORE}" if name == os.curdir else name + _OF_THE_STORE


def _name_tool(tool: str) -> str:
    return f"tuibench {show(tool, 30)}" if tool else "a newer tuibench"
