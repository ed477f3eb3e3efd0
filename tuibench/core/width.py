"""How many columns a terminal uses for a text, and how to bring a text to a number of columns."""

from __future__ import annotations

import unicodedata
from functools import lru_cache


def width_of(text: str) -> int:
    """Columns that a terminal uses for `text`, which must have been through `show` already."""
    # Below the first combining mark every character takes one column: lists of thousands of rows consist of those.
    if text.isascii() or max(text) < "\u0300":
        return len(text)
    return sum(_columns(char) for char in text)


def fit(text: str, width: int) -> str:
    """Cut `text` to `width` columns, with an ellipsis where something is lost."""
    if width_of(text) <= width:
        return text
    kept, used = [], 0
    for char in text:
        used += _columns(char)
        if used > width - 1:
            break
        kept.append(char)
    return "".join(kept) + "…" if width > 0 else ""


def fit_end(text: str, width: int) -> str:
    """Cut from the front: `very_long_name=32` must keep its value."""
    return fit(text[::-1], width)[::-1]


def fit_middle(text: str, width: int) -> str:
    """Cut from the middle: of `encoder.layer.3.attention.weight` both ends tell it from its neighbours."""
    if width_of(text) <= width or width < 3:
        return fit(text, width)
    # The end gets the odd column: what differs between neighbours mostly stands there.
    front = fit(text, (width - 1) // 2 + 1)
    return front + fit_end(text, width - width_of(front) + 1).removeprefix("…")


def pad(text: str, width: int, right: bool = False) -> str:
    """Fill `text` with spaces to `width` columns."""
    space = " " * max(width - width_of(text), 0)
    return space + text if right else text + space


@lru_cache(maxsize=4096)
def _columns(char: str) -> int:
    if unicodedata.combining(char) or char == "\u200d":
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1
