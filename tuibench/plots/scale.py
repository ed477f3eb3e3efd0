"""Maps values to places on an axis, and picks round ticks."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

_STEPS = {1.0: 0.0, 2.0: 0.0, 2.5: 0.0, 5.0: 0.0, 1.5: 0.05, 3.0: 0.05, 4.0: 0.05, 6.0: 0.05, 8.0: 0.05}
"""First digits of round spacings, each with a penalty for being less round."""
_GREATEST, _SMALLEST = 1e250, 1e-250
"""Beyond these, differences and products of values could overflow; no measured value comes near."""


@dataclass(frozen=True, slots=True)
class Scale:
    """One axis from `low` at place `first` to `high` at place `last`; places may run either way."""

    low: float
    high: float
    first: int
    last: int
    log2: bool = False

    def place(self, value: float) -> int:
        """Return the place of a value, which may be beyond either end."""
        low, high = self._turned(self.low), self._turned(self.high)
        if high <= low:
            return round((self.first + self.last) / 2)
        share = (self._turned(value) - low) / (high - low)
        return self.first + round(max(-9.0, min(9.0, share)) * (self.last - self.first))

    def value(self, place: float) -> float:
        """Return the value at a place."""
        if self.last == self.first:
            return self.low
        low, high = self._turned(self.low), self._turned(self.high)
        turned = low + (high - low) * (place - self.first) / (self.last - self.first)
        return 2.0**turned if self.log2 else turned

    def _turned(self, value: float) -> float:
        return math.log2(max(value, _SMALLEST)) if self.log2 else value


def tame(value: float) -> float:
    """Clamp the value to the range that axis arithmetic can handle."""
    if abs(value) < _SMALLEST:
        return 0.0
    return max(-_GREATEST, min(_GREATEST, value))


def round_ticks(low: float, high: float, most: int) -> tuple[float, ...]:
    """Return two to `most` evenly spaced round values that cover `low` to `high`.

    Choose the spacing that leaves the least of the axis empty.
    """
    if not high > low:
        low, high = (low, low + abs(low)) if low else (0.0, 1.0)
    span = high - low
    best: tuple[float, tuple[float, ...]] | None = None
    power = math.floor(math.log10(span / max(most, 2)))
    powers = (power - 1, power, power + 1, power + 2)
    for step, dislike in ((digit * 10.0**p, dislike) for p in powers for digit, dislike in _STEPS.items()):
        start = math.floor(low / step + 1e-9)
        end = math.ceil(high / step - 1e-9)
        count = end - start + 1
        if not 2 <= count <= max(most, 2):
            continue
        waste = dislike + (count - 1) * step / span - 1 + 0.02 * (max(most, 2) - count)
        if best is None or waste < best[0] - 1e-12:
            best = waste, tuple(step * i for i in range(start, end + 1))
    return best[1] if best is not None else (low, high)


def tick_labels(ticks: Sequence[float]) -> tuple[str, ...]:
    """Format the ticks with the same number of decimals and the same unit (k, M)."""
    greatest = max((abs(tick) for tick in ticks), default=0.0)
    step = min((b - a for a, b in pairwise(ticks)), default=greatest) or 1.0
    if greatest >= 1e10 or 0 < greatest < 1e-4:
        return tuple(f"{tick:.3g}" for tick in ticks)
    divisor, unit = next(((d, u) for d, u in ((1e9, "G"), (1e6, "M"), (1e4, "k")) if greatest >= d), (1.0, ""))
    divisor = 1e3 if unit == "k" else divisor
    decimals = max(0, -math.floor(math.log10(step / divisor) + 1e-9))
    # A spacing of 2.5 needs one more digit than one of 2.
    decimals += not math.isclose(step / divisor * 10**decimals, round(step / divisor * 10**decimals))
    return tuple(f"{tick / divisor:.{min(decimals, 8)}f}{unit}" if tick else "0" for tick in ticks)
