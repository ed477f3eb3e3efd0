"""The real disk behind one method that every call passes, where tests put their faults."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable
from typing import Any

from tuibench.store.disk import Disk

CHANGES = frozenset({"write", "fsync", "replace", "link", "unlink", "mkdir", "rmdir", "utime", "chmod"})


def alters(kind: str, arguments: tuple[Any, ...]) -> bool:
    """Return True if the call can change the disk."""
    return kind in CHANGES or (kind == "open" and bool(arguments[1] & (os.O_CREAT | os.O_TRUNC)))


class Relay(Disk):
    """A Disk whose calls all pass `touch`, which subclasses wrap."""

    def __init__(self, inner: Disk | None = None) -> None:
        self.inner = inner or Disk()

    def touch(self, kind: str, arguments: tuple[Any, ...]) -> Any:
        """Make the call."""
        return getattr(self.inner, kind)(*arguments)


def _relay(kind: str) -> None:
    defaults = (0o600,) if kind == "open" else ()

    def call(self: Relay, *arguments: Any) -> Any:
        return self.touch(kind, arguments if len(arguments) != 2 else (*arguments, *defaults))

    setattr(Relay, kind, call)


for name in vars(Disk):
    if not name.startswith("_"):
        _relay(name)


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
