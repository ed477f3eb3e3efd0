"""What was measured of this machine for profiles, kept in the cache: it costs seconds and does not change by itself."""

from __future__ import annotations

import hashlib
import json
import os
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tuibench.runs.directory import make_private, write_whole
from tuibench.runs.regular import open_regular

_PLACE = "roofs"
_ODD = re.compile(r"[^A-Za-z0-9.]+")
_MOST_BYTES = 1 << 20
_OLD_S = 7 * 24 * 3600.0
"""What was measured while others worked must not stay the roof for ever."""


class RoofShelf:
    """Of one machine; `machine` says CPU model and engine version, of which another one measures differently."""

    def __init__(self, cache: str | None, machine: str, clock: Callable[[], float] = time.time) -> None:
        self._cache = cache
        self._machine = machine
        self._clock = clock

    def get(self, part: str, cores: int) -> dict[str, Any] | None:
        """What was measured in the last week; None where nothing was, or it cannot be read."""
        if self._cache is None:
            return None
        try:
            with os.fdopen(open_regular(self._path(part, cores)), "rb") as handle:
                if self._clock() - os.fstat(handle.fileno()).st_mtime > _OLD_S:
                    return None
                found = json.loads(handle.read(_MOST_BYTES))
        except (OSError, ValueError, RecursionError):
            return None
        # The name is a digest, and whoever can write there may have copied it from elsewhere.
        fits = isinstance(found, dict) and found.get("key") == self._key(part, cores)
        return dict(found["result"]) if fits and isinstance(found.get("result"), dict) else None

    def put(self, part: str, cores: int, result: dict[str, Any]) -> None:
        """Keep it; a cache that cannot be written costs the next profile some seconds and nothing else."""
        if self._cache is None:
            return
        path = self._path(part, cores)
        try:
            make_private(path.parent)
            write_whole(path, json.dumps({"key": self._key(part, cores), "result": result}).encode("ascii"))
        except OSError:
            return

    def forget(self, part: str, cores: int) -> None:
        """What was found now is not fit to be kept: what was kept before is not what this machine does any more."""
        if self._cache is None:
            return
        try:
            self._path(part, cores).unlink(missing_ok=True)
        except OSError:
            return  # it counts for a week, as it did before

    def _key(self, part: str, cores: int) -> str:
        return f"{part}, {cores} cores, {self._machine}"

    def _path(self, part: str, cores: int) -> Path:
        key = self._key(part, cores)
        name = _ODD.sub("-", key)[:80].strip("-")
        digest = hashlib.sha256(key.encode()).hexdigest()[:12]
        return Path(self._cache or "") / _PLACE / f"{name}-{digest}.json"


def has_roofs(cache: str, cores: int, clock: Callable[[], float] = time.time) -> bool:
    """Whether something of the kind is kept for so many cores, for estimates that need no more than a guess."""
    begin = f"roofline-{cores}-cores-"
    try:
        kept = [entry.stat().st_mtime for entry in os.scandir(Path(cache) / _PLACE) if entry.name.startswith(begin)]
    except OSError:
        return False
    return any(clock() - at <= _OLD_S for at in kept)
