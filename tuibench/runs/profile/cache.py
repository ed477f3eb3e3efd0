"""File cache for values of one kind, with a version and a maximum age.

A file is one checksummed line in the journal's format. Any defective file counts as missing.
"""

from __future__ import annotations

import hashlib
import os
import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

from tuibench.core.record import to_compact
from tuibench.runs.directory import make_private, write_whole
from tuibench.runs.journal import decode, encode, open_regular

T = TypeVar("T")

NO_SUCH = (TypeError, ValueError, KeyError, AttributeError, IndexError, RecursionError)
"""Errors of building a value from a file of another version or origin."""
_SUFFIX = ".kept"
_ODD = re.compile(r"[^A-Za-z0-9.]+")
_MOST_BYTES = 1 << 25
_ROOM_BYTES = 1 << 26
"""Total size of a cache's files; the oldest are deleted first."""


@dataclass(frozen=True, slots=True)
class FileCache(Generic[T]):
    """A cache by key; `make` builds a value from plain data and raises on invalid data."""

    directory: Path
    form: int
    """Version of the cached values; entries of another version are ignored."""
    make: Callable[[Any], T]
    oldest_s: float | None = None
    clock: Callable[[], float] = time.time

    def get(self, key: str) -> T | None:
        """Return the value, or None if it is missing or unusable."""
        try:
            with os.fdopen(open_regular(self.path(key)), "rb") as handle:
                status = os.fstat(handle.fileno())
                old = self.oldest_s is not None and self.clock() - status.st_mtime > self.oldest_s
                if old or status.st_size > _MOST_BYTES:
                    return None
                found = decode(handle.read())
            # The name is only a digest, and the file may be a copy: compare the key.
            fits = found is not None and (found["form"], found["key"]) == (self.form, key)
            return self.make(found["result"]) if found is not None and fits else None
        except (OSError, *NO_SUCH):
            return None

    def put(self, key: str, thing: T) -> None:
        """Store a value; a failure only costs recomputing it."""
        try:
            line = encode({"form": self.form, "key": key, "result": to_compact(thing)})
            make_private(self.directory)
            write_whole(self.path(key), line)
            self._make_room()
        except (OSError, ValueError):
            return

    def forget(self, key: str) -> None:
        """Drop an entry that is no longer valid."""
        try:
            self.path(key).unlink(missing_ok=True)
        except OSError:
            return  # the entry stays until it expires

    def path(self, key: str) -> Path:
        """Return the file of a key, with a readable name."""
        words = _ODD.sub("-", key)[:80].strip("-")
        return self.directory / f"{words}-{hashlib.sha256(key.encode()).hexdigest()[:16]}{_SUFFIX}"

    def _make_room(self) -> None:
        left = _ROOM_BYTES
        for _, size, path in sorted(map(_weigh, self.directory.iterdir()), reverse=True):
            left -= size
            if left < 0:
                path.unlink(missing_ok=True)


def _weigh(path: Path) -> tuple[float, int, Path]:
    status = os.lstat(path)
    return status.st_mtime, status.st_size, path
