"""A sparkline: a row of numbers as a row of characters."""

from __future__ import annotations

import math
from collections.abc import Sequence

_BLOCKS = "▁▂▃▄▅▆▇█"
_ASCII = "_.-:=+*#"


def sparkline(
    values: Sequence[float | None],
    ascii_only: bool = False,
    width: int | None = None,
    *,
    low: float | None = None,
    high: float | None = None,
) -> str:
    """Return one character per value, blank for None; with `width` average values to at most that many characters.

    The scale runs from the least value to the greatest unless `low` and `high` are given; equal values are drawn in the
    middle.
    """
    known = [v if v is not None and math.isfinite(v) else None for v in values]
    if width is not None and len(known) > width:
        known = _thinned(known, width)
    present = [v for v in known if v is not None]
    if not present:
        return " " * len(known)
    bottom = min(present) if low is None else low
    top = max(present) if high is None else high
    levels = _ASCII if ascii_only else _BLOCKS
    return "".join(" " if v is None else levels[_level(v, bottom, top, len(levels))] for v in known)


def _level(value: float, bottom: float, top: float, count: int) -> int:
    # Halve first: the difference of extreme numbers would overflow.
    span = top / 2 - bottom / 2
    if span <= 0:
        return count // 2 - 1
    return min(max(int((value / 2 - bottom / 2) / span * count), 0), count - 1)


def _thinned(values: Sequence[float | None], width: int) -> list[float | None]:
    thin: list[float | None] = []
    for i in range(max(width, 0)):
        part = [v for v in values[i * len(values) // width : (i + 1) * len(values) // width] if v is not None]
        thin.append(math.fsum(v / len(part) for v in part) if part else None)
    return thin
