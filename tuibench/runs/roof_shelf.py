"""What was measured of this machine for profiles, kept in the cache: it costs seconds and does not change by itself."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from tuibench.core.profile import Roofline, ZeroEffect
from tuibench.core.strict import strictly
from tuibench.host.facts import read_facts, this_process
from tuibench.runs.shelf import Shelf

T = TypeVar("T", bound="Roofline | ZeroEffect")

_PLACE = "roofs"
_FORM = 2
"""Of what is measured and how: with another one nothing that was kept is used."""
_OLD_S = 7 * 24 * 3600.0
"""What was measured while others worked must not stay the roof for ever."""


class RoofShelf:
    """Of one machine; `machine` says CPU model and engine version, of which another one measures differently."""

    def __init__(self, cache: str | None, machine: str, clock: Callable[[], float] = time.time) -> None:
        self._cache = cache
        self._machine = machine
        self._clock = clock

    def get(self, part: str, cores: int, kind: type[T]) -> T | None:
        """What was measured in the last week; None where nothing was, or it cannot be used."""
        return None if self._cache is None else self._shelf(kind).get(self._key(part, cores))

    def put(self, part: str, cores: int, found: Roofline | ZeroEffect) -> None:
        """Keep it; a cache that cannot be written costs the next profile some seconds and nothing else."""
        if self._cache is not None:
            self._shelf(type(found)).put(self._key(part, cores), found)

    def forget(self, part: str, cores: int) -> None:
        """What was found now is not fit to be kept: what was kept before is not what this machine does any more."""
        if self._cache is not None:
            self._shelf(Roofline).forget(self._key(part, cores))

    def _shelf(self, kind: type[T]) -> Shelf[T]:
        return Shelf(Path(self._cache or "") / _PLACE, _FORM, strictly(kind), _OLD_S, self._clock)

    def _key(self, part: str, cores: int) -> str:
        return f"{part}, {cores} cores, {self._machine}"


def has_roofs(cache: str, cores: int, clock: Callable[[], float] = time.time) -> bool:
    """Whether something of the kind is kept for so many cores, for estimates that need no more than a guess."""
    begin = f"roofline-{cores}-cores-"
    try:
        kept = [entry.stat().st_mtime for entry in os.scandir(Path(cache) / _PLACE) if entry.name.startswith(begin)]
    except OSError:
        return False
    return any(clock() - at <= _OLD_S for at in kept)


def describe_machine(engine: str) -> str:
    """CPU and engine in one line: by it what was measured of both is known again."""
    process = this_process()
    cpu = read_facts(process)["env"]["cpu"]
    isa = " ".join(str(name) for name in cpu.get("isa") or ())
    return f"{cpu.get('brand') or cpu.get('model')}, {isa}, {engine} {process.versions.get(engine)}"
