"""Percentiles, also over executions that kept different shares of their samples, and when one may be stated at all."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

_NEEDED = ((99.9, 4742), (99.0, 473), (95.0, 93), (90.0, 46))


def percentile(ordered: Sequence[float], q: float) -> float:
    """The `q`-th percentile of a sorted sequence, interpolated linearly as numpy does, so that readers agree."""
    position = (len(ordered) - 1) * q / 100
    below = math.floor(position)
    above = min(below + 1, len(ordered) - 1)
    return _between(ordered[below], ordered[above], position - below)


def median(values: Sequence[float]) -> float:
    """The middle of an unsorted sequence."""
    return percentile(sorted(values), 50)


@dataclass(frozen=True, slots=True)
class Part:
    """Sorted values of one execution, each standing for `weight` iterations."""

    values: Sequence[float]
    weight: float = 1.0
    ends: Sequence[float] | None = None
    """Where values are bins: how many observations lie in this one and those before it."""

    def up_to(self, value: float) -> float:
        """Iterations that took at most `value`."""
        index = bisect_right(self.values, value)
        if self.ends is None or index == 0:
            return self.weight * index
        return self.weight * self.ends[index - 1]


def merged_percentile(parts: Sequence[Part], q: float) -> float:
    """The percentile over all parts as if every value were there `weight` times; nothing is merged or copied."""
    filled = [part for part in parts if len(part.values)]
    if not filled:
        raise ValueError("no values to take a percentile of")
    total = sum(part.up_to(part.values[-1]) for part in filled)
    position = max(total - 1, 0) * q / 100
    low = _at(filled, math.floor(position))
    fraction = position - math.floor(position)
    return low if fraction == 0 else _between(low, _at(filled, math.floor(position) + 1), fraction)


def _at(parts: Sequence[Part], index: float) -> float:
    """The value at `index` of the sorted whole, by halving the span of values and snapping to those that occur."""
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
    """A value from `low` to below `high` where one of them is infinite: the open ends of a histogram."""
    if low == -math.inf:
        return low
    return max(value for part in parts for value in part.values if value < high)


def _between(low: float, high: float, fraction: float) -> float:
    # The difference of equal infinities is no number.
    return low if low == high or fraction == 0 else low + (high - low) * fraction


def needed_samples(q: float) -> int:
    """Independent samples below which a percentile is not stated: two exceedances are then 95 % sure."""
    return next((count for least, count in _NEEDED if q >= least), 1)


def rank_autocorrelation(values: Sequence[float]) -> float:
    """Lag-1 correlation of the ranks: how much an iteration resembles the one before, whatever the distribution."""
    if len(values) < 3:
        return 0.0
    ranks = _ranks(values)
    middle = (len(ranks) - 1) / 2
    spread = sum((r - middle) ** 2 for r in ranks)
    if spread == 0:
        return 0.0
    return sum((a - middle) * (b - middle) for a, b in pairwise(ranks)) / spread


def effective_n(count: float, rho: float) -> float:
    """How many independent samples `count` dependent ones are worth; never more than there are."""
    bounded = min(max(rho, 0.0), 0.999)
    return count * (1 - bounded) / (1 + bounded)


def _ranks(values: Sequence[float]) -> list[float]:
    """Ranks from 0, equal values sharing theirs."""
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
