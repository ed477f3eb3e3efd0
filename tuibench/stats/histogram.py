"""Histograms with bins of equal ratio for many iterations, and their stored form."""

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
    """Return (low_ns, ratio, count) of at most `most` bins from `low` up, at most 1 % wide and if possible 1 ns.

    The range up to `high` sets the width. Bins continue to `last` if it is larger. If the bins cannot cover the range,
    the slowest values are counted above the last bin.
    """
    start = max(float(low), 1.0)
    span = math.log(max(float(high), start) / start)
    whole = math.log(max(float(high), float(last), start) / start)
    finest = math.log1p(1 / start)
    step = min(math.log(_WIDEST), max(span / max(min(_FEWEST, most - 1), 1), finest))
    # One more than the quotient, so that `high` is inside the last bin, not on its border.
    return start, math.exp(step), min(math.floor(whole / step + 1e-9) + 1, most)


def bulk(levels: Sequence[float], most: int = MOST_BINS) -> tuple[float, float]:
    """Return a (low, high) range that the bins can cover and that includes most of the ascending `levels`.

    One far too fast call, or a slow half, must not push the others out of the bins.
    """
    reach = _WIDEST ** (most - 1)
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
