"""One line of the screen as styled spans, and functions that fit it to a width."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import cast

from rich.cells import cell_len, chop_cells, set_cell_size

from tuibench.core.text import show
from tuibench.present.plots.drawing import Row, Span

__all__ = ["LineLike", "Row", "Span"]

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


def fit(text: str, width: int, ellipsis: str = "…", right: bool = False) -> str:
    """Pad or cut a text to exactly `width` columns; a cut text ends with an ellipsis."""
    need = cell_len(text)
    if need <= width:
        blanks = " " * (width - need)
        return blanks + text if right else text + blanks
    return set_cell_size(cut(text, width, ellipsis), width)


def cut(text: str, width: int, ellipsis: str = "…") -> str:
    """Cut a text to at most `width` columns."""
    if cell_len(text) <= width:
        return text
    room = width - cell_len(ellipsis)
    return set_cell_size(text, room).rstrip() + ellipsis if room > 0 else ellipsis[: max(width, 0)]


def cut_middle(text: str, width: int, ellipsis: str = "…") -> str:
    """Cut a text to at most `width` columns by removing its middle."""
    room = width - cell_len(ellipsis)
    if cell_len(text) <= width or room < 2:
        return cut(text, width, ellipsis)
    end = room - room // 2
    return set_cell_size(text, room // 2).rstrip() + ellipsis + skip(text, cell_len(text) - end).lstrip()


def cut_shared(text: str, width: int, shared: tuple[str, str], ellipsis: str = "…") -> str:
    """Cut a text to at most `width` columns: first the prefix and suffix shared with others, then the middle."""
    if cell_len(text) <= width:
        return text
    own = text.removeprefix(shared[0]).removesuffix(shared[1])
    marked = own if own == text else own + ellipsis
    return cut_middle(marked if cell_len(marked) <= width else own, width, ellipsis)


def skip(text: str, columns: int) -> str:
    """Return a text without its first columns; half of a wide letter becomes a blank."""
    if text.isascii() or not columns:
        return text[columns:]
    total = cell_len(text)
    at = next((n for n in range(len(text) + 1) if total - cell_len(text[n:]) >= columns), len(text))
    return " " * (total - cell_len(text[at:]) - columns) + text[at:]


def width_of(row: Iterable[Span]) -> int:
    """Return the width of all spans together."""
    return sum(cell_len(text) for text, _ in row)


def filled(row: Iterable[Span], width: int, ellipsis: str = "…") -> Row:
    """Return exactly `width` columns; neighbours of one style are merged, so that each style is sent once."""
    spans: list[Span] = []
    room = width
    for text, style in row:
        kept = cut(text, room, ellipsis)
        if kept:
            _add(spans, kept, style)
            room -= cell_len(kept)
        if kept != text:
            break
    if room > 0:
        _add(spans, " " * room, "")
    return tuple(spans)


def _add(spans: list[Span], text: str, style: str) -> None:
    if spans and spans[-1][1] == style:
        spans[-1] = (spans[-1][0] + text, style)
    else:
        spans.append((text, style))


def squeezed(row: Row, width: int, ellipsis: str = "…") -> Row:
    """Return at most `width` columns, shortening the longest span first: its neighbours stay whole."""
    spans = list(row)
    while spans and (excess := width_of(spans) - width) > 0:
        lengths = [cell_len(text) for text, _ in spans]
        longest = max(lengths)
        if longest <= 1:
            return filled(spans, max(width, 0), ellipsis)
        at = lengths.index(longest)
        # Stop at the next longest; from there the two are shortened in turn.
        floor = max([n for n in lengths if n < longest] + [longest // 2, 1])
        spans[at] = (cut(spans[at][0], max(longest - excess, floor), ellipsis), spans[at][1])
    return tuple(spans)


def spread(left: Row, right: Row, width: int, ellipsis: str = "…") -> Row:
    """Put `left` and `right` at the two ends of a line; if both do not fit, `right` keeps at most half."""
    gap = 1 if right else 0
    if width_of(left) + gap + width_of(right) > width:
        right = squeezed(right, max(width // 2, width - width_of(left) - gap), ellipsis)
        left = squeezed(left, max(width - width_of(right) - gap, 0), ellipsis)
    blanks = " " * (width - width_of(left) - width_of(right))
    return filled((*left, (blanks, ""), *right), width, ellipsis)


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


def wrapped(row: Row, width: int) -> list[Row]:
    """Break a line at blanks, or within words wider than a line; indent the following lines like the first."""
    if width_of(row) <= width:
        return [row]
    text = row[0][0] if row else ""
    indent = min(len(text) - len(text.lstrip(" ")), width // 2)
    rows: list[Row] = []
    current: list[Span] = []
    used = 0
    for word, style in _words(row, max(width - indent, 1)):
        if used and used + cell_len(word.rstrip(" ")) > width:
            rows.append(_ended(current))
            current, used = ([(" " * indent, "")] if indent else []), indent
        kept = word if used > indent or not rows else word.lstrip(" ")
        current.append((kept, style))
        used += cell_len(kept)
    return [*rows, _ended(current)]


def _ended(spans: Sequence[Span]) -> Row:
    """Return the spans without trailing blanks, which could exceed the width and cut off a letter."""
    kept = list(spans)
    while kept and not kept[-1][0].rstrip(" "):
        kept.pop()
    return (*kept[:-1], (kept[-1][0].rstrip(" "), kept[-1][1])) if kept else ()


def _words(row: Row, most: int) -> Iterable[Span]:
    for text, style in row:
        for word in re.findall(r" *[^ ]+ *| +", text):
            yield from ((part, style) for part in chop_cells(word, most))
