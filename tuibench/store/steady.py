"""Calls that a signal cut short are made again, in one place, so that no caller need think of it."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from tuibench.store.disk import Disk

P = ParamSpec("P")
T = TypeVar("T")


class SteadyDisk:
    """Another disk, patient with signals."""

    def __init__(self, disk: Disk) -> None:
        self._disk = disk

    def open(self, path: str, flags: int, mode: int = 0o600) -> int:
        """As the disk below."""
        return _again(self._disk.open, path, flags, mode)

    def read(self, fd: int, count: int, offset: int) -> bytes:
        """As the disk below."""
        return _again(self._disk.read, fd, count, offset)

    def write(self, fd: int, data: bytes | memoryview) -> int:
        """As the disk below."""
        return _again(self._disk.write, fd, data)

    def fsync(self, fd: int) -> None:
        """As the disk below."""
        _again(self._disk.fsync, fd)

    def chmod(self, fd: int, mode: int) -> None:
        """As the disk below."""
        _again(self._disk.chmod, fd, mode)

    def close(self, fd: int) -> None:
        """As the disk below, once: after an interrupted close the descriptor is gone and may already be another's."""
        try:
            self._disk.close(fd)
        except InterruptedError:
            return

    def replace(self, source: str, target: str) -> None:
        """As the disk below."""
        _again(self._disk.replace, source, target)

    def link(self, source: str, target: str) -> None:
        """As the disk below."""
        _again(self._disk.link, source, target)

    def unlink(self, path: str) -> None:
        """As the disk below."""
        _again(self._disk.unlink, path)

    def mkdir(self, path: str) -> None:
        """As the disk below."""
        _again(self._disk.mkdir, path)

    def rmdir(self, path: str) -> None:
        """As the disk below."""
        _again(self._disk.rmdir, path)

    def stat(self, path: str) -> os.stat_result:
        """As the disk below."""
        return _again(self._disk.stat, path)

    def fstat(self, fd: int) -> os.stat_result:
        """As the disk below."""
        return _again(self._disk.fstat, fd)

    def scan(self, path: str) -> list[str]:
        """As the disk below."""
        return _again(self._disk.scan, path)

    def utime(self, path: str, ns: int) -> None:
        """As the disk below."""
        _again(self._disk.utime, path, ns)

    def lock(self, fd: int, operation: int) -> None:
        """As the disk below."""
        _again(self._disk.lock, fd, operation)

    def room(self, path: str) -> int:
        """As the disk below."""
        return _again(self._disk.room, path)


def _again(call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    while True:
        try:
            return call(*args, **kwargs)
        except InterruptedError:
            continue
