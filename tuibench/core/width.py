"""How many columns a terminal uses for a text, and how to bring a text to a number of columns."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache

_BLANKS = str.maketrans("\t\n\r", "   ")
_TRIES = 4
"""How often names that were cut are told apart: each time by a place further behind."""


def width_of(text: str) -> int:
    """Columns that a terminal uses for `text`, which must have been through `show` already."""
    # Below the first combining mark every character takes one column: lists of thousands of rows consist of those.
    if text.isascii() or max(text) < "\u0300":
        return len(text)
    return sum(_columns(char) for char in text)


def fit(text: str, width: int, ellipsis: str = "…") -> str:
    """Cut `text` to `width` columns, with an ellipsis, of one column, where something is lost."""
    if width_of(text) <= width:
        return text
    kept, used = [], 0
    for char in text:
        used += _columns(char)
        if used > width - 1:
            break
        kept.append(char)
    return "".join(kept) + ellipsis if width > 0 else ""


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


def fit_apart(texts: Sequence[str], width: int) -> list[str]:
    """Cut each from the middle, and those that would look the same so that what tells them apart is left."""
    cut = [fit_middle(text, width) for text in texts]
    begins: dict[str, int] = {}
    for _ in range(_TRIES):
        alike: dict[str, set[str]] = {}
        for text, short in zip(texts, cut, strict=True):
            alike.setdefault(short, set()).add(text)
        groups = [group for group in alike.values() if len(group) > 1]
        if not groups:
            break
        for group in groups:
            differs = _shared(min(group), max(group))
            for text in group:
                # From the beginning of the word that differs, if that is near.
                part = re.search(r"[^./_:]{0,6}$", text[:differs])
                begins[text] = part.start() if part is not None else differs
        cut = [fit_middle("…" * (begins.get(text, 0) > 0) + text[begins.get(text, 0) :], width) for text in texts]
    return cut


def _shared(first: str, last: str) -> int:
    """How many characters both begin with: of the least and the greatest of many that is what all begin with."""
    ends = (at for at, (a, b) in enumerate(zip(first, last, strict=False)) if a != b)
    return next(ends, min(len(first), len(last)))


def wrapped(text: str, width: int, indent: str = "") -> list[str]:
    """Lines of at most `width` columns: broken between words, and within one only where it is wider than a line.

    Some scripts have no blanks between words, and two columns per character. Lines after the first begin with `indent`;
    a no-break space is none to break at.
    """
    lines: list[str] = []
    for word in filter(None, text.translate(_BLANKS).split(" ")):
        if lines and width_of(lines[-1]) + 1 + width_of(word) <= width:
            lines[-1] = f"{lines[-1]} {word}"
            continue
        alone = not lines and width_of(word) <= width
        for piece in _pieces(word, width if alone else width - len(indent)):
            lines.append(f"{indent if lines else ''}{piece}")
    return lines


def _pieces(word: str, width: int) -> list[str]:
    """The word in parts of at most `width` columns, or of one character where that is wider."""
    pieces, room = [""], width
    for char in word:
        room -= _columns(char)
        if room < 0 and pieces[-1]:
            pieces.append("")
            room = width - _columns(char)
        pieces[-1] += char
    return pieces


def pad(text: str, width: int, right: bool = False) -> str:
    """Fill `text` with spaces to `width` columns."""
    space = " " * max(width - width_of(text), 0)
    return space + text if right else text + space


@lru_cache(maxsize=4096)
def _columns(char: str) -> int:
    if unicodedata.combining(char) or char == "\u200d":
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1
