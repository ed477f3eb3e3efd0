"""Amounts per operator type as bars: length, text and display."""

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
"""Range of the logarithmic scale below the greatest value; smaller values have short bars or none."""


@dataclass(frozen=True, slots=True)
class Bar:
    """The bar of one operator type."""

    label: str
    """Safe to print."""
    length: float
    """Length in the chosen display; only the ratio to other bars matters."""
    amount: float | None
    """Amount in the unit of the summary type; None if unknown."""
    text: str
    layers: int


@dataclass(frozen=True, slots=True)
class Summary:
    """All bars of one summary type, with notes."""

    kind: str
    display: str
    title: str
    bars: tuple[Bar, ...]
    words: tuple[str, ...]
    """Notes on method and convention; if there are no bars, the reason."""


@dataclass(frozen=True, slots=True)
class Amount:
    """The amount of one operator type, before it is displayed."""

    op: str
    value: float | None
    layers: int
    at_most: bool = False
    at_least: bool = False
    note: str = ""
    is_ahead: bool = False
    """True if its bar comes before longer ones because of its note."""


def make_bars(
    amounts: Sequence[Amount], display: str, unit: Callable[[float], str], total: float | None = None
) -> tuple[Bar, ...]:
    """Return bars that are ahead, then the others, longest first; shares are of `total`, or of the sum without one."""
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
    """Return the label of an operator's bar, which also identifies the bar's layers."""
    return show(op, _LONGEST) or "?"


def _length(value: float | None, display: str, most: float, least: float) -> float:
    if value is None or value <= 0:
        return 0.0
    if display != LOG:
        return value
    # The smallest bar drawn is one decade long.
    return max(math.log10(value / max(least, most / 10**_DECADES)) + 1, 0.0)


def _text(amount: Amount, display: str, total: float, unit: Callable[[float], str]) -> str:
    if amount.value is None:
        return amount.note if amount.is_ahead else "unknown"
    shown = percent(amount.value / total if total else 0.0) if display == SHARES else unit(amount.value)
    sign = "≤ " if amount.at_most else "≥ " if amount.at_least else ""
    return f"{sign}{shown}" + (f" ({amount.note})" if amount.note else "")
