"""What was found out once and need not be again, in files of the cache: of one kind, of one form, of one age at most.

A file is one line as journals have them, under a checksum. Whatever is wrong with it, it is as if it were not there.
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
from tuibench.runs.journal import decode, encode
from tuibench.runs.regular import open_regular

T = TypeVar("T")

NO_SUCH = (TypeError, ValueError, KeyError, AttributeError, IndexError, RecursionError)
"""What comes of making a thing of what another version, or nobody of ours, wrote."""
_SUFFIX = ".kept"
_ODD = re.compile(r"[^A-Za-z0-9.]+")
_MOST_BYTES = 1 << 25
_ROOM_BYTES = 1 << 26
"""Of all files of a shelf together: the oldest go first."""


@dataclass(frozen=True, slots=True)
class Shelf(Generic[T]):
    """Things of one kind by their keys; `make` builds one from plain values, and raises for what is none."""

    directory: Path
    form: int
    """Of what is kept and how it is found out: what says another one is not used."""
    make: Callable[[Any], T]
    oldest_s: float | None = None
    clock: Callable[[], float] = time.time

    def get(self, key: str) -> T | None:
        """None where there is none, or none that can be used."""
        try:
            with os.fdopen(open_regular(self.path(key)), "rb") as handle:
                status = os.fstat(handle.fileno())
                old = self.oldest_s is not None and self.clock() - status.st_mtime > self.oldest_s
                if old or status.st_size > _MOST_BYTES:
                    return None
                found = decode(handle.read())
            # The name is a digest, and whoever can write there may have copied it from elsewhere.
            fits = found is not None and (found["form"], found["key"]) == (self.form, key)
            return self.make(found["result"]) if found is not None and fits else None
        except (OSError, *NO_SUCH):
            return None

    def put(self, key: str, thing: T) -> None:
        """Keep it; a cache that cannot be written costs the next one some seconds and nothing else."""
        try:
            line = encode({"form": self.form, "key": key, "result": to_compact(thing)})
            make_private(self.directory)
            write_whole(self.path(key), line)
            self._make_room()
        except (OSError, ValueError):
            return

    def forget(self, key: str) -> None:
        """It is not so any more, and what is so now is not fit to be kept."""
        try:
            self.path(key).unlink(missing_ok=True)
        except OSError:
            return  # it counts until it is too old, as it did before

    def path(self, key: str) -> Path:
        """Where something is kept, under a name that says what it is."""
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
