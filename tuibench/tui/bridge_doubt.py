"""Why results may not be kept, said by the dashboard itself, before anything is measured."""

from __future__ import annotations

from collections.abc import Callable


class Doubt:
    """About one store: found out once, at the second look, so that the first frame does not wait for it."""

    def __init__(self, probe: Callable[[], str]) -> None:
        self._probe = probe
        self._looks = 0
        self._why = ""

    def look(self) -> tuple[str, ...]:
        """What to say; nothing where the store can be written."""
        self._looks += 1
        if self._looks == 2:
            self._why = self._probe()
        return (f"results may not be kept: {self._why}",) if self._why else ()
