"""Text width in terminal columns, and functions that cut and pad a text to a width."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache

_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t", "\x1b": "\\e"}
_JOINER = "\u200d"
# Controls, format characters (bidi, zero width, tags), surrogates and line separators can all move or hide text.
_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})


LONGEST_NAME = 200
"""Most characters in the name of a project or benchmark."""


def too_long(name: str) -> str:
    """Return why a name is too long; '' if it is not."""
    count = len(name.strip())
    return f"{count} characters: a name has at most {LONGEST_NAME}" if count > LONGEST_NAME else ""


def show(text: object, limit: int = 200) -> str:
    """Return `text` with every control character made visible, cut to `limit` characters."""
    raw = str(text)
    # `isprintable` rejects everything hidden below, and a few harmless spaces.
    if raw.isprintable():
        safe = raw
    else:
        safe = "".join(_visible(c) for c in raw[: limit + 1])
    return safe if len(safe) <= limit else safe[: max(limit - 1, 0)] + "…"


def _visible(char: str) -> str:
    if char in _SHORT:
        return _SHORT[char]
    if char == _JOINER or unicodedata.category(char) not in _HIDDEN:
        return char
    code = ord(char)
    if 0xDC80 <= code <= 0xDCFF:
        return f"\\x{code - 0xDC00:02x}"
    if code <= 0xFF:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"


_BLANKS = str.maketrans("\t\n\r", "   ")
_TRIES = 4
"""Most attempts to cut equal-looking names apart, each from a later position."""


def width_of(text: str) -> int:
    """Return the terminal columns of `text`; pass it through `show` first."""
    # Characters below the first combining mark take one column: a fast path for lists of thousands of rows.
    if text.isascii() or max(text) < "\u0300":
        return len(text)
    return sum(_columns(char) for char in text)


def fit(text: str, width: int, ellipsis: str = "…") -> str:
    """Cut `text` to `width` columns, ending a cut text with a one-column ellipsis."""
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
    """Cut from the front: `very_long_name=32` keeps its value."""
    return fit(text[::-1], width)[::-1]


def fit_middle(text: str, width: int) -> str:
    """Cut from the middle: both ends of `encoder.layer.3.attention.weight` distinguish it from similar names."""
    if width_of(text) <= width or width < 3:
        return fit(text, width)
    # The end gets the odd column, since similar names mostly differ there.
    front = fit(text, (width - 1) // 2 + 1)
    return front + fit_end(text, width - width_of(front) + 1).removeprefix("…")


def fit_apart(texts: Sequence[str], width: int) -> list[str]:
    """Cut each text from the middle, and keep the differing part of texts that would look the same."""
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
                # Start at the beginning of the differing word, if that is near.
                part = re.search(r"[^./_:]{0,6}$", text[:differs])
                begins[text] = part.start() if part is not None else differs
        cut = [fit_middle("…" * (begins.get(text, 0) > 0) + text[begins.get(text, 0) :], width) for text in texts]
    return cut


def _shared(first: str, last: str) -> int:
    """Return the length of the common prefix; for the least and greatest of many texts it is that of all."""
    ends = (at for at, (a, b) in enumerate(zip(first, last, strict=False)) if a != b)
    return next(ends, min(len(first), len(last)))


def wrapped(text: str, width: int, indent: str = "") -> list[str]:
    """Return lines of at most `width` columns, broken between words, and inside a word only if it exceeds a line.

    Some scripts have no spaces between words, and two columns per character. Lines after the first begin with `indent`;
    a no-break space does not break.
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
    """Split the word into parts of at most `width` columns; a wider character is a part of its own."""
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
