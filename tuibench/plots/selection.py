"""What of a run a scaling figure shows, and what else could be chosen: every selector of a screen in one value."""

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
    """All settings of a cell but cores, batch and shape: what one line of a figure stands for."""

    key: str
    """The same for equal settings in any run, so that a choice can be remembered."""
    label: str
    """As much as tells it from the other sides of its run, safe to print."""
    scenario: str


@dataclass(frozen=True, slots=True)
class Choices:
    """What can be chosen, in the order in which keys go through it."""

    axes: tuple[str, ...]
    """Those with more than one value."""
    sides: tuple[Side, ...]
    fixed: Mapping[str, tuple[int, ...]]
    """The values of everything that the figure does not go over: cores, batch, or `dim NAME`."""
    metrics: tuple[str, ...]
    statistics: tuple[str, ...]
    """Those of the metric chosen."""
    dims: tuple[str, ...]
    """What a figure over shapes can go over."""


@dataclass(frozen=True, slots=True)
class Selection:
    """One figure: what it goes over, which sides, where the rest is held, what is shown of each cell."""

    axis: str = ""
    """One of AXES; '' for the first that has several values."""
    sides: tuple[str, ...] = ()
    """Keys, at most three; none for the first three there are."""
    fixed: Mapping[str, int] = field(default_factory=dict)
    """Where the other axes are held, by the keys of `Choices.fixed`; what is left out is chosen."""
    metric: str = "throughput"
    statistic: str = ""
    """'' for the usual one of the metric."""
    dim: str = ""
    """Of the shape axis; '' for the first."""

    def over(self, axis: str, dim: str = "") -> Selection:
        """The same over another axis."""
        return replace(self, axis=axis, dim=dim or self.dim)

    def next_metric(self, step: int = 1) -> Selection:
        """The next of METRICS."""
        return replace(self, metric=_next(METRICS, self.metric, step))

    def next_statistic(self, choices: Choices, step: int = 1) -> Selection:
        """The next that exists for the metric."""
        return replace(self, statistic=_next(choices.statistics, self.statistic, step))

    def next_sides(self, choices: Choices, step: int = 1) -> Selection:
        """Each side alone, one after the other, then the first three together."""
        keys = tuple(side.key for side in choices.sides)
        sets = [keys[:MOST_SIDES], *((key,) for key in keys)] if len(keys) > 1 else [keys]
        return replace(self, sides=_next(tuple(sets), self.sides, step))

    def next_fixed(self, choices: Choices, key: str, step: int = 1) -> Selection:
        """The next value of an axis that the figure does not go over."""
        values = choices.fixed.get(key, ())
        if not values:
            return self
        return replace(self, fixed={**self.fixed, key: _next(values, self.fixed.get(key, values[0]), step)})

    def next_dim(self, choices: Choices, step: int = 1) -> Selection:
        """The next dim, of a figure over shapes."""
        return replace(self, dim=_next(choices.dims, self.dim, step))


def _next(values: tuple[T, ...], now: T, step: int) -> T:
    """The value `step` places on, around the end; the first where `now` is none of them."""
    if not values:
        return now
    return values[(values.index(now) + step) % len(values)] if now in values else values[0]
