"""One line of a scaling figure: its points and the sentences about it."""

from __future__ import annotations

from dataclasses import dataclass

from tuibench.core.cell import Estimate
from tuibench.plots.selection import Side


@dataclass(frozen=True, slots=True)
class ScalingPoint:
    """One cell on a line, measured or not."""

    value: int
    label: str
    """For example `4 cores` or `seq 128`."""
    cell_key: str
    estimate: Estimate
    """The value, in the metric's unit."""
    throughput: Estimate
    """Items/s; the basis of efficiency and sentences for every metric."""
    batch_time: Estimate
    """ms/batch, by the same statistic."""
    efficiency: float | None
    grade: str
    status: str
    note: str
    """A caveat about the value, or the reason why there is none."""
    is_clean: bool
    """True if the point may be called the best."""


@dataclass(frozen=True, slots=True)
class Line:
    """One side of a figure."""

    side: Side
    points: tuple[ScalingPoint, ...]

    @property
    def measured(self) -> tuple[ScalingPoint, ...]:
        """Return the points that have a value."""
        return tuple(point for point in self.points if point.estimate.value is not None)


@dataclass(frozen=True, slots=True)
class Sentence:
    """One statement about a figure, with its label in a side panel."""

    kind: str
    """best, worst, knee, enough, growth, Amdahl, step, ratio, missing or note."""
    text: str
    brief: str = ""
    """The text without its interval, for where room is short; '' where it is the same."""
