"""The first line of a screen: the path to it, and its state."""

from __future__ import annotations

from tuibench.tui.widgets.painted import Painted
from tuibench.tui.widgets.row import LineLike, Row, shown, spread


class TitleLine(Painted):
    """A text at the left and one at the right; if both do not fit, the longest span at the left is cut first."""

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
        """Show both texts; put a long name into its own span, as in (("a long name", "title"), (" › Runs", ""))."""
        self._ends = (shown(left), shown(right))
        self.repaint()

    def show_end(self, right: LineLike) -> None:
        """Replace the text at the right."""
        self._ends = (self._ends[0], shown(right))
        self.repaint()

    def row(self, y: int) -> Row:
        """Return both texts in one line."""
        left, right = (self.legible_row(end) for end in self._ends)
        return spread(_set_in(left), right, self.size.width, self.glyphs.ellipsis) if y == 0 else ()


def _set_in(row: Row) -> Row:
    return ((" " + row[0][0], row[0][1]), *row[1:]) if row else ()


class RuleLine(Painted):
    """A rule between two parts of a screen."""

    DEFAULT_CSS = "RuleLine { height: 1; }"

    def row(self, y: int) -> Row:
        """Return a rule of the whole width."""
        return ((self.glyphs.rule * self.size.width, "dim"),)
