"""The content of a figure: the choice of axis, sides, metric and statistic, and their values with intervals."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

from tuibench.core.cell import CellResult, Estimate, by_work, eligible, is_clean
from tuibench.core.reason import Reason
from tuibench.core.scenario import any_streams

METRICS = ("latency", "throughput", "batch-time", "efficiency")
"""ms/item, items/s, ms/batch, and the reached share of perfect scaling in percent."""
STATISTICS = ("p50", "mean", "floor")
UNITS = {"latency": "ms/item", "throughput": "items/s", "batch-time": "ms/batch", "efficiency": "%"}
_LEAST = 1e-100
"""Times below this give no rate; no call is that short."""
LESS_IS_BETTER = ("latency", "batch-time")


def statistics_of(metric: str, scenarios: Collection[str]) -> tuple[str, ...]:
    """Return a metric's statistics, the default first.

    Items/s of single calls default to the median call, which a disturbed machine affects least. Streams are counted
    together, so they have only a mean.
    """
    return STATISTICS if metric in LESS_IS_BETTER or not any_streams(scenarios) else ("mean",)


def quantity(cell: CellResult, metric: str, statistic: str) -> Estimate:
    """Return a metric of one cell; for efficiency return throughput, which `relative` turns into efficiency."""
    time = cell.latency_ms.get(statistic, Estimate(None))
    items = max(cell.items, 1)
    if metric == "batch-time":
        return time
    if metric == "latency":
        return scaled(time, 1 / items)
    return cell.items_per_sec if statistic == "mean" else inverse(time, 1000.0 * items)


def scaled(estimate: Estimate, factor: float) -> Estimate:
    """Multiply an estimate by an exact factor."""
    value, low, high = (None if v is None else v * factor for v in (estimate.value, estimate.low, estimate.high))
    return Estimate(value, low, high, estimate.n, estimate.reason)


def inverse(estimate: Estimate, numerator: float) -> Estimate:
    """Return `numerator` / estimate: time per call becomes calls per time."""
    value, low, high = (_over(numerator, v) for v in (estimate.value, estimate.high, estimate.low))
    return Estimate(value, low, high, estimate.n, estimate.reason)


def relative(new: Estimate, base: Estimate, factor: float = 1.0) -> Estimate:
    """Return factor × new / base of two independent estimates; their half-widths add in squares."""
    if new.value is None or base.value is None or new.value <= 0 or base.value <= 0:
        return Estimate(None, reason=Reason("operand_without_value"))
    value, halves = factor * new.value / base.value, (new.half_width, base.half_width)
    if halves[0] is None or halves[1] is None:
        return Estimate(value, n=min(new.n, base.n), reason=Reason("operand_without_interval"))
    reach = math.exp(min(math.hypot(halves[0], halves[1]), 700.0))
    return Estimate(value, value / reach, value * reach, min(new.n, base.n))


def overlap(a: Estimate, b: Estimate) -> bool:
    """Return whether two intervals share a value; a number without an interval overlaps nothing."""
    if a.low is None or a.high is None or b.low is None or b.high is None:
        return False
    return a.low <= b.high and b.low <= a.high


def _over(numerator: float, value: float | None) -> float | None:
    return None if value is None or value < _LEAST else numerator / value


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


@dataclass(frozen=True, slots=True)
class ScalingPoint:
    """One cell on a line, measured or not."""

    value: int
    name: str
    """Name of the axis, for example `seq`."""
    label: str
    """For example `4 cores` or `seq 128`."""
    cell: CellResult
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

    @property
    def is_clean(self) -> bool:
        """Return whether its cell is right, and its grade is not D."""
        return is_clean(self.cell)


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


@dataclass(frozen=True, slots=True)
class Tradeoff:
    """A cell of the Pareto set: more items/s than it has cost more latency."""

    cell: CellResult
    latency: Estimate
    """p50 in ms/batch, as one request waits for its whole batch."""
    rate: Estimate
    """Items/s."""
    is_sure: bool
    """True if its items/s exceed those of every quicker one beyond the intervals."""


def tradeoffs(cells: Sequence[CellResult]) -> tuple[Tradeoff, ...]:
    """Return the Pareto set of latency against items/s by ascending latency, one set per model and dims.

    Of each set only the cells that may win.
    """
    return tuple(each for group in by_work(cells) for each in _of_one_work(group))


def _of_one_work(cells: Sequence[CellResult]) -> list[Tradeoff]:
    known = [(cell, quantity(cell, "batch-time", "p50"), cell.items_per_sec) for cell in cells]
    known = [row for row in known if row[1].value is not None and row[2].value is not None]
    rows = eligible(known, lambda row: row[0])
    rows.sort(key=lambda row: (row[1].value or 0.0, -(row[2].value or 0.0)))
    found: list[Tradeoff] = []
    for cell, latency, rate in rows:
        most = max((each.rate.value or 0.0 for each in found), default=-1.0)
        same = bool(found) and (found[-1].latency.value, found[-1].rate.value) == (latency.value, rate.value)
        if (rate.value or 0.0) > most or same:
            found.append(Tradeoff(cell, latency, rate, all(_is_more(rate, each.rate) for each in found)))
    return found


def _is_more(rate: Estimate, other: Estimate) -> bool:
    """Compare the intervals; a number without an interval counts as exact."""
    low = rate.value if rate.low is None else rate.low
    high = other.value if other.high is None else other.high
    return low is not None and high is not None and low > high
