"""Where warm-up ends: the cut that makes the rest of a series tell most about its mean, and whether that rest is level.

The series holds one value per block, the tenth percentile of its iterations, which a preemption hardly moves.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from tuibench.stats.percentile import median

LEAST_BLOCKS = 6
"""After the cut: three in either half, or their medians mean nothing."""

_LEVEL = 0.01
# Standard error of a median of normal values over that of their mean, and of a deviation over the MAD.
_MEDIAN_FACTOR = math.sqrt(math.pi / 2)
_MAD_FACTOR = 1.4826
# Deviations from the steady level beyond which a block is not noise.
_OUTSIDE = 4


@dataclass(frozen=True, slots=True)
class Settled:
    """The number of blocks that are warm-up, and whether what follows is level enough to be measured."""

    cut: int
    ok: bool
    note: str
    """flat, warm-up, slowdown or no steady state; the last two are shown to the user."""


def settled(series: Sequence[float], least: int = LEAST_BLOCKS) -> Settled:
    """Judge the blocks so far; cheap enough to be asked after each. At the cap a refusal means no steady state."""
    cut = _cut(series) if len(series) >= least else 0
    rest = series[cut:]
    if len(rest) < least:
        return Settled(cut, False, "no steady state")
    middle = len(rest) // 2
    if not _level(rest[:middle], rest[middle:]):
        return Settled(cut, False, "no steady state")
    return Settled(cut, True, _kind(series[:cut], rest))


def _cut(series: Sequence[float]) -> int:
    """The d of the first half that minimizes sum((x - mean)^2) / (n - d)^2 over what follows it."""
    total = len(series)
    # Differences from one value keep the sums of squares small beside their difference.
    origin = series[-1]
    count, plain, squares = 0, 0.0, 0.0
    best, best_score = 0, math.inf
    for start in range(total - 1, -1, -1):
        x = series[start] - origin
        count, plain, squares = count + 1, plain + x, squares + x * x
        score = max(squares - plain * plain / count, 0.0) / count**2
        # An earlier start wins a tie: nothing is thrown away that is as good.
        if start <= total // 2 and score <= best_score:
            best, best_score = start, score
    return best


def _level(first: Sequence[float], second: Sequence[float]) -> bool:
    """Whether two medians differ by less than 1 % or twice the standard error of their difference."""
    a, b = median(first), median(second)
    # The quieter half speaks for both: what is left of a trend widens the other and would excuse itself.
    error = math.sqrt(2) * min(_median_error(first, a), _median_error(second, b))
    return a == b or abs(a - b) < max(_LEVEL * b, 2 * error)


def _deviation(values: Sequence[float], center: float) -> float:
    return _MAD_FACTOR * median([abs(v - center) for v in values])


def _median_error(values: Sequence[float], center: float) -> float:
    return _MEDIAN_FACTOR * _deviation(values, center) / math.sqrt(len(values))


def _kind(before: Sequence[float], after: Sequence[float]) -> str:
    """What the series began with: the cut alone proves nothing, since noise moves it too."""
    center = median(after)
    band = max(_LEVEL * center, _OUTSIDE * _deviation(after, center))
    if not before or abs(before[0] - center) <= band:
        return "flat"
    return "warm-up" if before[0] > center else "slowdown"
