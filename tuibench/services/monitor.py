"""Changes by any process: store and runs, looked at once per second."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tuibench.core.activity import RunInfo, RunRow

if TYPE_CHECKING:  # the first frame needs the value only
    from tuibench.services.api import Services


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Result of one look; equal to the last one if nothing changed."""

    stamp: str
    """Changes whenever benchmarks, projects or the trash may have changed, by any process."""
    runs: tuple[RunRow, ...]
    notices: tuple[str, ...] = ()
    """Notices of the store."""
    ended: tuple[RunInfo, ...] = ()
    """Runs that were active earlier in this session, have ended and are no longer in `runs`."""


class Monitor:
    """Looks for changes; costs a few stat calls if nothing changed."""

    def __init__(self, services: Services) -> None:
        from tuibench.services.run_monitor import RunMonitor  # deferred: screens import `Snapshot` for the first frame

        self._services = services
        self._monitor = RunMonitor(services.runs, services.store)
        self._looks = 0
        self._unwritable = ""

    def look(self) -> Snapshot:
        """Return the present state; the second look tests whether results can be saved."""
        store = self._services.store
        mark = store.mark()
        runs, ended = self._monitor.look(mark), self._monitor.ended
        self._looks += 1
        if self._looks == 2:  # not at the first look, which is part of the start
            self._unwritable = store.probe()
        warning = (f"results may not be kept: {self._unwritable}",) if self._unwritable else ()
        return Snapshot(mark, runs, (*warning, *self._services.notices()), ended)
