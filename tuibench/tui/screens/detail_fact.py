"""Labelled facts wrapped to the width, and a block of them that keys scroll."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from textual.geometry import Size

from tuibench.tui.widgets.row import Row, Span, safe, wrapped
from tuibench.tui.widgets.text_block import ScrollBlock

_GLUE = "\N{NO-BREAK SPACE}"
_UNIT = re.compile(
    r"(?<=\d) (?=(?:%|ms|µs|us|s|B|kB|MB|GB|TB|cores?|items/s)(?![A-Za-z]))|(?<=batch) (?=\d)|(?<=grade) (?=[A-Z])"
)
"""Blanks between a number and its unit, where lines must not break."""


@dataclass(frozen=True, slots=True)
class Fact:
    """A fact with its label; without a label the text uses the whole width."""

    label: str
    text: str
    style: str = ""
    label_style: str = "dim"


def hung(fact: Fact, indent: int, width: int, legible: Callable[[str], str] = str) -> list[Row]:
    """Return the lines of a fact, at most `width` columns; the text starts at `indent`, below a longer label."""
    label, text = legible(safe(fact.label)), legible(safe(fact.text))
    if not label:
        return [_joined(row) for row in wrapped(((_UNIT.sub(_GLUE, text), fact.style),), width)]
    above = cell_len(label) >= indent
    indent = min(indent, width // 2)
    lines = [
        _joined(row) for row in wrapped(((" " * indent + _UNIT.sub(_GLUE, text), fact.style),), max(width, indent + 1))
    ]
    if above:
        return [((label, fact.label_style),), *lines]
    rest = tuple((part[indent:] if n == 0 else part, style) for n, (part, style) in enumerate(lines[0]))
    head: Span = (label + " " * (indent - cell_len(label)), fact.label_style)
    return [(head, *rest), *lines[1:]]


def _joined(row: Row) -> Row:
    """Return a wrapped line as one span."""
    text = "".join(part for part, _ in row).replace(_GLUE, " ").rstrip()
    return ((text, row[-1][1] if row else ""),)


class FactBlock(ScrollBlock):
    """Facts that are wrapped again at each width."""

    def __init__(
        self,
        facts: Iterable[Fact] = (),
        indent: int = 11,
        *,
        id: str | None = None,  # noqa: A002 - Textual's name
    ) -> None:
        super().__init__(wrap=True, id=id)
        self._facts = tuple(facts)
        self._indent = indent

    def show_facts(self, facts: Iterable[Fact]) -> None:
        """Show these facts from the first."""
        self._first = 0
        self.update_facts(facts)

    def update_facts(self, facts: Iterable[Fact]) -> None:
        """Replace the facts and keep the scroll position."""
        self._facts = tuple(facts)
        self.show_lines(())

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """Return the number of lines at that width, for an automatic height."""
        return len(list(self._lines(width)))

    def _laid_out(self) -> Sequence[Row]:
        width = self.size.width
        if width and self._rows_width != width:
            self._rows = list(self._lines(width))
            self._rows_width = width
        return self._rows

    def _lines(self, width: int) -> Iterator[Row]:
        for fact in self._facts:
            yield from hung(fact, self._indent, width, self.legible)
