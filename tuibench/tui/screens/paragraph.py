"""Text with a label beside it, wrapped to the width of the screen with an indent."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from tuibench.core.text import width_of, wrap
from tuibench.tui.widgets.row import LineLike

_LEAST = 20
"""Minimum width of a text; below it, the label goes on a line of its own."""


@dataclass(frozen=True, slots=True)
class Paragraph:
    """One paragraph; an empty one is an empty line."""

    text: str = ""
    label: str = ""
    indent: int = 0
    """Width of the label, and the indent of every line of the text."""
    style: str = ""
    label_style: str = "dim"


def lay_out(paragraphs: Iterable[Paragraph], width: int) -> list[LineLike]:
    """Return the lines of all paragraphs, each at most `width` columns if words allow it."""
    return [line for paragraph in paragraphs for line in _lines(paragraph, max(width, 1))]


def _lines(paragraph: Paragraph, width: int) -> Iterator[LineLike]:
    label, indent = paragraph.label, paragraph.indent
    above = label and (width_of(label) >= indent or width - indent < _LEAST)
    if above:
        yield (label, paragraph.label_style)
    if width - indent < _LEAST:
        indent = min(2, width - 1)
    lines = wrap(paragraph.text, max(width - indent, 1))
    for number, line in enumerate(lines or ([""] if not above else [])):
        first = label if number == 0 and not above else ""
        yield ((first.ljust(indent), paragraph.label_style), (line, paragraph.style))
