"""A list of records of any length: only lines in sight are made, and only lines that changed are sent."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual import events
from textual.binding import BindingType
from textual.message import Message
from textual.reactive import var

from tuibench.tui.key import bindings
from tuibench.tui.widgets.column import Column, Layout, lay_out
from tuibench.tui.widgets.moving import Moving
from tuibench.tui.widgets.place import Place
from tuibench.tui.widgets.row import Row, cut_shared, fit, safe, skip

__all__ = ["Column", "Line", "RecordTable"]

GUTTER = 2
"""The signs of the cursor and of a mark, before the first column."""
_STEP = 8


@dataclass(frozen=True, slots=True)
class Line:
    """One record as the table shows it; the table makes foreign text safe."""

    key: str
    cells: tuple[str, ...]
    """One per column, also for those that do not fit."""
    style: str = ""
    """One of tui/theme.py, for the whole line."""


class RecordTable(Moving):
    """Columns, lines and a cursor that stays with its record whatever comes and goes around it."""

    BINDINGS: ClassVar[list[BindingType]] = bindings("open", "wide")
    wide: var[bool] = var(False)
    """Whether all columns are shown, to be scrolled sideways."""

    class CursorMoved(Message):
        """Another record is under the cursor, or none."""

        def __init__(self, table: RecordTable, key: str | None) -> None:
            super().__init__()
            self.table = table
            self.key = key

        @property
        def control(self) -> RecordTable:
            """The table, for `@on` with a selector."""
            return self.table

        def can_replace(self, message: Message) -> bool:
            """A held key makes many, of which the last one counts."""
            return isinstance(message, RecordTable.CursorMoved) and message.table is self.table

    class Opened(Message):
        """Enter on a record."""

        def __init__(self, table: RecordTable, key: str) -> None:
            super().__init__()
            self.table = table
            self.key = key

        @property
        def control(self) -> RecordTable:
            """The table, for `@on` with a selector."""
            return self.table

    class Widened(Message):
        """All columns are shown now, or those that fit: other keys do something."""

    def __init__(
        self,
        columns: Sequence[Column] = (),
        *,
        empty: str | Sequence[str] = "",
        header: bool = True,
        id: str | None = None,  # noqa: A002 - Textual's name
        classes: str | None = None,
    ) -> None:
        super().__init__(id=id, classes=classes)
        self._columns = tuple(columns)
        self._place = Place()
        self._make: Callable[[str], Line] = _no_line
        self._lines: dict[str, Line] = {}
        self._marks: frozenset[str] = frozenset()
        self._empty = _lines_of(empty)
        self._head = 1 if header else 0
        self._left = 0
        self._told: str | None = None

    # What is shown

    def show_lines(
        self, columns: Sequence[Column], lines: Sequence[Line], *, marks: Collection[str] = frozenset()
    ) -> None:
        """Show these lines."""
        by_key = {line.key: line for line in lines}
        self.show_rows(columns, list(by_key), by_key.__getitem__, marks=marks)

    def show_rows(
        self,
        columns: Sequence[Column],
        keys: Sequence[str],
        render: Callable[[str], Line],
        *,
        marks: Collection[str] = frozenset(),
    ) -> None:
        """Show a line per key, in this order; `render` is called for those in sight."""
        self._columns = tuple(columns)
        self._make = render
        self._lines = {}
        self._marks = frozenset(marks)
        if (new := tuple(keys)) != (old := self._place.keys):
            if len(new) != len(old) and self.styles.is_auto_height:
                self.refresh(layout=True)
            self._place.take(new, self.page)
        self.repaint()
        self._tell()

    def show_ages(self) -> None:
        """Render the lines in sight again."""
        self._lines = {}
        self.repaint()

    def show_marks(self, marks: Collection[str]) -> None:
        """Mark these records and no others."""
        self._marks = frozenset(marks)
        self.repaint()

    @property
    def empty(self) -> tuple[str, ...]:
        """What is said where there are no lines: best which key makes some."""
        return self._empty

    @empty.setter
    def empty(self, lines: str | Sequence[str]) -> None:
        """Say something else."""
        self._empty = _lines_of(lines)
        self.repaint()

    # Where the cursor is

    @property
    def keys(self) -> Sequence[str]:
        """The records, in the order shown."""
        return self._place.keys

    @property
    def cursor_key(self) -> str | None:
        """The record under the cursor; None where there are none."""
        return self._place.key

    def move_to(self, key: str) -> bool:
        """Put the cursor on a record; False where it is not shown."""
        if key not in self._place.keys:
            return False
        self.move(self._place.keys.index(key) - self._place.cursor)
        return True

    @property
    def page(self) -> int:
        """Records that are seen at once."""
        # Before there is a size everything is in sight, so that nothing is scrolled away yet.
        return max(self.size.height - self._head, 1) if self.size.height else max(len(self._place.keys), 1)

    def move(self, by: int) -> None:
        """Move the cursor, and what is seen with it."""
        self._place.move(by, self.page)
        self.repaint()
        self._tell()

    def move_to_end(self, last: bool) -> None:
        """Move the cursor to the first record or the last."""
        self.move(len(self._place.keys) if last else -len(self._place.keys))

    def _tell(self) -> None:
        if self.cursor_key != self._told:
            self._told = self.cursor_key
            self.post_message(self.CursorMoved(self, self._told))

    # What is painted

    def get_content_height(self, *_: object) -> int:
        """As many lines as there are, where the height is left to the table."""
        return max(len(self._place.keys), len(self._empty)) + self._head

    @property
    def dropped(self) -> tuple[str, ...]:
        """Titles of the columns that there is no room for; `wide` shows them."""
        return self._columns_now().dropped

    def _columns_now(self) -> Layout:
        return lay_out(self._columns, self.size.width - GUTTER, self.wide)

    def row(self, y: int) -> Row:
        """The titles, then the records in sight."""
        if not self._place.keys:
            return ((" " + self._empty[y], "dim"),) if y < len(self._empty) else ()
        if y < self._head:
            cells = tuple(column.title for column in self._columns)
            return ((" " * GUTTER + self._cells(cells), "title"),)
        at = self._place.top + y - self._head
        if at >= len(self._place.keys):
            return ()
        key = self._place.keys[at]
        if key not in self._lines:
            self._lines[key] = self._make(key)
        line = self._lines[key]
        glyphs = self.glyphs
        here = at == self._place.cursor
        gutter = (glyphs.cursor if here else " ") + (glyphs.mark if key in self._marks else " ")
        style = f"{line.style} cursor" if here and self.has_focus else line.style
        return ((fit(gutter + self._cells(line.cells), self.size.width, glyphs.ellipsis), style),)

    def _cells(self, cells: tuple[str, ...]) -> str:
        ellipsis, layout = self.glyphs.ellipsis, self._columns_now()
        texts = []
        for at, width in layout.shown:
            cell, column = cells[at] if at < len(cells) else "", self._columns[at]
            if column.middle:
                cell = cut_shared(self.legible(safe(cell)), width, column.shared, ellipsis)
            texts.append(fit(self.legible(safe(cell, 4 * width + 8)), width, ellipsis, column.right))
        standing = layout.frozen(self._columns, self.size.width - GUTTER) if self._left else 0
        return " ".join([*texts[:standing], skip(" ".join(texts[standing:]), self._left)])

    # Keys and events

    def action_open(self) -> None:
        """Open the record under the cursor."""
        if (key := self.cursor_key) is not None:
            self.post_message(self.Opened(self, key))

    def action_wide(self) -> None:
        """Show all columns, or those that fit."""
        self.wide = not self.wide

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Keys without a meaning here are left to the screen: enter on an empty table, left and right unless wide."""
        if action == "open":
            return bool(self._place.keys)
        return self.wide if action in ("scroll_left", "scroll_right") else True

    def action_scroll_left(self) -> None:
        """See what is further left."""
        self._left = max(self._left - _STEP, 0)
        self.repaint()

    def action_scroll_right(self) -> None:
        """See what is further right."""
        self._left = max(min(self._left + _STEP, self._columns_now().width + GUTTER - self.size.width), 0)
        self.repaint()

    def watch_wide(self) -> None:
        """All columns begin at the left."""
        self._left = 0
        self.repaint()
        self.post_message(self.Widened())

    def on_resize(self) -> None:
        """The cursor stays in sight."""
        self._place.follow(self.page)
        self.repaint()

    def on_click(self, event: events.Click) -> None:
        """Where a mouse was asked for: the first click goes there, the second opens."""
        at = self._place.top + event.y - self._head
        if event.y >= self._head and at < len(self._place.keys):
            was, self._place.cursor = self._place.cursor, at
            self.repaint()
            self._tell()
            if was == at:
                self.action_open()


def _lines_of(text: str | Sequence[str]) -> tuple[str, ...]:
    lines = text.split("\n") if isinstance(text, str) else text
    return tuple(safe(line) for line in lines)


def _no_line(key: str) -> Line:
    return Line(key, ())
