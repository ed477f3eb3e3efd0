"""Measured amounts in text: the value with its unit, and half of its interval after ±."""

from __future__ import annotations

from tuibench.core.cell import Estimate
from tuibench.core.units import ms, percent, short


def plus_minus(estimate: Estimate | float | None) -> str:
    """Return half of the interval, such as ±2.6 %; '' without one."""
    half = estimate.half_width if isinstance(estimate, Estimate) else estimate
    return "" if half is None else f"±{percent(half)}"


def with_interval(text: str, estimate: Estimate | float | None) -> str:
    """Return the text of a value followed by half of its interval, if it has one."""
    return f"{text} {plus_minus(estimate)}".rstrip()


def ratio_digits(ratio: float) -> str:
    """Return a ratio of times with three digits or decimals."""
    return f"{ratio:.3f}" if 0.01 <= ratio < 10 else f"{ratio:.3g}"


def amount(estimate: Estimate, unit: str, missing: str = "-") -> str:
    """Return value, unit and half of the interval; `missing` without a value."""
    value = estimate.value
    if value is None:
        return missing
    return with_interval(ms(value) if unit == "ms" else f"{short(value)} {unit}", estimate)
