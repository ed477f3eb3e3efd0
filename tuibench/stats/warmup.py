"""End of warm-up: the cut after which the mean of a series is known best, and a check that the rest is level.

The series has one value per block, the tenth percentile of its iterations, which preemption hardly changes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from tuibench.stats.percentile import median

LEAST_BLOCKS = 6
"""Fewest blocks after the cut: three per half, so that their medians are meaningful."""

_LEVEL = 0.01
# Standard error of the median relative to that of the mean, and standard deviation relative to the MAD, for normal
# values.
_MEDIAN_FACTOR = math.sqrt(math.pi / 2)
_MAD_FACTOR = 1.4826
# A block that deviates more from the steady level is not noise.
_OUTSIDE = 4


@dataclass(frozen=True, slots=True)
class Settled:
    """The number of warm-up blocks, and whether the rest is level enough to be measured."""

    cut: int
    ok: bool
    note: str
    """flat, warm-up, slowdown or no steady state; the user sees the last two."""


def settled(series: Sequence[float], least: int = LEAST_BLOCKS) -> Settled:
    """Judge the blocks so far; cheap enough to call after each block.

    If `ok` is still False at the longest warm-up, there is no steady state.
    """
    cut = _cut(series) if len(series) >= least else 0
    rest = series[cut:]
    if len(rest) < least:
        return Settled(cut, False, "no steady state")
    middle = len(rest) // 2
    if not _level(rest[:middle], rest[middle:]):
        return Settled(cut, False, "no steady state")
    return Settled(cut, True, _kind(series[:cut], rest))


def _cut(series: Sequence[float]) -> int:
    """Return the d in the first half that minimizes sum((x - mean)^2) / (n - d)^2 over the values after it."""
    total = len(series)
    # Differences from one value avoid cancellation in the sums of squares.
    origin = series[-1]
    count, plain, squares = 0, 0.0, 0.0
    best, best_score = 0, math.inf
    for start in range(total - 1, -1, -1):
        x = series[start] - origin
        count, plain, squares = count + 1, plain + x, squares + x * x
        score = max(squares - plain * plain / count, 0.0) / count**2
        # An earlier start wins a tie, so that no block is discarded without need.
        if start <= total // 2 and score <= best_score:
            best, best_score = start, score
    return best


def _level(first: Sequence[float], second: Sequence[float]) -> bool:
    """Return whether two medians differ by less than 1 % or twice the standard error of their difference."""
    a, b = median(first), median(second)
    # The error of the quieter half counts for both: a trend widens the other half and would hide itself.
    error = math.sqrt(2) * min(_median_error(first, a), _median_error(second, b))
    return a == b or abs(a - b) < max(_LEVEL * b, 2 * error)


def _deviation(values: Sequence[float], center: float) -> float:
    return _MAD_FACTOR * median([abs(v - center) for v in values])


def _median_error(values: Sequence[float], center: float) -> float:
    return _MEDIAN_FACTOR * _deviation(values, center) / math.sqrt(len(values))


def _kind(before: Sequence[float], after: Sequence[float]) -> str:
    """Return the kind of the start: the cut alone proves nothing, since noise moves it too."""
    center = median(after)
    band = max(_LEVEL * center, _OUTSIDE * _deviation(after, center))
    if not before or abs(before[0] - center) <= band:
        return "flat"
    return "warm-up" if before[0] > center else "slowdown"
