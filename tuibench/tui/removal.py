"""Undo of removals in their order, and messages about runs that ended between two polls."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from tuibench.core import activity
from tuibench.core.activity import RunInfo
from tuibench.core.ids import short_id
from tuibench.core.reason import FINISHED_ON_REQUEST, SAVED_AS_FAR
from tuibench.core.stored import Removal, TrashEntry
from tuibench.core.text import show
from tuibench.core.units import count_of
from tuibench.present.reason import reason_words
from tuibench.services.api import Services
from tuibench.services.monitor import Snapshot

T = TypeVar("T")


class Removals:
    """Removals of this session; other sessions may remove from the same store meanwhile."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._own: list[str] = []
        """Trash entries, the latest last; only accessed by the work whose turn it is."""
        self._last = threading.Event()
        self._last.set()

    def in_turn(self, work: Callable[[], T]) -> Callable[[], T]:
        """Wrap `work`, to be run in a thread, so that it waits for all work passed in before."""
        before, self._last = self._last, (done := threading.Event())

        def carry_out() -> T:
            before.wait()
            try:
                return work()
            finally:
                done.set()

        return carry_out

    def removing(self, work: Callable[[], Removal]) -> Callable[[], Removal]:
        """Wrap a removal likewise, and remember its trash entry."""

        def carry_out() -> Removal:
            removed = work()
            if removed.entry is not None:
                self._own.append(removed.entry.id)
            return removed

        return self.in_turn(carry_out)

    def undoing(self) -> Callable[[], TrashEntry]:
        """Return work that restores this session's last removal, or anyone's if none of its own is left."""
        return self.in_turn(self._undo)

    def _undo(self) -> TrashEntry:
        if not self._own:
            return self._services.library.undo()
        there = {entry.id for entry in self._services.library.trash()}
        self._own = [one for one in self._own if one in there]
        return self._services.library.restore(self._own[-1]) if self._own else self._services.library.undo()


@dataclass(frozen=True, slots=True)
class End:
    """The end of one run."""

    title: str
    """The result of the run."""
    well: bool
    """True if the user has nothing left to do about it."""
    detail: str = ""

    @property
    def words(self) -> str:
        """Return the whole line."""
        return ": ".join(filter(None, (self.title, self.detail)))


def ends_between(before: Snapshot, now: Snapshot) -> tuple[End, ...]:
    """Return the ends of runs that were alive in `before` and are not in `now`, newest first."""
    alive = {row.info.id for row in now.runs if row.info.state in activity.ALIVE}
    gone = [row.info for row in before.runs if row.info.state in activity.ALIVE and row.info.id not in alive]
    left = {row.info.id: row.info for row in now.runs}
    done = {info.id: info for info in now.ended}
    return tuple(_end(was, left.get(was.id), done.get(was.id)) for was in gone)


def _end(was: RunInfo, left: RunInfo | None, done: RunInfo | None) -> End:
    name = f"run {short_id(was.id)}"
    if left is not None:
        return End(f"{name} {left.state}", False, reason_words(left.detail))
    if done is None:
        return End(f"{name} was removed", True)
    if done.state == activity.CANCELLED:
        kept = f"{count_of(done.executions, 'execution')} saved" if done.executions else "nothing was measured"
        return End(f"{name} cancelled, {kept}", True)
    words, code = reason_words(done.detail), done.detail.code if done.detail is not None else ""
    if code in (FINISHED_ON_REQUEST, SAVED_AS_FAR):
        return End(f"{name} {words}" + (" and saved" if code == FINISHED_ON_REQUEST else ""), True)
    if not done.executions:
        models = f" of {show(', '.join(done.models), 40)}" if done.models else ""
        return End(f"{name}{models} ended", False, "every cell failed")
    return End(f"{name} finished and saved", True, words)
