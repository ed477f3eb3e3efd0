"""Percentiles, also over executions with different shares of kept samples, and the sample counts that they need."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import Any

from tuibench.core.value import dataclass

_NEEDED = ((99.9, 4742), (99.0, 473), (95.0, 93), (90.0, 46))


def percentile(ordered: Sequence[float], q: float) -> float:
    """Return the `q`-th percentile of a sorted sequence, interpolated linearly as in numpy."""
    position = (len(ordered) - 1) * q / 100
    below = math.floor(position)
    above = min(below + 1, len(ordered) - 1)
    return _between(ordered[below], ordered[above], position - below)


def median(values: Sequence[float]) -> float:
    """Return the median of an unsorted sequence."""
    return percentile(sorted(values), 50)


@dataclass(frozen=True, slots=True)
class Part:
    """Sorted values of one execution; each represents `weight` iterations."""

    values: Sequence[float]
    weight: float = 1.0
    ends: Sequence[float] | None = None
    """If the values are bins: the cumulative count of observations up to each bin."""

    def up_to(self, value: float) -> float:
        """Return the number of iterations that took at most `value`."""
        index = bisect_right(self.values, value)
        if self.ends is None or index == 0:
            return self.weight * index
        return self.weight * self.ends[index - 1]


def merged_percentile(parts: Sequence[Part], q: float) -> float:
    """Return the percentile over all parts as if each value occurred `weight` times, without merging or copying."""
    filled = [part for part in parts if len(part.values)]
    if not filled:
        raise ValueError("no values to take a percentile of")
    total = sum(part.up_to(part.values[-1]) for part in filled)
    position = max(total - 1, 0) * q / 100
    low = _at(filled, math.floor(position))
    fraction = position - math.floor(position)
    return low if fraction == 0 else _between(low, _at(filled, math.floor(position) + 1), fraction)


def _at(parts: Sequence[Part], index: float) -> float:
    """Return the value at `index` of the sorted union: bisect the range of values, then snap to one that occurs."""
    low = min(part.values[0] for part in parts)
    high = max(part.values[-1] for part in parts)
    while low < high:
        middle = low + (high - low) / 2 if math.isfinite(high - low) else _finite_middle(parts, low, high)
        cuts = [bisect_right(part.values, middle) for part in parts]
        if sum(part.up_to(middle) for part in parts) > index:
            high = max(part.values[cut - 1] for part, cut in zip(parts, cuts, strict=True) if cut)
        else:
            rest = [part.values[cut] for part, cut in zip(parts, cuts, strict=True) if cut < len(part.values)]
            if not rest:
                return high
            low = min(rest)
    return low


def _finite_middle(parts: Sequence[Part], low: float, high: float) -> float:
    """Return a value from `low` to below `high` if one of them is infinite (the open ends of a histogram)."""
    if low == -math.inf:
        return low
    return max(value for part in parts for value in part.values if value < high)


def _between(low: float, high: float, fraction: float) -> float:
    # inf - inf is NaN.
    return low if low == high or fraction == 0 else low + (high - low) * fraction


def needed_samples(q: float) -> int:
    """Return the fewest independent samples for a percentile: with them two exceedances are 95 % certain."""
    return next((count for least, count in _NEEDED if q >= least), 1)


def rank_autocorrelation(values: Sequence[float]) -> float:
    """Return the lag-1 autocorrelation of the ranks, which does not depend on the distribution."""
    if len(values) < 3:
        return 0.0
    ranks = _ranks(values)
    middle = (len(ranks) - 1) / 2
    spread = sum((r - middle) ** 2 for r in ranks)
    if spread == 0:
        return 0.0
    return sum((a - middle) * (b - middle) for a, b in pairwise(ranks)) / spread


def effective_n(count: float, rho: float) -> float:
    """Return the number of independent samples equivalent to `count` autocorrelated ones; at most `count`."""
    bounded = min(max(rho, 0.0), 0.999)
    return count * (1 - bounded) / (1 + bounded)


def _ranks(values: Sequence[float]) -> list[float]:
    """Return ranks from 0; equal values share their mean rank."""
    order = sorted(range(len(values)), key=values.__getitem__)
    ranks = [0.0] * len(values)
    start = 0
    while start < len(order):
        end = start
        while end + 1 < len(order) and values[order[end + 1]] == values[order[start]]:
            end += 1
        for index in order[start : end + 1]:
            ranks[index] = (start + end) / 2
        start = end + 1
    return ranks


MOST_BINS = 256
MOST_POINTS = 512
_WIDEST = 1.01
_FEWEST = 64


def bins(low: float, high: float, max_bins: int = MOST_BINS, last: float = 0.0) -> tuple[float, float, int]:
    """Return (low_ns, ratio, count) of at most `max_bins` bins from `low` up, at most 1 % wide and if possible 1 ns.

    The range up to `high` sets the width. Bins continue to `last` if it is larger. If the bins cannot cover the range,
    the slowest values are counted above the last bin.
    """
    start = max(float(low), 1.0)
    span = math.log(max(float(high), start) / start)
    whole = math.log(max(float(high), float(last), start) / start)
    finest = math.log1p(1 / start)
    step = min(math.log(_WIDEST), max(span / max(min(_FEWEST, max_bins - 1), 1), finest))
    # One more than the quotient, so that `high` is inside the last bin, not on its border.
    return start, math.exp(step), min(math.floor(whole / step + 1e-9) + 1, max_bins)


def bulk(levels: Sequence[float], max_bins: int = MOST_BINS) -> tuple[float, float]:
    """Return a (low, high) range that the bins can cover and that includes most of the ascending `levels`.

    One far too fast call, or a slow half, must not push the others out of the bins.
    """
    reach = _WIDEST ** (max_bins - 1)
    if levels[-1] <= max(levels[0], 1.0) * reach:
        return levels[0], levels[-1]
    ends = [bisect_right(levels, max(low, 1.0) * reach) for low in levels]
    first = max(range(len(levels)), key=lambda n: ends[n] - n)
    low = max(levels[first], 1.0)
    return low, low * reach


def edges(low_ns: float, ratio: float, count: int) -> list[float]:
    """Return the count + 1 borders of the bins; a bin includes its lower border."""
    return [low_ns * ratio**i for i in range(count + 1)]


def as_part(stored: dict[str, Any]) -> Part:
    """Return a stored histogram as a Part for percentiles; values outside the bins become -inf and inf."""
    ratio, counts = float(stored["ratio"]), stored["counts"]
    middles = [float(stored["low_ns"]) * ratio ** (i + 0.5) for i in range(len(counts))]
    values = [-math.inf, *middles, math.inf]
    full = [int(stored["under"]), *(int(c) for c in counts), int(stored["over"])]
    kept = [(value, count) for value, count in zip(values, full, strict=True) if count]
    return Part([value for value, _ in kept], 1.0, list(accumulate(count for _, count in kept)))
