"""Polls the run directory for control requests and applies them to the journal and the schedule."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from tuibench.runs.journal import Journal
from tuibench.runs.schedule import Schedule
from tuibench.runs.supervision import Bounds
from tuibench.runs.wish import ControlRequests, MoreTime


class ControlPoller:
    """The control requests of one session; `granted` are the ids that earlier sessions have granted."""

    def __init__(self, run_dir: Path, journal: Journal, bounds: Bounds, granted: Collection[str] = ()) -> None:
        self._requests = ControlRequests(run_dir)
        self._journal = journal
        self._bounds = bounds
        self._granted = set(granted)
        self.finishing = False
        """True if the current execution is to be the last."""

    def poll(self, schedule: Schedule | None) -> None:
        """Apply new requests; requests for more time wait until there is a schedule."""
        if not self.finishing and self._requests.finish_asked:
            self._journal.append("finish_asked")
            self.finishing = True
        if schedule is None or self.finishing:
            return
        for request in self._requests.more_time():
            if request.id not in self._granted:
                self._grant(request, schedule)
            self._requests.withdraw(request.id)

    def _grant(self, request: MoreTime, schedule: Schedule) -> None:
        executions, cells = schedule.extend(request.more_s)
        self._bounds.extend(request.more_s)
        self._granted.add(request.id)
        self._journal.append("extended", wish=request.id, limit_s=request.more_s, executions=executions, cells=cells)
