"""The real disk behind one method that every call passes, where tests put their faults."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable
from typing import Any, cast

from tuibench.store.disk import Disk, RealDisk

CHANGES = frozenset({"write", "fsync", "replace", "link", "unlink", "mkdir", "rmdir", "utime", "chmod"})


def alters(kind: str, arguments: tuple[Any, ...]) -> bool:
    """Return True if the call can change the disk."""
    return kind in CHANGES or (kind == "open" and bool(arguments[1] & (os.O_CREAT | os.O_TRUNC)))


class Relay:
    """A Disk that forwards every call; subclasses wrap `touch`."""

    def __init__(self, inner: Disk | None = None) -> None:
        self.inner = inner or RealDisk()

    def touch(self, kind: str, arguments: tuple[Any, ...]) -> Any:
        """Make the call."""
        return getattr(self.inner, kind)(*arguments)

    def open(self, path: str, flags: int, mode: int = 0o600) -> int:
        return cast(int, self.touch("open", (path, flags, mode)))

    def read(self, fd: int, count: int, offset: int) -> bytes:
        return cast(bytes, self.touch("read", (fd, count, offset)))

    def write(self, fd: int, data: bytes | memoryview) -> int:
        return cast(int, self.touch("write", (fd, data)))

    def fsync(self, fd: int) -> None:
        self.touch("fsync", (fd,))

    def close(self, fd: int) -> None:
        self.touch("close", (fd,))

    def replace(self, source: str, target: str) -> None:
        self.touch("replace", (source, target))

    def link(self, source: str, target: str) -> None:
        self.touch("link", (source, target))

    def unlink(self, path: str) -> None:
        self.touch("unlink", (path,))

    def mkdir(self, path: str) -> None:
        self.touch("mkdir", (path,))

    def rmdir(self, path: str) -> None:
        self.touch("rmdir", (path,))

    def stat(self, path: str) -> os.stat_result:
        return cast(os.stat_result, self.touch("stat", (path,)))

    def fstat(self, fd: int) -> os.stat_result:
        return cast(os.stat_result, self.touch("fstat", (fd,)))

    def scan(self, path: str) -> list[str]:
        return cast("list[str]", self.touch("scan", (path,)))

    def utime(self, path: str, ns: int) -> None:
        self.touch("utime", (path, ns))

    def chmod(self, fd: int, mode: int) -> None:
        self.touch("chmod", (fd, mode))

    def lock(self, fd: int, operation: int) -> None:
        self.touch("lock", (fd, operation))

    def room(self, path: str) -> int:
        return cast(int, self.touch("room", (path,)))


class CountingDisk(Relay):
    """Counts calls by kind and the bytes read and written, for cost tests."""

    def __init__(self, inner: Disk | None = None) -> None:
        super().__init__(inner)
        self.calls: Counter[str] = Counter()
        self.bytes_read = 0
        self.bytes_written = 0

    def touch(self, kind: str, arguments: tuple[Any, ...]) -> Any:
        """Make the call and count it."""
        answer = super().touch(kind, arguments)
        self.calls[kind] += 1
        if kind == "read":
            self.bytes_read += len(answer)
        elif kind == "write":
            self.bytes_written += answer
        return answer

    def reset(self) -> None:
        """Reset the counts to zero."""
        self.calls.clear()
        self.bytes_read = self.bytes_written = 0


class OpenFiles(Relay):
    """Tracks open descriptors, so that a test can find leaks."""

    def __init__(self, inner: Disk | None = None) -> None:
        super().__init__(inner)
        self.paths: dict[int, str] = {}

    def touch(self, kind: str, arguments: tuple[Any, ...]) -> Any:
        """Make the call; count a failed close too, because the kernel frees the descriptor anyway."""
        if kind == "close":
            self.paths.pop(arguments[0], None)
        answer = super().touch(kind, arguments)
        if kind == "open":
            self.paths[answer] = arguments[0]
        return answer

    def left(self, allowed: Iterable[str] = ()) -> list[str]:
        """Return the open paths whose names end in none of `allowed`."""
        return [path for path in self.paths.values() if not path.endswith(tuple(allowed))]
