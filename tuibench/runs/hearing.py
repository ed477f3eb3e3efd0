"""Polls the run directory for control requests and applies them to the journal and the schedule."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from tuibench.runs.journal import Journal
from tuibench.runs.schedule import Schedule
from tuibench.runs.supervision import Bounds
from tuibench.runs.wish import MoreTime, WishBox


class Hearing:
    """The control requests of one session; `granted` are the ids that earlier sessions have granted."""

    def __init__(self, run_dir: Path, journal: Journal, bounds: Bounds, granted: Collection[str] = ()) -> None:
        self._box = WishBox(run_dir)
        self._journal = journal
        self._bounds = bounds
        self._granted = set(granted)
        self.finishing = False
        """True if the current execution is to be the last."""

    def listen(self, schedule: Schedule | None) -> None:
        """Apply new requests; requests for more time wait until there is a schedule."""
        if not self.finishing and self._box.finish_asked:
            self._journal.append("finish_asked")
            self.finishing = True
        if schedule is None or self.finishing:
            return
        for wish in self._box.more_time():
            if wish.id not in self._granted:
                self._grant(wish, schedule)
            self._box.withdraw(wish.id)

    def _grant(self, wish: MoreTime, schedule: Schedule) -> None:
        executions, cells = schedule.extend(wish.more_s)
        self._bounds.extend(wish.more_s)
        self._granted.add(wish.id)
        self._journal.append("extended", wish=wish.id, limit_s=wish.more_s, executions=executions, cells=cells)
