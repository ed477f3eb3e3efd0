"""The points of a scaling figure as a table with a cursor, with the conclusions in sentences below."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.binding import BindingType
from textual.message import Message

from tuibench.tui import key
from tuibench.tui.screens.detail_fact import Fact, hung
from tuibench.tui.widgets.moving import Moving
from tuibench.tui.widgets.row import Row, shown

_INDENT = 8
_FEWEST = 6
"""Minimum number of visible points, however many sentences there are."""


class PointList(Moving):
    """A table of points that scrolls while the sentences stay visible."""

    BINDINGS: ClassVar[list[BindingType]] = key.bindings("open")

    class Moved(Message):
        """Another point is under the cursor."""

    class Opened(Message):
        """Enter was pressed on a point."""

    def __init__(self) -> None:
        super().__init__()
        self._head: Row = ()
        self._lines: list[Row] = []
        self._facts: tuple[Fact, ...] = ()
        self._said: list[Row] = []
        self._said_for = -1
        self._about = ""
        self._first = 0
        self.at = 0

    def show_points(self, head: Row, lines: Sequence[Row], facts: Sequence[Fact], about: str = "") -> None:
        """Show these points and keep the cursor's index; `about` is the heading of the sentences."""
        self._about = about
        self.at = min(self.at, max(len(lines) - 1, 0))
        self._head, self._lines, self._facts = shown(head), [shown(line) for line in lines], tuple(facts)
        self._said_for = -1
        self.repaint()

    @property
    def _sentences(self) -> list[Row]:
        """Sentences wrapped at the current width."""
        width = self.size.width
        if width != self._said_for:
            room = max(width - 2, 1)
            self._said = [row for fact in self._facts for row in hung(fact, _INDENT, room, self.legible)]
            self._said_for = width
        return self._said

    @property
    def _room(self) -> int:
        """Number of points visible at once: the rows that the sentences leave, but never too few."""
        left = self.size.height - 2 - len(self._sentences)
        return min(max(left, _FEWEST), max(self.size.height - 1, 1), len(self._lines))

    def move(self, by: int) -> None:
        """Move the cursor."""
        before, self.at = self.at, min(max(self.at + by, 0), max(len(self._lines) - 1, 0))
        self._first = min(max(self._first, self.at - self._room + 1), self.at)
        self.repaint()
        if self.at != before:
            self.post_message(self.Moved())

    def move_to_end(self, last: bool) -> None:
        """Move the cursor to the first or the last point."""
        self.move(len(self._lines) if last else -len(self._lines))

    def action_open(self) -> None:
        """Post Opened for the point under the cursor."""
        self.post_message(self.Opened())

    def row(self, y: int) -> Row:
        """Return the head, a point, the scroll position or a sentence."""
        room = self._room
        self._first = min(max(self._first, self.at - room + 1), self.at, max(len(self._lines) - room, 0))
        if y == 0:
            return ((" ", ""), *self._head)
        if y <= room:
            return self._point(self._first + y - 1)
        if y == room + 1:
            many = f"{self._first + 1}-{self._first + room} of {len(self._lines)}"
            words = "  ".join(filter(None, (many if room < len(self._lines) else "", self._about)))
            return ((f" {words}", "dim"),)
        return self._sentence(y - room - 2, self.size.height - room - 2)

    def _point(self, number: int) -> Row:
        here = number == self.at
        lit = " cursor" if here and self.has_focus else ""
        line = self._lines[number]
        sign = self.glyphs.cursor if here else " "
        return ((sign, ""), *((text, f"{style}{lit}".strip()) for text, style in line))

    def _sentence(self, number: int, room: int) -> Row:
        said = self._sentences
        if number >= len(said):
            return ()
        if number == room - 1 and len(said) > room:
            return ((f" {self.glyphs.ellipsis} w shows all", "dim"),)
        return ((" ", ""), *said[number])
