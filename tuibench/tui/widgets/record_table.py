"""A table of records of any length: renders only visible lines and sends only changed ones."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, ClassVar, TypeVar

from textual import events
from textual.binding import BindingType
from textual.message import Message
from textual.reactive import var

from tuibench.core.text import cut_shared, fit, skip
from tuibench.present.plots.drawing import Row
from tuibench.present.table import Column, Layout, lay_out
from tuibench.tui.key import bindings
from tuibench.tui.widgets.painted import safe
from tuibench.tui.widgets.text_block import Movable


class Place:
    """Cursor and first visible line of a list of keys."""

    def __init__(self) -> None:
        self.keys: tuple[str, ...] = ()
        self.cursor = 0
        self.top = 0
        self._missing: str | None = None

    @property
    def key(self) -> str | None:
        """The key of the record under the cursor; None if the list is empty."""
        return self.keys[self.cursor] if self.keys else None

    def take(self, keys: tuple[str, ...], page: int) -> None:
        """Replace the list and stay on the same record, or on the next remaining one if that is gone.

        A record that alone was gone and comes back before the next move gets the cursor again, such as a run that
        becomes a result.
        """
        old, at, above = self.keys, self.cursor, self.cursor - self.top
        index = {key: n for n, key in enumerate(keys)}
        near = chain(range(at, len(old)), range(at - 1, -1, -1))
        if (wanted := self._missing or self.key) in index:
            self.cursor, self._missing = index[wanted], None
        else:
            self.cursor = next((index[old[n]] for n in near if old[n] in index), 0)
            self._missing = wanted if all(key in index for key in old if key != wanted) else None
        self.keys = keys
        # On the first page, new lines above are shown; further down the view stays as it was.
        self.top = self.cursor - above if self.top else 0
        self.follow(page)

    def move(self, by: int, page: int) -> None:
        """Move the cursor; a move of more than one line scrolls the view as far."""
        at = min(max(self.cursor + by, 0), max(len(self.keys) - 1, 0))
        if abs(by) > 1:
            self.top += at - self.cursor
        self.cursor, self._missing = at, None
        self.follow(page)

    def follow(self, page: int) -> None:
        """Scroll so that the cursor is within a page of `page` lines."""
        # A step out of view scrolls half a page: every scroll sends all lines again, and keys repeat fast.
        if self.cursor < self.top:
            self.top = min(self.cursor, self.top - page // 2)
        elif self.cursor >= self.top + page:
            self.top = max(self.cursor - page + 1, self.top + page // 2)
        self.top = max(min(self.top, len(self.keys) - page), 0)


R = TypeVar("R")
GUTTER = 2
"""Columns before the first table column: the cursor sign and the mark."""
_STEP = 8


@dataclass(frozen=True, slots=True)
class Line:
    """One record as the table shows it; the table makes its texts safe to print."""

    key: str
    cells: tuple[str, ...]
    """One cell per column, including columns that do not fit."""
    style: str = ""
    """Style of the whole line, a name that `style_of` in `painted.py` knows."""


def line_of(columns: Sequence[Column[R]], key: str, row: R, style: str = "") -> Line:
    """Return a row as a line of the table."""
    return Line(key, tuple(column.text(row) for column in columns), style)


class RecordTable(Movable):
    """A table whose cursor stays on its record while other records are added and removed."""

    BINDINGS: ClassVar[list[BindingType]] = bindings("open", "wide")
    wide: var[bool] = var(False)
    """True if all columns are shown and the table scrolls sideways."""

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
            """Replace an unhandled older message: a held key posts many, and only the last counts."""
            return isinstance(message, RecordTable.CursorMoved) and message.table is self.table

    class Opened(Message):
        """Enter was pressed on a record."""

        def __init__(self, table: RecordTable, key: str) -> None:
            super().__init__()
            self.table = table
            self.key = key

        @property
        def control(self) -> RecordTable:
            """The table, for `@on` with a selector."""
            return self.table

    class Widened(Message):
        """The table switched between all columns and those that fit; the footer's keys change with it."""

    def __init__(
        self,
        columns: Sequence[Column[Any]] = (),
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

    # Content

    def show_lines(
        self, columns: Sequence[Column[Any]], lines: Sequence[Line], *, marks: Collection[str] = frozenset()
    ) -> None:
        """Show these lines."""
        by_key = {line.key: line for line in lines}
        self.show_rows(columns, list(by_key), by_key.__getitem__, marks=marks)

    def show_rows(
        self,
        columns: Sequence[Column[Any]],
        keys: Sequence[str],
        render: Callable[[str], Line],
        *,
        marks: Collection[str] = frozenset(),
    ) -> None:
        """Show a line per key, in this order; `render` is called for visible ones."""
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
        """Render the visible lines again."""
        self._lines = {}
        self.repaint()

    def show_marks(self, marks: Collection[str]) -> None:
        """Mark exactly these records."""
        self._marks = frozenset(marks)
        self.repaint()

    @property
    def empty(self) -> tuple[str, ...]:
        """Text shown if there are no lines, preferably naming the key that creates one."""
        return self._empty

    @empty.setter
    def empty(self, lines: str | Sequence[str]) -> None:
        """Replace the text shown if there are no lines."""
        self._empty = _lines_of(lines)
        self.repaint()

    # Cursor

    @property
    def keys(self) -> Sequence[str]:
        """Keys of the records, in the order shown."""
        return self._place.keys

    @property
    def cursor_key(self) -> str | None:
        """Key of the record under the cursor; None if there are no records."""
        return self._place.key

    def move_to(self, key: str) -> bool:
        """Move the cursor to a record; return False if it is not in the table."""
        if key not in self._place.keys:
            return False
        self.move(self._place.keys.index(key) - self._place.cursor)
        return True

    @property
    def page(self) -> int:
        """Number of records visible at once."""
        # Without a size, count all records as visible, so that nothing is scrolled away yet.
        return max(self.size.height - self._head, 1) if self.size.height else max(len(self._place.keys), 1)

    def move(self, by: int) -> None:
        """Move the cursor and scroll with it."""
        self._place.move(by, self.page)
        self.repaint()
        self._tell()

    def move_to_end(self, last: bool) -> None:
        """Move the cursor to the first or the last record."""
        self.move(len(self._place.keys) if last else -len(self._place.keys))

    def _tell(self) -> None:
        if self.cursor_key != self._told:
            self._told = self.cursor_key
            self.post_message(self.CursorMoved(self, self._told))

    # Painting

    def get_content_height(self, *_: object) -> int:
        """Return the number of lines, used if the table's height is automatic."""
        return max(len(self._place.keys), len(self._empty)) + self._head

    @property
    def dropped(self) -> tuple[str, ...]:
        """Titles of the columns that do not fit; `wide` shows them."""
        return self._columns_now().dropped

    def _columns_now(self) -> Layout:
        return lay_out(self._columns, self.size.width - GUTTER, self.wide)

    def row(self, y: int) -> Row:
        """Return the titles or a visible record."""
        if not self._place.keys:
            return ((" " + self._empty[y], "dim"),) if y < len(self._empty) else ()
        if y < self._head:
            cells = tuple(column.head or column.title for column in self._columns)
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
                before, after = map(safe, column.shared)
                cell = cut_shared(self.legible(safe(cell)), width, (before, after), ellipsis)
            texts.append(fit(self.legible(safe(cell, 4 * width + 8)), width, ellipsis, column.right))
        standing = layout.frozen(self._columns, self.size.width - GUTTER) if self._left else 0
        return " ".join([*texts[:standing], skip(" ".join(texts[standing:]), self._left)])

    # Keys and events

    def action_open(self) -> None:
        """Post Opened for the record under the cursor."""
        if (key := self.cursor_key) is not None:
            self.post_message(self.Opened(self, key))

    def action_wide(self) -> None:
        """Switch between all columns and those that fit."""
        self.wide = not self.wide

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Leave unused keys to the screen: enter in an empty table, left and right unless `wide`."""
        if action == "open":
            return bool(self._place.keys)
        return self.wide if action in ("scroll_left", "scroll_right") else True

    def action_scroll_left(self) -> None:
        """Scroll to the left."""
        self._left = max(self._left - _STEP, 0)
        self.repaint()

    def action_scroll_right(self) -> None:
        """Scroll to the right."""
        self._left = max(min(self._left + _STEP, self._columns_now().width + GUTTER - self.size.width), 0)
        self.repaint()

    def watch_wide(self) -> None:
        """Scroll back to the left end."""
        self._left = 0
        self.repaint()
        self.post_message(self.Widened())

    def on_resize(self) -> None:
        """Keep the cursor in view."""
        self._place.follow(self.page)
        self.repaint()

    def on_click(self, event: events.Click) -> None:
        """Handle the mouse, if enabled: the first click moves the cursor, the second opens the record."""
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
