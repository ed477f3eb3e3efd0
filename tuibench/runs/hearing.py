"""The runner's ear for wishes while it measures: what it hears goes into the journal, and then into the schedule."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from tuibench.runs.journal import Journal
from tuibench.runs.schedule import Schedule
from tuibench.runs.supervision import Bounds
from tuibench.runs.wish import MoreTime, WishBox


class Hearing:
    """Of one sitting; `granted` are the wishes that earlier ones have had granted."""

    def __init__(self, run_dir: Path, journal: Journal, bounds: Bounds, granted: Collection[str] = ()) -> None:
        self._box = WishBox(run_dir)
        self._journal = journal
        self._bounds = bounds
        self._granted = set(granted)
        self.finishing = False
        """Whether the execution that goes on should be the last."""

    def listen(self, schedule: Schedule | None) -> None:
        """Take up what was wished since the last time; without a schedule, more time has to wait for the plan."""
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
