"""The metrics of a cell with their statistics, as values with intervals."""

from __future__ import annotations

import math
from collections.abc import Collection

from tuibench.core.cell import CellResult, Estimate
from tuibench.core.scenario import any_streams
from tuibench.core.units import ms, percent, short

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
        return Estimate(None, reason="one side has no value")
    value, halves = factor * new.value / base.value, (new.half_width, base.half_width)
    if halves[0] is None or halves[1] is None:
        return Estimate(value, n=min(new.n, base.n), reason="no interval: one side has none")
    reach = math.exp(min(math.hypot(halves[0], halves[1]), 700.0))
    return Estimate(value, value / reach, value * reach, min(new.n, base.n))


def overlap(a: Estimate, b: Estimate) -> bool:
    """Return whether two intervals share a value; a number without an interval overlaps nothing."""
    if a.low is None or a.high is None or b.low is None or b.high is None:
        return False
    return a.low <= b.high and b.low <= a.high


def amount(estimate: Estimate, metric: str) -> str:
    """Return the value with its unit and, if it has an interval, its ±."""
    value, half = estimate.value, estimate.half_width
    if value is None:
        return "-"
    if metric in LESS_IS_BETTER:
        text = ms(value) + ("/item" if metric == "latency" else "/batch")
    else:
        text = f"{short(value)} {UNITS[metric]}"
    return text if half is None else f"{text} ±{percent(half)}"


def _over(numerator: float, value: float | None) -> float | None:
    return None if value is None or value < _LEAST else numerator / value
