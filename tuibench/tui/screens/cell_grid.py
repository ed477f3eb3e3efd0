"""The grid of cells: it is the page of a run, fills in as cells are measured, and a cursor goes over it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from textual.binding import BindingType
from textual.message import Message

from tuibench.core.text import show
from tuibench.tui import key
from tuibench.tui.screens.grid_plan import GridPlan
from tuibench.tui.widgets.moving import Moving
from tuibench.tui.widgets.row import Row, Span, fit

_LABEL = 11
_NARROWEST, _WIDEST = 15, 30


class CellGrid(Moving):
    """Lines and columns may be more than fit: what is under the cursor stays in sight."""

    BINDINGS: ClassVar[list[BindingType]] = key.bindings("open", only=("previous-value", "next-value"))

    class Moved(Message):
        """Another cell is under the cursor."""

        def can_replace(self, message: Message) -> bool:
            """A held key makes many, of which the last one counts."""
            return isinstance(message, CellGrid.Moved)

    class Opened(Message):
        """Enter on a cell."""

        def __init__(self, key: str) -> None:
            super().__init__()
            self.key = key

    def __init__(
        self,
        *,
        id: str | None = None,  # noqa: A002 - Textual's name
        classes: str | None = None,
    ) -> None:
        super().__init__(id=id, classes=classes)
        self._plan = GridPlan((), ())
        self._cells: Mapping[str, Span] = {}
        self._line = 0
        self._column = 0
        self._top = 0
        self._first = 0
        self._message: tuple[str, ...] = ()

    def show_cells(self, plan: GridPlan, cells: Mapping[str, Span], message: tuple[str, ...] = ()) -> None:
        """Show cells by their keys; `message` stands where there is no plan."""
        self._plan, self._cells, self._message = plan, cells, message
        self._line = min(self._line, max(len(plan.lines) - 1, 0))
        self._column = min(self._column, max(len(plan.columns) - 1, 0))
        self._follow()
        self.repaint()

    @property
    def cursor_key(self) -> str:
        """The cell under the cursor; '' where none is planned."""
        lines = self._plan.lines
        return lines[self._line].keys[self._column] if lines and self._plan.columns else ""

    def go_to(self, wanted: str) -> None:
        """Put the cursor on a cell."""
        for at, line in enumerate(self._plan.lines):
            if wanted in line.keys:
                self._line, self._column = at, line.keys.index(wanted)
                self._moved()

    # Where the cursor is

    @property
    def page(self) -> int:
        """Lines that are seen at once."""
        return max(self.size.height - 2, 1)

    def move(self, by: int) -> None:
        """Up or down."""
        self._line = min(max(self._line + by, 0), max(len(self._plan.lines) - 1, 0))
        self._moved()

    def move_to_end(self, last: bool) -> None:
        """The first line or the last."""
        self.move(len(self._plan.lines) if last else -len(self._plan.lines))

    def action_previous_value(self) -> None:
        """The column before."""
        self._column = max(self._column - 1, 0)
        self._moved()

    def action_next_value(self) -> None:
        """The next column."""
        self._column = min(self._column + 1, max(len(self._plan.columns) - 1, 0))
        self._moved()

    def action_open(self) -> None:
        """The cell under the cursor."""
        if self.cursor_key:
            self.post_message(self.Opened(self.cursor_key))

    def _moved(self) -> None:
        self._follow()
        self.repaint()
        self.post_message(self.Moved())

    def _follow(self) -> None:
        height = self.size.height - 1
        if height < 1:
            return
        at = next((n for n, found in enumerate(self._painted()) if found == self._line), 0)
        # With a line of its own the title of the block is seen, too.
        if at - 1 < self._top:
            self._top = max(at - 1, 0)
        elif at >= self._top + height:
            self._top = at - height + 1
        self._top = max(min(self._top, len(self._painted()) - height), 0)
        shown = self._shown_columns()
        if self._column < self._first:
            self._first = self._column
        elif self._column >= self._first + shown:
            self._first = self._column - shown + 1
        self._first = max(min(self._first, len(self._plan.columns) - shown), 0)

    def on_resize(self) -> None:
        """The cursor stays in sight."""
        self._follow()
        self.repaint()

    # What is painted

    def _painted(self) -> list[int | str]:
        """What stands in each row: the number of a line, or the title of a block."""
        rows: list[int | str] = []
        number = 0
        for block in self._plan.blocks:
            rows.append(block.title)
            rows += range(number, number + len(block.lines))
            number += len(block.lines)
        return rows

    def _width(self) -> int:
        room = self.size.width - _LABEL - 1
        return min(max(room // max(len(self._plan.columns), 1) - 1, _NARROWEST), _WIDEST)

    def _shown_columns(self) -> int:
        return max((self.size.width - _LABEL - 1) // (self._width() + 1), 1)

    def row(self, y: int) -> Row:
        """The names of the columns, then titles and lines of cells."""
        painted = self._painted()
        if not painted:
            return ((" " + show(self._message[y]), "dim"),) if y < len(self._message) else ()
        if y == 0:
            return self._headings()
        at = self._top + y - 1
        if at >= len(painted):
            return ()
        found = painted[at]
        return ((f" {show(found)}", "title"),) if isinstance(found, str) else self._cells_row(found)

    def _headings(self) -> Row:
        width, glyphs = self._width(), self.glyphs
        last = self._first + self._shown_columns()
        row: list[Span] = [(" " * _LABEL + (glyphs.before if self._first else " "), "dim")]
        names = self._plan.columns[self._first : last]
        row += [(fit(" " + show(name, 60), width, glyphs.ellipsis) + " ", "dim") for name in names]
        return (*row, (glyphs.after if last < len(self._plan.columns) else "", "dim"))

    def _cells_row(self, at: int) -> Row:
        line, glyphs, width = self._plan.lines[at], self.glyphs, self._width()
        row: list[Span] = [(fit(line.label, _LABEL, glyphs.ellipsis, right=True) + " ", "dim")]
        last = self._first + self._shown_columns()
        for n, one in enumerate(line.keys[self._first : last], self._first):
            text, style = self._cells.get(one, ("", "")) if one else ("", "")
            here = at == self._line and n == self._column
            sign = glyphs.cursor if here else " "
            cell = fit(f"{sign}{show(text, 200)}", width, glyphs.ellipsis)
            row.append((cell, f"{style} cursor".strip() if here and self.has_focus else style))
            row.append((" ", ""))
        return tuple(row)
