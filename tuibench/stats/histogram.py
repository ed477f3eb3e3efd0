"""Small pictures of many iterations: a histogram in equal ratios and a series over time."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import Any

from tuibench.stats.percentile import Part, percentile

MOST_BINS = 256
MOST_POINTS = 512
_WIDEST = 1.01
_FEWEST = 64

Counter = Callable[[Any, float, float, int], Sequence[int]]
"""(values, low_ns, ratio, bins) -> counts of: below, each bin, above. An array library may hand in its own."""


def bins(low: float, high: float, most: int = MOST_BINS) -> tuple[float, float, int]:
    """(low_ns, ratio, count) of bins from `low` up: at most `most`, at most 1 % and where that allows 1 ns wide.

    A span that so many bins cannot cover leaves its slow end to the count above them.
    """
    start = max(float(low), 1.0)
    span = math.log(max(float(high), start) / start)
    finest = math.log1p(1 / start)
    step = min(math.log(_WIDEST), max(span / _FEWEST, finest))
    # One more than the quotient, so that `high` itself lies inside the last bin and not on its edge.
    return start, math.exp(step), min(math.floor(span / step + 1e-9) + 1, most)


def edges(low_ns: float, ratio: float, count: int) -> list[float]:
    """The count + 1 borders of the bins; a bin holds its lower border."""
    return [low_ns * ratio**i for i in range(count + 1)]


def count_bins(values: Sequence[float], low_ns: float, ratio: float, count: int) -> list[int]:
    """How many values lie below the bins, in each of them, and above."""
    borders = edges(low_ns, ratio, count)
    counts = [0] * (count + 2)
    for value in values:
        counts[bisect_right(borders, value)] += 1
    return counts


def histogram(
    values: Any, low: float | None = None, high: float | None = None, counter: Counter = count_bins
) -> dict[str, Any]:
    """The stored form {low_ns, ratio, counts, under, over} of at least one value."""
    low_ns, ratio, count = bins(min(values) if low is None else low, max(values) if high is None else high)
    counts = [int(c) for c in counter(values, low_ns, ratio, count)]
    return {"low_ns": low_ns, "ratio": ratio, "counts": counts[1:-1], "under": counts[0], "over": counts[-1]}


def as_part(stored: dict[str, Any]) -> Part:
    """A stored histogram as something to take percentiles of; what lies outside the bins is infinitely far."""
    ratio, counts = float(stored["ratio"]), stored["counts"]
    middles = [float(stored["low_ns"]) * ratio ** (i + 0.5) for i in range(len(counts))]
    values = [-math.inf, *middles, math.inf]
    full = [int(stored["under"]), *(int(c) for c in counts), int(stored["over"])]
    kept = [(value, count) for value, count in zip(values, full, strict=True) if count]
    return Part([value for value, _ in kept], 1.0, list(accumulate(count for _, count in kept)))


def thin(values: Sequence[float], most: int = MOST_POINTS) -> tuple[tuple[float, float, float], ...]:
    """A series as at most `most` points (min, p50, max) of equal runs of it, so that no stall disappears."""
    total = len(values)
    count = min(total, most)
    points = []
    for i in range(count):
        ordered = sorted(values[i * total // count : (i + 1) * total // count])
        points.append((float(ordered[0]), float(percentile(ordered, 50)), float(ordered[-1])))
    return tuple(points)
