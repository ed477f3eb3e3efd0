"""Disks that count or refuse calls, for tests of single faults."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable

from tuibench.store.disk import Disk


class ReadOnly(Disk):
    """A disk that refuses every change."""

    def _refuse(self) -> OSError:
        return OSError(errno.EROFS, os.strerror(errno.EROFS))

    def open(self, path: str, flags: int, mode: int = 0o600) -> int:
        if flags & (os.O_WRONLY | os.O_RDWR) and (flags & (os.O_CREAT | os.O_TMPFILE) or os.path.exists(path)):
            raise self._refuse()
        return super().open(path, flags, mode)

    def replace(self, source: str, target: str) -> None:
        raise self._refuse()

    def link(self, source: str, target: str) -> None:
        raise self._refuse()

    def unlink(self, path: str) -> None:
        raise self._refuse()

    def mkdir(self, path: str) -> None:
        if os.path.exists(path):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST))
        raise self._refuse()


class Grudging(Disk):
    """Reads and writes a few bytes at a time, and a signal interrupts every other call."""

    def __init__(self) -> None:
        self._calls = 0

    def _interrupt(self) -> None:
        self._calls += 1
        if self._calls % 2:
            raise InterruptedError(errno.EINTR, os.strerror(errno.EINTR))

    def open(self, path: str, flags: int, mode: int = 0o600) -> int:
        self._interrupt()
        return super().open(path, flags, mode)

    def read(self, fd: int, count: int, offset: int) -> bytes:
        self._interrupt()
        return super().read(fd, min(count, 97), offset)

    def write(self, fd: int, data: bytes | memoryview) -> int:
        self._interrupt()
        return super().write(fd, bytes(data[:113]))

    def fsync(self, fd: int) -> None:
        self._interrupt()
        super().fsync(fd)

    def replace(self, source: str, target: str) -> None:
        self._interrupt()
        super().replace(source, target)


class Recording(Disk):
    """Records the altering calls."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, str]] = []
        self._names: dict[int, str] = {}

    def open(self, path: str, flags: int, mode: int = 0o600) -> int:
        fd = super().open(path, flags, mode)
        self._names[fd] = path
        return fd

    def write(self, fd: int, data: bytes | memoryview) -> int:
        self.calls.append(("write", self._names[fd]))
        return super().write(fd, data)

    def fsync(self, fd: int) -> None:
        self.calls.append(("fsync", self._names[fd]))
        super().fsync(fd)

    def link(self, source: str, target: str) -> None:
        self.calls.append(("link", target))
        super().link(source, target)

    def replace(self, source: str, target: str) -> None:
        self.calls.append(("replace", target))
        super().replace(source, target)

    def mkdir(self, path: str) -> None:
        super().mkdir(path)
        self.calls.append(("mkdir", path))


class Failing(Disk):
    """Fails the altering call of the given number."""

    def __init__(self, at: int, number: int) -> None:
        self._left = at
        self._number = number

    def _count(self, call: Callable[[], None]) -> None:
        self._left -= 1
        if self._left == 0:
            raise OSError(self._number, os.strerror(self._number))
        call()

    def write(self, fd: int, data: bytes | memoryview) -> int:
        taken: list[int] = []
        self._count(lambda: taken.append(super(Failing, self).write(fd, data)))
        return taken[0]

    def fsync(self, fd: int) -> None:
        self._count(lambda: super(Failing, self).fsync(fd))

    def link(self, source: str, target: str) -> None:
        self._count(lambda: super(Failing, self).link(source, target))

    def replace(self, source: str, target: str) -> None:
        self._count(lambda: super(Failing, self).replace(source, target))

    def mkdir(self, path: str) -> None:
        self._count(lambda: super(Failing, self).mkdir(path))

    @property
    def spent(self) -> bool:
        """Return True once the call was reached."""
        return self._left <= 0
