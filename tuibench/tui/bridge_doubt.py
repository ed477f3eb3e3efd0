"""Warns that results may not be saved, before anything is measured."""

from __future__ import annotations

from collections.abc import Callable


class Doubt:
    """Probes one store once, at the second call of `look`, to keep the first frame fast."""

    def __init__(self, probe: Callable[[], str]) -> None:
        self._probe = probe
        self._looks = 0
        self._why = ""

    def look(self) -> tuple[str, ...]:
        """Return the warning; empty if the store is writable."""
        self._looks += 1
        if self._looks == 2:
            self._why = self._probe()
        return (f"results may not be kept: {self._why}",) if self._why else ()
