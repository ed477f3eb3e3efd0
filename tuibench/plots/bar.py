"""Horizontal bars: labelled amounts, and progress."""

from __future__ import annotations

import math
from collections.abc import Sequence

from tuibench.core.width import fit, pad, width_of
from tuibench.plots.styled import Row, filled

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
            (pad(fit(label, label_room), label_room) + " " * _GAP, "plain"),
            (_bar(share, room, ascii_only), "series-1"),
            (" " * _GAP + pad(fit(text, text_room), text_room, right=True), "plain"),
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
