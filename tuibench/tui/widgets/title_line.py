"""The first line of a screen: where one is, and what state that is in."""

from __future__ import annotations

from tuibench.tui.widgets.painted import Painted
from tuibench.tui.widgets.row import LineLike, Row, shown, spread


class TitleLine(Painted):
    """A text at the left and one at the right; where both do not fit, the longest part of the left one gives way."""

    DEFAULT_CSS = "TitleLine { height: 1; }"

    def __init__(
        self,
        left: LineLike = "",
        right: LineLike = "",
        *,
        id: str | None = None,  # noqa: A002 - Textual's name
        classes: str | None = None,
    ) -> None:
        super().__init__(id=id, classes=classes)
        self._ends = (shown(left), shown(right))

    def show(self, left: LineLike, right: LineLike = "") -> None:
        """Show these; a name of its own part, as in (("a long name", "title"), (" › Runs", "")), is cut alone."""
        self._ends = (shown(left), shown(right))
        self.repaint()

    def show_end(self, right: LineLike) -> None:
        """Something else at the right, until both are shown again."""
        self._ends = (self._ends[0], shown(right))
        self.repaint()

    def row(self, y: int) -> Row:
        """Both ends."""
        left, right = (self.legible_row(end) for end in self._ends)
        return spread(_set_in(left), right, self.size.width, self.glyphs.ellipsis) if y == 0 else ()


def _set_in(row: Row) -> Row:
    return ((" " + row[0][0], row[0][1]), *row[1:]) if row else ()


class RuleLine(Painted):
    """A line between two parts of a screen."""

    DEFAULT_CSS = "RuleLine { height: 1; }"

    def row(self, y: int) -> Row:
        """The whole width."""
        return ((self.glyphs.rule * self.size.width, "dim"),)
