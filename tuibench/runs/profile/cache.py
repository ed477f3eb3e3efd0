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

from tuibench.core.profile import Roofline, ZeroEffect
from tuibench.core.record import strictly, to_compact
from tuibench.host.facts import read_facts, this_process
from tuibench.runs.directory import make_private, write_whole
from tuibench.runs.journal import decode, encode, open_regular

T = TypeVar("T")

_NO_SUCH = (TypeError, ValueError, KeyError, AttributeError, IndexError, RecursionError)
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
        except (OSError, *_NO_SUCH):
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


K = TypeVar("K", bound="Roofline | ZeroEffect")

_PLACE = "roofs"
_FORM = 2
"""Version of the measurement; entries of another version are ignored."""
_OLD_S = 7 * 24 * 3600.0
"""Maximum age: a result disturbed by other work must expire."""


class MachineCache:
    """The cache of one machine; `machine` names CPU model and engine version."""

    def __init__(self, cache: str | None, machine: str, clock: Callable[[], float] = time.time) -> None:
        self._cache = cache
        self._machine = machine
        self._clock = clock

    def get(self, part: str, cores: int, kind: type[K]) -> K | None:
        """Return a measurement of the last week; None if missing or unusable."""
        return None if self._cache is None else self._files(kind).get(self._key(part, cores))

    def put(self, part: str, cores: int, found: Roofline | ZeroEffect) -> None:
        """Store a measurement; a failure only costs the next profile some seconds."""
        if self._cache is not None:
            self._files(type(found)).put(self._key(part, cores), found)

    def forget(self, part: str, cores: int) -> None:
        """Drop an entry that a new, unsound measurement has made doubtful."""
        if self._cache is not None:
            self._files(Roofline).forget(self._key(part, cores))

    def _files(self, kind: type[K]) -> FileCache[K]:
        return FileCache(Path(self._cache or "") / _PLACE, _FORM, strictly(kind), _OLD_S, self._clock)

    def _key(self, part: str, cores: int) -> str:
        return f"{part}, {cores} cores, {self._machine}"


def has_roofs(cache: str, cores: int, clock: Callable[[], float] = time.time) -> bool:
    """Return whether roofs for this core count are cached, as a rough input for estimates."""
    begin = f"roofline-{cores}-cores-"
    try:
        kept = [entry.stat().st_mtime for entry in os.scandir(Path(cache) / _PLACE) if entry.name.startswith(begin)]
    except OSError:
        return False
    return any(clock() - at <= _OLD_S for at in kept)


def describe_machine(engine: str) -> str:
    """Return CPU and engine in one line, the cache key of their measurements."""
    process = this_process()
    cpu = read_facts(process)["env"]["cpu"]
    isa = " ".join(str(name) for name in cpu.get("isa") or ())
    return f"{cpu.get('brand') or cpu.get('model')}, {isa}, {engine} {process.versions.get(engine)}"
