"""Selection of a scaling figure: the axis, the sides, the fixed values and the metric."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TypeVar

from tuibench.plots.quantity import METRICS

AXES = ("cores", "batch", "shape")
MOST_SIDES = 3

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Side:
    """All settings of a cell except cores, batch and shape; one line of a figure."""

    key: str
    """Equal for equal settings in any run, so that a choice can be saved."""
    label: str
    """The settings that differ from the run's other sides, safe to print."""
    scenario: str
    brief: str
    """The label with short names of engines."""


@dataclass(frozen=True, slots=True)
class Choices:
    """The available choices, in the order of the keys that cycle through them."""

    axes: tuple[str, ...]
    """Axes with more than one value."""
    sides: tuple[Side, ...]
    fixed: Mapping[str, tuple[int, ...]]
    """The values of each axis outside the figure: cores, batch, or `dim NAME`."""
    metrics: tuple[str, ...]
    statistics: tuple[str, ...]
    """The statistics of the chosen metric."""
    dims: tuple[str, ...]
    """Dims available as the shape axis."""


@dataclass(frozen=True, slots=True)
class Selection:
    """One figure: its axis, its sides, the fixed values and the metric."""

    axis: str = ""
    """One of AXES; '' for the first with several values."""
    sides: tuple[str, ...] = ()
    """At most three keys; empty for the first three."""
    fixed: Mapping[str, int] = field(default_factory=dict)
    """Fixed values of the other axes, by the keys of `Choices.fixed`; missing ones are chosen."""
    metric: str = "throughput"
    statistic: str = ""
    """'' for the metric's default."""
    dim: str = ""
    """Dim of the shape axis; '' for the first."""

    def over(self, axis: str, dim: str = "") -> Selection:
        """Return the same selection over another axis."""
        return replace(self, axis=axis, dim=dim or self.dim)

    def next_metric(self, step: int = 1) -> Selection:
        """Select the next of METRICS."""
        return replace(self, metric=_next(METRICS, self.metric, step))

    def next_statistic(self, choices: Choices, step: int = 1) -> Selection:
        """Select the next statistic of the metric."""
        return replace(self, statistic=_next(choices.statistics, self.statistic, step))

    def next_sides(self, choices: Choices, step: int = 1) -> Selection:
        """Cycle through each side alone, then the first three together."""
        keys = tuple(side.key for side in choices.sides)
        sets = [keys[:MOST_SIDES], *((key,) for key in keys)] if len(keys) > 1 else [keys]
        return replace(self, sides=_next(tuple(sets), self.sides, step))

    def next_fixed(self, choices: Choices, key: str, step: int = 1) -> Selection:
        """Select the next value of a fixed axis."""
        values = choices.fixed.get(key, ())
        if not values:
            return self
        return replace(self, fixed={**self.fixed, key: _next(values, self.fixed.get(key, values[0]), step)})

    def next_dim(self, choices: Choices, step: int = 1) -> Selection:
        """Select the next dim of the shape axis."""
        return replace(self, dim=_next(choices.dims, self.dim, step))


def _next(values: tuple[T, ...], now: T, step: int) -> T:
    """Return the value `step` places on, cyclic; the first if `now` is not among them."""
    if not values:
        return now
    return values[(values.index(now) + step) % len(values)] if now in values else values[0]
