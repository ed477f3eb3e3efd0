"""Small pictures of many iterations: a histogram in equal ratios and a series over time."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate
from typing import Any

from tuibench.stats.percentile import Part

MOST_BINS = 256
MOST_POINTS = 512
_WIDEST = 1.01
_FEWEST = 64


def bins(low: float, high: float, most: int = MOST_BINS, last: float = 0.0) -> tuple[float, float, int]:
    """(low_ns, ratio, count) of bins from `low` up: at most `most`, at most 1 % and where that allows 1 ns wide.

    How wide is told by `high`; they go on to `last` if that is more. A span that so many bins cannot cover leaves its
    slow end to the count above them.
    """
    start = max(float(low), 1.0)
    span = math.log(max(float(high), start) / start)
    whole = math.log(max(float(high), float(last), start) / start)
    finest = math.log1p(1 / start)
    step = min(math.log(_WIDEST), max(span / max(min(_FEWEST, most - 1), 1), finest))
    # One more than the quotient, so that `high` itself lies inside the last bin and not on its edge.
    return start, math.exp(step), min(math.floor(whole / step + 1e-9) + 1, most)


def bulk(levels: Sequence[float], most: int = MOST_BINS) -> tuple[float, float]:
    """(low, high) that so many bins can cover, such that most of the ascending `levels` lie between them.

    One call that was far too fast, or a slow half, must not leave the others outside all bins.
    """
    reach = _WIDEST ** (most - 1)
    if levels[-1] <= max(levels[0], 1.0) * reach:
        return levels[0], levels[-1]
    ends = [bisect_right(levels, max(low, 1.0) * reach) for low in levels]
    first = max(range(len(levels)), key=lambda n: ends[n] - n)
    low = max(levels[first], 1.0)
    return low, low * reach


def edges(low_ns: float, ratio: float, count: int) -> list[float]:
    """The count + 1 borders of the bins; a bin holds its lower border."""
    return [low_ns * ratio**i for i in range(count + 1)]


def as_part(stored: dict[str, Any]) -> Part:
    """A stored histogram as something to take percentiles of; what lies outside the bins is infinitely far."""
    ratio, counts = float(stored["ratio"]), stored["counts"]
    middles = [float(stored["low_ns"]) * ratio ** (i + 0.5) for i in range(len(counts))]
    values = [-math.inf, *middles, math.inf]
    full = [int(stored["under"]), *(int(c) for c in counts), int(stored["over"])]
    kept = [(value, count) for value, count in zip(values, full, strict=True) if count]
    return Part([value for value, _ in kept], 1.0, list(accumulate(count for _, count in kept)))
