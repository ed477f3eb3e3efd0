"""Facts with a label beside each, in as many lines as the width takes, and a block of them that is scrolled by keys."""

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
"""Between a number and its unit no line ends."""


@dataclass(frozen=True, slots=True)
class Fact:
    """One of them; without a label the whole width is the text's."""

    label: str
    text: str
    style: str = ""
    label_style: str = "dim"


def hung(fact: Fact, indent: int, width: int, legible: Callable[[str], str] = str) -> list[Row]:
    """Its lines, each at most `width` columns: the text begins after `indent`, and a longer label stands above it."""
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
    """A line that was broken into words as one part."""
    text = "".join(part for part, _ in row).replace(_GLUE, " ").rstrip()
    return ((text, row[-1][1] if row else ""),)


class FactBlock(ScrollBlock):
    """Facts that are laid out anew at each width."""

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
        """Show these, from the first."""
        self._first = 0
        self.update_facts(facts)

    def update_facts(self, facts: Iterable[Fact]) -> None:
        """Show these at the present place."""
        self._facts = tuple(facts)
        self.show_lines(())

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """As many lines as they take at that width, where the height is left to the block."""
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
