"""One line of the screen as styled spans that are safe to print."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from tuibench.core.text import show
from tuibench.present.plots.drawing import Row, Span

LineLike = str | Span | Sequence[Span]
"""A line as screens pass it: a text, a text with a style, or a sequence of those."""

_UNCERTAIN = {0x200D: None, 0xFE0E: None, 0xFE0F: None}
_LONGEST = 1000
"""Wider than any terminal; limits the work for a name of a megabyte."""


def safe(text: str, limit: int = _LONGEST) -> str:
    """Return the text with terminal control characters made visible and with the same width on every terminal.

    Terminals differ on joined emoji and on signs with a wide variant; without the joiners and selectors they agree.
    """
    shown_text = show(text, limit)
    return shown_text if shown_text.isascii() else shown_text.translate(_UNCERTAIN)


def shown(line: LineLike) -> Row:
    """Convert to a row that is safe to print."""
    if isinstance(line, str):
        return ((safe(line), ""),)
    if len(line) == 2 and isinstance(line[0], str) and isinstance(line[1], str):
        return ((safe(line[0]), line[1]),)
    return tuple((safe(text), style) for text, style in cast(Sequence[Span], line))


def changed_end(old: Row, new: Row, width: int) -> int:
    """Return the column after the last difference between two rows of `width` columns; 0 if they are equal."""
    if old == new:
        return 0
    texts = ["".join(text for text, _ in row) for row in (old, new)]
    if not all(text.isascii() for text in texts):
        # A combining mark belongs to the column of the letter before it.
        return width
    cells = [[(char, style) for text, style in row for char in text] for row in (old, new)]
    end = width
    while end and cells[0][end - 1 : end] == cells[1][end - 1 : end]:
        end -= 1
    return end
