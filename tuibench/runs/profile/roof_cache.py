"""Cache of machine measurements for profiles, which take seconds and rarely change."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from tuibench.core.profile import Roofline, ZeroEffect
from tuibench.core.record import strictly
from tuibench.host.facts import read_facts, this_process
from tuibench.runs.profile.cache import FileCache

T = TypeVar("T", bound="Roofline | ZeroEffect")

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

    def get(self, part: str, cores: int, kind: type[T]) -> T | None:
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

    def _files(self, kind: type[T]) -> FileCache[T]:
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
