"""Horizontal bars: labelled amounts, and progress."""

from __future__ import annotations

import math
from collections.abc import Sequence

from tuibench.core.text import cut, pad, width_of
from tuibench.present.plots.drawing import Row, filled

_EIGHTHS = " ▏▎▍▌▋▊▉"
_GAP = 1


def draw_bars(bars: Sequence[tuple[str, float, str]], width: int, ascii_only: bool = False) -> tuple[Row, ...]:
    """Draw one row per (label, value, text); the bar of the greatest value fills its space."""
    if width < 1:
        return ()
    text_room = min(max((width_of(text) for _, _, text in bars), default=0), width // 2)
    label_room = min(max((width_of(label) for label, _, _ in bars), default=0), width // 3)
    room = max(width - label_room - text_room - 2 * _GAP, 0)
    most = max((value for _, value, _ in bars if math.isfinite(value)), default=0.0)
    rows = []
    for label, value, text in bars:
        share = value / most if most > 0 and math.isfinite(value) and value > 0 else 0.0
        spans = [
            (pad(cut(label, label_room), label_room) + " " * _GAP, ""),
            (_bar(share, room, ascii_only), "series-1"),
            (" " * _GAP + pad(cut(text, text_room), text_room, right=True), ""),
        ]
        rows.append(filled(spans, width))
    return tuple(rows)


def progress_bar(done: float, total: float, width: int, ascii_only: bool = False) -> str:
    """Return a progress bar of `width` characters; it is full only when all is done."""
    share = min(max(done / total, 0.0), 1.0) if total > 0 else 0.0
    full = min(round(share * width), width - (share < 1)) if width > 0 else 0
    return ("#" if ascii_only else "█") * full + ("-" if ascii_only else "░") * (max(width, 0) - full)


def _bar(share: float, room: int, ascii_only: bool) -> str:
    if ascii_only:
        return ("#" * round(share * room)).ljust(room)
    eighths = round(share * room * 8)
    text = "█" * (eighths // 8) + (_EIGHTHS[eighths % 8] if eighths % 8 else "")
    return text.ljust(room)


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
