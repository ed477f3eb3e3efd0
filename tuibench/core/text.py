"""Text in terminal columns: its width, safe display, cutting, padding, wrapping, and a form in ASCII."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import lru_cache

from tuibench.core.reason import Reason, because

_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t", "\x1b": "\\e"}
_JOINER = "\u200d"
# Controls, format characters (bidi, zero width, tags), surrogates and line separators can all move or hide text.
_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})


MAX_NAME_CHARS = 200
"""Most characters in the name of a project or benchmark."""


def too_long(name: str) -> Reason | None:
    """Return why a name is too long; None if it is not."""
    count = len(name.strip())
    return because("name_too_long", count=count, most=MAX_NAME_CHARS) if count > MAX_NAME_CHARS else None


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


ELLIPSIS = "…"
_BLANKS = str.maketrans("\t\n\r", "   ")
_TRIES = 4
"""Most attempts to cut equal-looking names apart, each from a later position."""
_NARROW_KINDS = ("Mn", "Mc", "Me")
_NO_COLUMN = ((0x1160, 0x11FF), (0x200D, 0x200D), (0x3164, 0x3164), (0xD7B0, 0xD7FF), (0xFFA0, 0xFFA0),
              (0x1F3FB, 0x1F3FF))  # fmt: skip
_TWO_COLUMNS = ((0x2630, 0x2637), (0x268A, 0x268F), (0x4DC0, 0x4DFF), (0x1D300, 0x1D356), (0x1D360, 0x1D376))
"""Characters that Unicode 16 made wide; the tables of older Pythons have them as narrow."""


def width_of(text: str) -> int:
    """Return the terminal columns of `text`; pass it through `show` first."""
    # Characters below the first combining mark take one column: a fast path for lists of thousands of rows.
    if text.isascii() or max(text) < "\u0300":
        return len(text)
    return sum(map(_columns, text))


def cut(text: str, width: int, ellipsis: str = ELLIPSIS) -> str:
    """Cut `text` to at most `width` columns; a cut text ends with an ellipsis of one column."""
    if width_of(text) <= width:
        return text
    return text[: _fitting(text, width - 1)].rstrip() + ellipsis if width > 0 else ""


def cut_start(text: str, width: int) -> str:
    """Cut from the front: `very_long_name=32` keeps its value."""
    return cut(text[::-1], width)[::-1]


def cut_middle(text: str, width: int, ellipsis: str = ELLIPSIS) -> str:
    """Cut from the middle: both ends of `encoder.layer.3.attention.weight` distinguish it from similar names."""
    if width_of(text) <= width or width < 3:
        return cut(text, width, ellipsis)
    # The end gets the odd column, since similar names mostly differ there.
    front = text[: _fitting(text, (width - 1) // 2)].rstrip()
    end = text[::-1][: _fitting(text[::-1], width - 1 - width_of(front))][::-1].lstrip()
    return f"{front}{ellipsis}{end}"


def cut_shared(text: str, width: int, shared: tuple[str, str], ellipsis: str = ELLIPSIS) -> str:
    """Cut first the prefix and suffix shared with other texts, then the middle."""
    if width_of(text) <= width:
        return text
    own = text.removeprefix(shared[0]).removesuffix(shared[1])
    marked = own if own == text else own + ellipsis
    return cut_middle(marked if width_of(marked) <= width else own, width, ellipsis)


def cut_apart(texts: Sequence[str], width: int) -> list[str]:
    """Cut each text from the middle, and keep the differing part of texts that would look the same."""
    cut_texts = [cut_middle(text, width) for text in texts]
    begins: dict[str, int] = {}
    for _ in range(_TRIES):
        alike: dict[str, set[str]] = {}
        for text, short in zip(texts, cut_texts, strict=True):
            alike.setdefault(short, set()).add(text)
        groups = [group for group in alike.values() if len(group) > 1]
        if not groups:
            break
        for group in groups:
            differs = _shared_length(min(group), max(group))
            for text in group:
                # Start at the beginning of the differing word, if that is near.
                part = re.search(r"[^./_:]{0,6}$", text[:differs])
                begins[text] = part.start() if part is not None else differs
        cut_texts = [
            cut_middle(ELLIPSIS * (begins.get(text, 0) > 0) + text[begins.get(text, 0) :], width) for text in texts
        ]
    return cut_texts


def _shared_length(first: str, last: str) -> int:
    """Return the length of the common prefix; for the least and greatest of many texts it is that of all."""
    ends = (at for at, (a, b) in enumerate(zip(first, last, strict=False)) if a != b)
    return next(ends, min(len(first), len(last)))


def pad(text: str, width: int, right: bool = False) -> str:
    """Fill `text` with spaces to `width` columns; with `right`, on its left side."""
    space = " " * max(width - width_of(text), 0)
    return space + text if right else text + space


def fit(text: str, width: int, ellipsis: str = ELLIPSIS, right: bool = False) -> str:
    """Pad or cut `text` to exactly `width` columns; a cut text is aligned to the left."""
    is_cut = width_of(text) > width
    return pad(cut(text, width, ellipsis), width, right and not is_cut)


def skip(text: str, columns: int) -> str:
    """Return a text without its first columns; half of a wide character becomes a blank."""
    if text.isascii() or columns <= 0:
        return text[max(columns, 0) :]
    at = used = 0
    while at < len(text) and used < columns:
        used += _columns(text[at])
        at += 1
    return " " * (used - columns) + text[at:]


def wrap(text: str, width: int, indent: str = "") -> list[str]:
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
        for piece in pieces(word, width if alone else width - len(indent)):
            lines.append(f"{indent if lines else ''}{piece}")
    return lines


def pieces(word: str, width: int) -> Iterator[str]:
    """Split a word into parts of at most `width` columns; a wider character is a part of its own."""
    while word:
        count = max(_fitting(word, width), 1)
        yield word[:count]
        word = word[count:]


def _fitting(text: str, width: int) -> int:
    """Return how many characters fit into `width` columns, with the marks that belong to the last one."""
    if text.isascii():
        return min(max(width, 0), len(text))
    used = 0
    for count, char in enumerate(text):
        used += _columns(char)
        if used > width:
            return count
    return len(text)


@lru_cache(maxsize=4096)
def _columns(char: str) -> int:
    code = ord(char)
    if unicodedata.category(char) in _NARROW_KINDS or any(low <= code <= high for low, high in _NO_COLUMN):
        return 0
    is_wide = unicodedata.east_asian_width(char) in "WF" or any(low <= code <= high for low, high in _TWO_COLUMNS)
    return 2 if is_wide else 1


_ASCII = str.maketrans(
    {
        "µ": "u",
        "±": "+-",
        "·": "|",
        "×": "x",
        "…": "...",
        "–": "-",
        "—": "-",
        "→": "->",
        "✓": "ok",
        "✗": "x",
        "≤": "<=",
        "≥": ">=",
        "Δ": "d",
        "█": "#",
    }
)


def to_ascii(text: str) -> str:
    """Return `text` for terminals and logs limited to ASCII; characters without a replacement are escaped."""
    return text.translate(_ASCII).encode("ascii", "backslashreplace").decode("ascii")
