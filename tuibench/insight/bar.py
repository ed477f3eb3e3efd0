"""Amounts per operator type as bars: how long, with which words, in which display."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tuibench.core.text import show
from tuibench.core.units import percent

VALUES, LOG, SHARES = "values", "log", "% of total"
DISPLAYS = (VALUES, LOG, SHARES)

_LONGEST = 40
_DECADES = 5
"""Of logarithmic bars: what is smaller than the greatest by more has no length."""


@dataclass(frozen=True, slots=True)
class Bar:
    """One operator type."""

    label: str
    """Safe to print."""
    length: float
    """In the display chosen; only its ratio to the other bars means something."""
    amount: float | None
    """In the unit of the type; None where it is not known."""
    text: str
    layers: int


@dataclass(frozen=True, slots=True)
class Summary:
    """All bars of one type, and what must be said with them."""

    kind: str
    display: str
    title: str
    bars: tuple[Bar, ...]
    words: tuple[str, ...]
    """By which method, under which convention; in place of bars, why there are none."""


@dataclass(frozen=True, slots=True)
class Amount:
    """What one operator type has of something, before it is displayed."""

    op: str
    value: float | None
    layers: int
    at_most: bool = False
    at_least: bool = False
    note: str = ""
    is_ahead: bool = False
    """Whether it stands before all that is longer, by what its note says."""


def make_bars(
    amounts: Sequence[Amount], display: str, unit: Callable[[float], str], total: float | None = None
) -> tuple[Bar, ...]:
    """Longest first, behind what is ahead; `total` is what shares are shares of, where that is not their sum."""
    known = [amount.value for amount in amounts if amount.value is not None and amount.value > 0]
    summed, most = math.fsum(known), max(known, default=0.0)
    least = min(known, default=0.0)
    bars = [
        Bar(
            label=label_of(amount.op),
            length=_length(amount.value, display, most, least),
            amount=amount.value,
            text=_text(amount, display, total or summed, unit),
            layers=amount.layers,
        )
        for amount in amounts
    ]
    pairs = sorted(zip(amounts, bars, strict=True), key=lambda pair: (not pair[0].is_ahead, -pair[1].length))
    return tuple(bar for _, bar in pairs)


def label_of(op: str) -> str:
    """What a bar of this operator is called: by this the layers that it stands for are found again."""
    return show(op, _LONGEST) or "?"


def _length(value: float | None, display: str, most: float, least: float) -> float:
    if value is None or value <= 0:
        return 0.0
    if display != LOG:
        return value
    # The least that is drawn has a decade of its own.
    return max(math.log10(value / max(least, most / 10**_DECADES)) + 1, 0.0)


def _text(amount: Amount, display: str, total: float, unit: Callable[[float], str]) -> str:
    if amount.value is None:
        return amount.note if amount.is_ahead else "unknown"
    shown = percent(amount.value / total if total else 0.0) if display == SHARES else unit(amount.value)
    sign = "≤ " if amount.at_most else "≥ " if amount.at_least else ""
    return f"{sign}{shown}" + (f" ({amount.note})" if amount.note else "")
