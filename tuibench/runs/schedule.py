"""Scheduling of cells and the stop rule; pure, so that tests need no clock."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from tuibench.core.cell import Cell, Execution
from tuibench.core.failure import Failure
from tuibench.core.spec import Effort
from tuibench.stats.interval import half_width
from tuibench.stats.stopping import Decision, decide

SLOW_NS = 1e9
_SLOW_EXECUTIONS = 3
_CRASHES = frozenset({"signal", "exit"})


@dataclass(slots=True)
class Progress:
    """The progress of one cell."""

    cell: Cell
    executions: list[Execution] = field(default_factory=list)
    spent_s: float = 0.0
    crashes: int = 0
    failure: Failure | None = None
    stopped_by: str = ""
    turns: int = 0
    """Number of executions started, with any outcome; the n of each."""
    io: str | None = None
    """The forced I/O class, once a cell it will be compared with supports no better one."""
    unlevel: bool = False
    """True if the cell did not support the forced class."""
    limit_s: float | None = None
    """Replaces the effort's limit once more time was requested."""
    most: int | None = None
    """Replaces the effort's maximum of executions in the same case."""
    stream_kind: str | None = None
    """Fixed by the first execution: near a millisecond the rule would alternate."""

    @property
    def live(self) -> bool:
        """Return whether the cell needs more executions."""
        return not self.stopped_by

    @property
    def p50_ns(self) -> float | None:
        """Return the geometric mean of the p50s so far."""
        logs = self.logs
        return math.exp(sum(logs) / len(logs)) if logs else None

    @property
    def logs(self) -> list[float]:
        """Return ln p50 of each execution."""
        return [math.log(e.p50_ns) for e in self.executions]

    @property
    def half_width(self) -> float | None:
        """Return the half-width of the 95 % interval so far."""
        return half_width(self.logs) if len(self.executions) >= 2 else None

    @property
    def execution_s(self) -> float:
        """Return the mean wall time of an execution, start included."""
        return self.spent_s / max(1, len(self.executions) + self.crashes)


@dataclass(frozen=True, slots=True)
class Turn:
    """One execution to run."""

    cell: Cell
    n: int
    round: int
    anchor: bool


class Schedule:
    """Rounds in random order; a cell leaves when its interval is narrow enough, or it failed, or its time is over."""

    def __init__(self, cells: Sequence[Cell], effort: Effort, rng: random.Random) -> None:
        self.progress = {cell.key: Progress(cell) for cell in cells}
        self._effort = effort
        self._rng = rng
        self.round = 0
        self.anchor: Cell | None = None
        self.anchor_turns = 0

    @property
    def live(self) -> list[Progress]:
        """Return the cells that need more executions."""
        return [p for p in self.progress.values() if p.live]

    def next_round(self) -> list[Turn]:
        """Return every live cell once in random order; add an anchor execution at either end if a sweep may drift."""
        self.round += 1
        cells = [p.cell for p in self.live]
        if not cells:
            return []
        self._rng.shuffle(cells)
        turns = [Turn(c, self._next_n(c), self.round, False) for c in cells]
        anchor = self._pick_anchor()
        if anchor is not None:
            turns.insert(self._rng.randrange(2) * len(turns), self.anchor_turn(anchor))
        return turns

    def anchor_turn(self, cell: Cell) -> Turn:
        """Return one more execution of a cell, to compare the machine with its earlier state."""
        self.anchor_turns += 1
        return Turn(cell, -self.anchor_turns, self.round, True)

    def _next_n(self, cell: Cell) -> int:
        progress = self.progress[cell.key]
        progress.turns += 1
        return progress.turns

    def _pick_anchor(self) -> Cell | None:
        """Return the cheapest cell from round two on; None with up to two cells, which show drift themselves."""
        if len(self.progress) <= 2 or self.round < 2:
            return None
        if self.anchor is None or self.progress[self.anchor.key].failure is not None:
            self.anchor = None
            timed = [p for p in self.progress.values() if p.executions and not p.failure]
            if timed:
                self.anchor = min(timed, key=lambda p: p.execution_s).cell
        return self.anchor

    def record(self, turn: Turn, execution: Execution, wall_s: float) -> Decision:
        """Record a result and decide about its cell."""
        progress = self.progress[turn.cell.key]
        progress.executions.append(execution)
        progress.stream_kind = execution.used.stream_kind
        progress.spent_s += wall_s
        decision = self._decide(progress)
        if decision.stop:
            progress.stopped_by = decision.sentence
        return decision

    def _decide(self, progress: Progress) -> Decision:
        """Decide about a cell; do not give up one with extended time before that is over."""
        decision = decide(progress.logs, self.effort_for(progress), progress.spent_s, progress.execution_s)
        if decision.reason == "hopeless" and progress.limit_s is not None:
            return replace(decision, stop=False, reason="", sentence="")
        return decision

    def extend(self, more_s: float) -> tuple[int, dict[str, dict[str, float]]]:
        """Give every unfinished cell, and each that reached its limit, this much more time and executions in
        proportion.

        Skip cells that failed or reached their target. Return the added executions and each extended cell's new bounds.
        """
        extended = {}
        for key, progress in self.progress.items():
            if progress.failure is not None or not (progress.live or self._wants_more(progress)):
                continue
            now, more = self.effort_for(progress), self._share(self._base(progress), more_s)
            progress.limit_s = max(now.limit_s, progress.spent_s) + more_s
            progress.most = max(now.max_executions, len(progress.executions)) + more
            progress.stopped_by = ""
            extended[key] = {"limit_s": progress.limit_s, "executions": progress.most}
        return self._share(self._effort, more_s), extended

    def _share(self, effort: Effort, more_s: float) -> int:
        """Return the number of executions for some time, in proportion to the effort."""
        return math.ceil(effort.max_executions * more_s / self._effort.limit_s)

    def _wants_more(self, progress: Progress) -> bool:
        return bool(progress.executions) and self._decide(progress).reason != "target"

    def record_failure(self, turn: Turn, failure: Failure, wall_s: float) -> bool:
        """Record a failure; return True for one retry, only after a crash while timing."""
        progress = self.progress[turn.cell.key]
        progress.spent_s += wall_s
        progress.crashes += 1
        if failure.phase == "timed" and failure.kind in _CRASHES and progress.crashes == 1:
            return True
        progress.failure = failure
        progress.stopped_by = "failed"
        return False

    def effort_for(self, progress: Progress) -> Effort:
        """Return a cell's effort: three executions if a call takes over a second, plus extensions."""
        base = self._base(progress)
        if progress.limit_s is None or progress.most is None:
            return base
        least = progress.most if base.target is None else base.min_executions
        return replace(base, limit_s=progress.limit_s, min_executions=least, max_executions=progress.most)

    def _base(self, progress: Progress) -> Effort:
        if progress.executions and progress.executions[0].p50_ns > SLOW_NS:
            return slow_executions(self._effort)
        return self._effort

    def force_io(self, group: Sequence[str], io: str) -> None:
        """Force the group to one I/O class; results in another are dropped after the first one in the new class."""
        for key in group:
            progress = self.progress[key]
            progress.io = io
            if any(e.used.io != io for e in progress.executions):
                progress.stopped_by = ""

    def start_anew(self, key: str, io: str) -> bool:
        """Drop a cell's executions in other I/O classes; return whether there were any."""
        progress = self.progress[key]
        kept = [e for e in progress.executions if e.used.io == io]
        if len(kept) == len(progress.executions):
            return False
        progress.executions[:] = kept
        progress.spent_s = 0.0
        progress.crashes = 0
        return True

    def give_way(self, turn: Turn) -> bool:
        """Return whether a cell that fails in a forced class may keep its own, with its results."""
        progress = self.progress[turn.cell.key]
        if progress.io is None or not progress.executions:
            return False
        progress.io = progress.executions[-1].used.io
        progress.unlevel = True
        return True

    def decide_again(self, key: str) -> Decision:
        """Decide about a cell again after some of its executions were dropped."""
        progress = self.progress[key]
        decision = self._decide(progress)
        progress.stopped_by = decision.sentence if decision.stop else ""
        return decision

    def eta_s(self, default_s: float) -> float:
        """Estimate the seconds left from the cost of executions and their spread."""
        total = 0.0
        for progress in self.live:
            cost = progress.execution_s if progress.executions else default_s
            total += self._left_s(progress, cost)
        return total

    def _left_s(self, progress: Progress, cost_s: float) -> float:
        effort, done = self.effort_for(progress), len(progress.executions)
        wanted = effort.min_executions
        if done >= 2:
            more = self._decide(progress).more
            wanted = wanted if more is None else min(done + max(1, more), effort.max_executions)
        return min(max(1, wanted - done) * cost_s, max(cost_s, effort.limit_s - progress.spent_s))


def slow_executions(effort: Effort) -> Effort:
    """Return an effort of three executions without a target, unless a fixed number or time was requested."""
    if effort.target is None:
        return effort
    count = min(_SLOW_EXECUTIONS, effort.max_executions)
    return replace(effort, min_executions=count, max_executions=count, target=None)
