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
from tuibench.core.reason import Reason, because, error_text

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


class BadWrite(OSError):
    """Raised if written data is not on the disk; `reason` says what was found."""

    def __init__(self, code: str) -> None:
        super().__init__(errno.EIO, code)
        self.reason = because(code)


def damaged(name: str, why: Reason) -> StoreDamaged:
    """Return the error for a file that differs from what was written."""
    return StoreDamaged("store_file_damaged", name=name, why=why)


def drop_name(reason: Reason, name: str) -> Reason:
    """Return the reason without the name of its file, for a report that names the file itself."""
    if reason.fields.get("name") != name:
        return reason
    return Reason(reason.code, {field: value for field, value in reason.fields.items() if field != "name"})


def explain(error: OSError, name: str, root: str) -> StoreError:
    """Return the error for a system error at the file `name` of the store in `root`.

    Errors that affect all files name the store. The reason comes first, as lines are cut at their end.
    """
    why = _cause(error)
    if error.errno == errno.EROFS:
        return StoreReadOnly("store_read_only", root=root)
    if error.errno in _FULL:
        return StoreError("store_disk_full" if error.errno == errno.ENOSPC else "store_quota_used", root=root)
    above = os.path.isabs(name) and error.errno in _NO_PLACE
    if above or (name == os.curdir and error.errno == errno.ENOENT):
        # A missing place does not explain why it cannot be made.
        return StoreReadOnly("no_place_for_store", root=root, why=None if error.errno == errno.ENOENT else why)
    if error.errno in _NOT_OURS:
        path = os.path.join(root, name)
        return StoreReadOnly("store_file_forbidden", name=name, why=why, path=path, readable=_is_readable(path))
    if error.errno == errno.EMFILE:
        return StoreError.from_reason(TooManyFiles().reason)
    if error.errno in _IN_THE_WAY:
        return in_the_way(name, because("unexpected_file", why=why))
    return StoreError("store_call_failed", name=name, why=why)


def _cause(error: OSError) -> Reason:
    if isinstance(error, BadWrite):
        return error.reason
    return error_text(error.strerror) if error.strerror else because("cause_unknown")


def _is_readable(path: str) -> bool:
    """Return whether this user may read the path, or its nearest existing parent."""
    while not os.path.lexists(path):
        path = os.path.dirname(path)
    return os.access(path, os.R_OK | os.X_OK if os.path.isdir(path) else os.R_OK)


def in_the_way(name: str, why: Reason) -> StoreError:
    """Return the error for a foreign link, pipe or directory at a store path; it is neither followed nor replaced."""
    return StoreError("store_path_blocked", name=name, why=why)


def refuse_newer(name: str, schema: int, tool: str) -> StoreNewer:
    """Return the error for writing a file with an unknown newer schema."""
    return StoreNewer("newer_read_only", name=name, schema=schema, tool=tool)


def cannot_show(name: str, schema: int, tool: str) -> StoreNewer:
    """Return the error for a newer version's file without readable content."""
    return StoreNewer("newer_not_shown", name=name, schema=schema, tool=tool)
