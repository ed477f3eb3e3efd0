"""The one function that makes foreign text safe for a terminal: names in models can contain escape codes."""

from __future__ import annotations

import unicodedata

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
