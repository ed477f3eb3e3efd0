"""Messages for the status line about runs that ended between two polls."""

from __future__ import annotations

from dataclasses import dataclass

from tuibench.core import activity
from tuibench.core.activity import RunInfo
from tuibench.core.short_id import short_id
from tuibench.core.text import show
from tuibench.core.units import count_of
from tuibench.core.wish import AS_FAR, ON_REQUEST
from tuibench.tui.desk import Pulse


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


def ends_between(before: Pulse, now: Pulse) -> tuple[End, ...]:
    """Return the ends of runs that were alive in `before` and are not in `now`, newest first."""
    alive = {row.info.id for row in now.runs if row.info.state in activity.ALIVE}
    gone = [row.info for row in before.runs if row.info.state in activity.ALIVE and row.info.id not in alive]
    left = {row.info.id: row.info for row in now.runs}
    done = {info.id: info for info in now.ended}
    return tuple(_end(was, left.get(was.id), done.get(was.id)) for was in gone)


def _end(was: RunInfo, left: RunInfo | None, done: RunInfo | None) -> End:
    name = f"run {short_id(was.id)}"
    if left is not None:
        return End(f"{name} {left.state}", False, left.detail)
    if done is None:
        return End(f"{name} was removed", True)
    if done.state == activity.CANCELLED:
        kept = f"{count_of(done.executions, 'execution')} saved" if done.executions else "nothing was measured"
        return End(f"{name} cancelled, {kept}", True)
    if done.detail in (ON_REQUEST, AS_FAR):
        return End(f"{name} {done.detail}" + (" and saved" if done.detail == ON_REQUEST else ""), True)
    if not done.executions:
        models = f" of {show(', '.join(done.models), 40)}" if done.models else ""
        return End(f"{name}{models} ended", False, "every cell failed")
    return End(f"{name} finished and saved", True, done.detail)
