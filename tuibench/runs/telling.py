"""Progress events of a benchmark: current position, results so far and time left."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tuibench.core.cell import Asked
from tuibench.core.label import name_cell
from tuibench.core.spec import Effort
from tuibench.core.units import seconds
from tuibench.runs.hearing import ControlPoller
from tuibench.runs.journal import Journal
from tuibench.runs.schedule import SLOW_NS, Schedule, Turn, slow_executions
from tuibench.runs.summary import grade_executions
from tuibench.runs.track import Track

_START_S = 0.8
"""Time of an execution outside its timed part."""


class ProgressReporter:
    """Reports the progress of one session with a schedule."""

    def __init__(self, journal: Journal, schedule: Schedule, effort: Effort, control: ControlPoller) -> None:
        self._journal = journal
        self._schedule = schedule
        self._effort = effort
        self._control = control

    def hear(self, turn: Turn, frame: Mapping[str, Any]) -> None:
        """Forward a frame from the worker."""
        if frame["f"] == "progress":
            self._report(turn, float(frame["p50_ns"]), str(frame["phase"]))
        elif frame["f"] == "phase":
            self._report(turn, None, str(frame["phase"]))

    def done(self, turn: Turn, p50_ns: float) -> None:
        """Report an execution's result; warn after a cell's first one if its calls are slow."""
        self._report(turn, p50_ns, "done")
        if turn.n == 1 and p50_ns > SLOW_NS:
            self._journal.append("warning", message=slow_message(turn.cell.asked, p50_ns, self._effort))

    def _report(self, turn: Turn, live_ns: float | None, phase: str) -> None:
        track = self._schedule.tracks[turn.cell.key]
        grade = grade_executions(track.executions) if track.count else None
        p50_ns = track.p50_ns or live_ns
        half = track.half_width
        self._journal.append(
            "progress",
            cell=turn.cell.key,
            p50_ms=None if p50_ns is None else p50_ns / 1e6,
            half_width_pct=None if half is None else half * 100,
            grade=grade.letter if grade else None,
            eta_s=self._left_s(track),
            n=track.count,
            round=turn.round,
            phase=phase,
            live=len(self._schedule.live),
        )

    def _left_s(self, current: Track) -> float:
        default_s = self._effort.timed_s + _START_S
        if self._control.finishing:
            return current.execution_s or default_s
        return self._schedule.eta_s(default_s)


def slow_message(asked: Asked, p50_ns: float, effort: Effort) -> str:
    """Return the warning for a call that takes longer than a second."""
    place = name_cell(asked, ("engine", "dims"))
    count = slow_executions(effort).max_executions
    return f"{place}: one call takes {seconds(p50_ns / 1e9)}, so it gets {count} executions of a few calls each"
