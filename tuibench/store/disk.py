"""All disk access of the store goes through one small object, so that tests can inject any fault."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any, cast

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
        return partial(_again, getattr(self._disk, name))

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
