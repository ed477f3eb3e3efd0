"""The state of one cell in a run: made by replaying the journal, continued by the schedule."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field

from tuibench.core.cell import Cell, Execution, Pooled
from tuibench.core.reason import Failure, Reason
from tuibench.stats.interval import half_width


@dataclass(frozen=True, slots=True)
class Done:
    """One finished execution."""

    execution: Execution
    wall_s: float
    round: int
    session: int = 0
    """Index from 0."""


@dataclass
class Track:
    """The executions of one cell, and whether it needs more."""

    cell: Cell
    done: list[Done] = field(default_factory=list)
    counted: list[str] = field(default_factory=list)
    """I/O class of each execution where a replay only counts them; then `done` stays empty."""
    failure: Failure | None = None
    stopped_by: Reason | None = None
    """Why it needs no more executions; None while it does."""
    pooled: Pooled | None = None
    turns: int = 0
    """Number of executions started, with any outcome; the n of each."""
    crashes: int = 0
    spent_s: float = 0.0
    limit_s: float | None = None
    """Replaces the effort's limit once more time was requested."""
    most: int | None = None
    """Replaces the effort's maximum of executions in the same case."""
    io: str | None = None
    """The forced I/O class, once a cell it will be compared with supports no better one."""
    unlevel: bool = False
    """True if the cell did not support the forced class."""

    @property
    def live(self) -> bool:
        """Return whether the cell needs more executions."""
        return not self.stopped_by and self.failure is None

    @property
    def count(self) -> int:
        """Return the number of finished executions."""
        return len(self.done) + len(self.counted)

    @property
    def executions(self) -> list[Execution]:
        """Return the finished executions."""
        return [one.execution for one in self.done]

    @property
    def logs(self) -> list[float]:
        """Return ln p50 of each execution."""
        return [math.log(one.execution.p50_ns) for one in self.done]

    @property
    def p50_ns(self) -> float | None:
        """Return the geometric mean of the p50s so far."""
        logs = self.logs
        return math.exp(sum(logs) / len(logs)) if logs else None

    @property
    def half_width(self) -> float | None:
        """Return the half-width of the 95 % interval so far."""
        return half_width(self.logs) if self.count >= 2 else None

    @property
    def execution_s(self) -> float:
        """Return the mean wall time of an execution, start included."""
        return self.spent_s / max(1, len(self.done) + self.crashes)

    @property
    def stream_kind(self) -> str | None:
        """Return the kind of the last execution, which fixes it: near a millisecond the rule would alternate."""
        return self.done[-1].execution.used.stream_kind if self.done else None

    def record(self, done: Done) -> None:
        """Add a finished execution."""
        self.done.append(done)
        self.spent_s += done.wall_s

    def crash(self, wall_s: float, failure: Failure | None) -> None:
        """Count a failed execution; `failure` ends the cell, None repeats the execution."""
        self.crashes += 1
        self.spent_s += wall_s
        self.failure = failure

    def reopen(self) -> None:
        """Let the cell have more executions."""
        self.stopped_by, self.pooled = None, None

    def extend(self, limit_s: float, most: int) -> None:
        """Set new bounds and let the cell have more executions."""
        self.limit_s, self.most = limit_s, most
        self.reopen()

    def keep_io(self, io: str) -> None:
        """Drop executions in other I/O classes, with the time they took."""
        self.done[:] = [one for one in self.done if one.execution.used.io == io]
        self.counted[:] = [one for one in self.counted if one == io]
        self.spent_s, self.crashes = 0.0, 0
        self.reopen()


def new_tracks(cells: Iterable[Cell]) -> dict[str, Track]:
    """Return the tracks of planned cells by their keys, in the order of the plan."""
    return {cell.key: Track(cell) for cell in cells}


def count_cells(tracks: Iterable[Track]) -> dict[str, int]:
    """Return the counts of a run; they are part of its last event, so that lists need not read the whole journal."""
    known = list(tracks)
    return {
        "cells": len(known),
        "cells_done": sum(not track.live for track in known),
        "executions": sum(track.count for track in known),
    }
