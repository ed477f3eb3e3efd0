"""What a figure can show of a cell: each metric with the statistics that exist for it, as a value with its interval."""

from __future__ import annotations

import math
from collections.abc import Collection

from tuibench.core.cell import CellResult, Estimate
from tuibench.core.scenario import any_streams
from tuibench.core.units import ms, percent, short

METRICS = ("latency", "throughput", "batch-time", "efficiency")
"""ms/item, items/s, ms/batch, and how much of perfect scaling is reached, in percent."""
STATISTICS = ("p50", "mean", "floor")
UNITS = {"latency": "ms/item", "throughput": "items/s", "batch-time": "ms/batch", "efficiency": "%"}
_LEAST = 1e-100
"""A time from which no rate can be made: no call takes less."""
LESS_IS_BETTER = ("latency", "batch-time")


def statistics_of(metric: str, scenarios: Collection[str]) -> tuple[str, ...]:
    """Those that exist for a metric, its usual one first.

    Items/s of one call at a time are those of the median call, which a disturbed machine moves least. Streams are
    counted over all of them at once, so that there is no median call to take theirs from.
    """
    return STATISTICS if metric in LESS_IS_BETTER or not any_streams(scenarios) else ("mean",)


def quantity(cell: CellResult, metric: str, statistic: str) -> Estimate:
    """The metric of one cell; efficiency needs others to compare with and is made of throughputs by `relative`."""
    time = cell.latency_ms.get(statistic, Estimate(None))
    items = max(cell.items, 1)
    if metric == "batch-time":
        return time
    if metric == "latency":
        return scaled(time, 1 / items)
    return cell.items_per_sec if statistic == "mean" else inverse(time, 1000.0 * items)


def scaled(estimate: Estimate, factor: float) -> Estimate:
    """The estimate times something that is known exactly."""
    value, low, high = (None if v is None else v * factor for v in (estimate.value, estimate.low, estimate.high))
    return Estimate(value, low, high, estimate.n, estimate.reason)


def inverse(estimate: Estimate, numerator: float) -> Estimate:
    """`numerator` / estimate: from time per call to calls per time."""
    value, low, high = (_over(numerator, v) for v in (estimate.value, estimate.high, estimate.low))
    return Estimate(value, low, high, estimate.n, estimate.reason)


def relative(new: Estimate, base: Estimate, factor: float = 1.0) -> Estimate:
    """factor × new / base of two estimates that know nothing of each other: their half-widths add in squares."""
    if new.value is None or base.value is None or new.value <= 0 or base.value <= 0:
        return Estimate(None, reason="one side has no value")
    value, halves = factor * new.value / base.value, (new.half_width, base.half_width)
    if halves[0] is None or halves[1] is None:
        return Estimate(value, n=min(new.n, base.n), reason="no interval: one side has none")
    reach = math.exp(min(math.hypot(halves[0], halves[1]), 700.0))
    return Estimate(value, value / reach, value * reach, min(new.n, base.n))


def overlap(a: Estimate, b: Estimate) -> bool:
    """Whether two intervals share a value; a number without one can be told from any other."""
    if a.low is None or a.high is None or b.low is None or b.high is None:
        return False
    return a.low <= b.high and b.low <= a.high


def amount(estimate: Estimate, metric: str) -> str:
    """The value with its unit and, where it has an interval, its ±."""
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
