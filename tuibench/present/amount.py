"""Measured amounts in text: the value with its unit, and half of its interval after ±."""

from __future__ import annotations

from typing import Protocol

from tuibench.core.engine import entry_of
from tuibench.core.text import show
from tuibench.core.units import ms, percent, short


def elsewhere_words(engine_id: str) -> str:
    """Return where a model ran whose operators the engine does not support at all."""
    entry = entry_of(engine_id)
    title, inside = (entry.title, entry.inside) if entry is not None else ("", "")
    return f"runs in its bundled {inside or 'other engine'}, not in {title or show(engine_id, 60)}"


def support_words(engine_id: str, supported: float | None) -> str:
    """Return what the engine itself runs of a model; '' if it has no other engine inside it."""
    if supported is None:
        return ""
    return elsewhere_words(engine_id) if supported == 0 else f"runs {percent(supported)} of the model's operators"


class Measured(Protocol):
    """A value with half of its 95 % interval as a fraction of it, such as `Estimate` and `HeadlineNumber`."""

    @property
    def value(self) -> float | None:
        """The value in its unit."""

    @property
    def half_width(self) -> float | None:
        """Half of the interval; None without one."""


def plus_minus(measured: Measured | float | None) -> str:
    """Return half of the interval, such as ±2.6 %; '' without one."""
    half = measured if measured is None or isinstance(measured, float) else measured.half_width
    return "" if half is None else f"±{percent(half)}"


def with_interval(text: str, measured: Measured | float | None) -> str:
    """Return the text of a value followed by half of its interval, if it has one."""
    return f"{text} {plus_minus(measured)}".rstrip()


def ratio_digits(ratio: float) -> str:
    """Return a ratio of times with three digits or decimals."""
    return f"{ratio:.3f}" if 0.01 <= ratio < 10 else f"{ratio:.3g}"


def amount(measured: Measured, unit: str, missing: str = "-", *, interval: bool = True) -> str:
    """Return value, unit and half of the interval; `missing` without a value.

    Values in ms, ms/item and ms/batch are shown in the fitting unit of time, such as µs/batch.
    """
    value = measured.value
    if value is None:
        return missing
    text = ms(value) + unit[2:] if unit.startswith("ms") else f"{short(value)} {unit}"
    return with_interval(text, measured) if interval else text
