"""Every touch of the disk by the store goes through one small object, so that tests can put any fault in its way."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any, Protocol, cast

READ = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
"""Without waiting: a pipe planted at a name of ours would hold its reader for ever."""
CREATE = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW
LOCK = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
NAMELESS = os.O_WRONLY | os.O_TMPFILE | os.O_CLOEXEC
"""Links are never followed: one planted at a name of ours must not lead a write elsewhere."""


class Disk(Protocol):
    """The calls the store makes, each one system call; all raise OSError."""

    def open(self, path: str, flags: int, mode: int = 0o600) -> int:
        """A descriptor."""

    def read(self, fd: int, count: int, offset: int) -> bytes:
        """At most `count` bytes from `offset`."""

    def write(self, fd: int, data: bytes | memoryview) -> int:
        """How many bytes were taken; perhaps fewer than given."""

    def fsync(self, fd: int) -> None:
        """Come back when the disk has it."""

    def chmod(self, fd: int, mode: int) -> None:
        """Set who may do what with an open file."""

    def close(self, fd: int) -> None:
        """Give the descriptor back."""

    def replace(self, source: str, target: str) -> None:
        """Rename over whatever is there."""

    def link(self, source: str, target: str) -> None:
        """A second name; FileExistsError where the target is taken."""

    def unlink(self, path: str) -> None:
        """Remove a name."""

    def mkdir(self, path: str) -> None:
        """A directory for its owner alone."""

    def rmdir(self, path: str) -> None:
        """Remove an empty directory."""

    def stat(self, path: str) -> os.stat_result:
        """Of the name itself, never of what a link points to."""

    def fstat(self, fd: int) -> os.stat_result:
        """Of what is open."""

    def scan(self, path: str) -> list[str]:
        """The names in a directory, sorted."""

    def utime(self, path: str, ns: int) -> None:
        """Set the time of the last change."""

    def lock(self, fd: int, operation: int) -> None:
        """flock; BlockingIOError where it is held and LOCK_NB was asked."""

    def room(self, path: str) -> int:
        """Bytes that an ordinary user may still write where `path` lies."""


class RealDisk:
    """The operating system's own."""

    def open(self, path: str, flags: int, mode: int = 0o600) -> int:
        """As os.open."""
        return os.open(path, flags, mode)

    def read(self, fd: int, count: int, offset: int) -> bytes:
        """As os.pread."""
        return os.pread(fd, count, offset)

    def write(self, fd: int, data: bytes | memoryview) -> int:
        """As os.write."""
        return os.write(fd, data)

    def fsync(self, fd: int) -> None:
        """As os.fsync."""
        os.fsync(fd)

    def chmod(self, fd: int, mode: int) -> None:
        """As os.fchmod."""
        os.fchmod(fd, mode)

    def close(self, fd: int) -> None:
        """As os.close."""
        os.close(fd)

    def replace(self, source: str, target: str) -> None:
        """As os.replace."""
        os.replace(source, target)

    def link(self, source: str, target: str) -> None:
        """As os.link."""
        os.link(source, target, follow_symlinks=False)

    def unlink(self, path: str) -> None:
        """As os.unlink."""
        os.unlink(path)

    def mkdir(self, path: str) -> None:
        """As os.mkdir, for the owner alone."""
        os.mkdir(path, 0o700)

    def rmdir(self, path: str) -> None:
        """As os.rmdir."""
        os.rmdir(path)

    def stat(self, path: str) -> os.stat_result:
        """As os.lstat."""
        return os.lstat(path)

    def fstat(self, fd: int) -> os.stat_result:
        """As os.fstat."""
        return os.fstat(fd)

    def scan(self, path: str) -> list[str]:
        """As os.listdir, sorted."""
        return sorted(os.listdir(path))

    def utime(self, path: str, ns: int) -> None:
        """As os.utime."""
        os.utime(path, ns=(ns, ns), follow_symlinks=False)

    def lock(self, fd: int, operation: int) -> None:
        """As fcntl.flock: freed by the kernel the moment its owner is gone."""
        fcntl.flock(fd, operation)

    def room(self, path: str) -> int:
        """As os.statvfs."""
        found = os.statvfs(path)
        return found.f_bavail * found.f_frsize


def retrying(disk: Disk) -> Disk:
    """Return the disk with each call repeated that a signal interrupted."""
    return cast("Disk", _Retrying(disk))


class _Retrying:
    """A disk whose calls are those of another one, repeated on EINTR."""

    def __init__(self, disk: Disk) -> None:
        self._disk = disk

    def __getattr__(self, name: str) -> Callable[..., Any]:
        return partial(_again, getattr(self._disk, name))

    def close(self, fd: int) -> None:
        """Close once: an interrupted close has freed the descriptor, which another thread may have by now."""
        with suppress(InterruptedError):
            self._disk.close(fd)


def _again(call: Callable[..., Any], *args: Any) -> Any:
    while True:
        try:
            return call(*args)
        except InterruptedError:
            continue
