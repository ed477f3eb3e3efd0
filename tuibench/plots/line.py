"""One line of a scaling figure: its points, measured or not, and what is said of it in words."""

from __future__ import annotations

from dataclasses import dataclass

from tuibench.core.cell import Estimate
from tuibench.plots.selection import Side


@dataclass(frozen=True, slots=True)
class ScalingPoint:
    """One cell on a line, measured or not."""

    value: int
    label: str
    """Such as `4 cores` or `seq 128`."""
    cell_key: str
    estimate: Estimate
    """In the metric's unit."""
    throughput: Estimate
    """In items/s, from which efficiency and sentences follow whatever the metric."""
    batch_time: Estimate
    """In ms/batch, by the same statistic."""
    efficiency: float | None
    grade: str
    status: str
    note: str
    """What keeps it from being taken at face value; why there is no value."""
    is_clean: bool
    """Whether it may be called the best."""


@dataclass(frozen=True, slots=True)
class Line:
    """One side of a figure."""

    side: Side
    points: tuple[ScalingPoint, ...]

    @property
    def measured(self) -> tuple[ScalingPoint, ...]:
        """The points that have a value."""
        return tuple(point for point in self.points if point.estimate.value is not None)


@dataclass(frozen=True, slots=True)
class Sentence:
    """One thing that a figure says, with the word that stands before it in a side panel."""

    kind: str
    """best, worst, knee, enough, growth, Amdahl, step, ratio, missing or note."""
    text: str
