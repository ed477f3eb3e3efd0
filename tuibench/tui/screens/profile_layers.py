"""The table of all layers: sorted, filtered, and each one opened for everything that is known of it."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.message import Message

from tuibench.tui import key
from tuibench.tui.screens.profile_book import Book
from tuibench.tui.screens.profile_pane import ProfilePane
from tuibench.tui.widgets.filter_line import FilterLine
from tuibench.tui.widgets.record_table import Line, RecordTable
from tuibench.tui.widgets.text_block import TextBlock
from tuibench.tui.widgets.title_line import RuleLine


class LayersPane(ProfilePane):
    """Only lines in sight are made, however many there are."""

    BINDINGS: ClassVar[list[BindingType]] = key.bindings(only=("filter", "sort", "reverse"))

    class Changed(Message):
        """Another order or filter: what is said above the table."""

    def __init__(self, book: Book, *, id: str) -> None:  # noqa: A002 - Textual's name
        super().__init__(book, id=id)
        self.text = ""
        self.bar = ""
        """Label of the one whose layers are shown alone."""
        self._sort = book.sorts[0]
        self._is_reversed = False

    def compose(self) -> ComposeResult:
        """The table, and what is under its cursor."""
        yield RecordTable(id="layers-table")
        yield RuleLine()
        yield TextBlock(id="layer")

    def on_mount(self) -> None:
        """In the usual order."""
        self._sort, self._is_reversed = self.book.sorts[0], False
        self.refresh_lines()

    @property
    def table(self) -> RecordTable:
        """The lines."""
        return self.query_one(RecordTable)

    def words(self) -> str:
        """How it is sorted and filtered, for the line of tabs."""
        order = f"by {self._sort}" + (" reversed" if self._is_reversed else "")
        count = len(self.table.keys)
        shown = f"only {self.bar}: {count}" if self.bar else f"{count} rows" if not self.text else f"{count}"
        shown += f" with {self.text!r}" if self.text else ""
        return f" {self.dashboard.glyphs.dot} ".join(filter(None, (self.book.unit, order, shown)))

    def refresh_lines(self) -> None:
        """The table again; it sends what differs."""
        book, glyphs = self.book, self.dashboard.glyphs

        def line(one: str) -> Line:
            return book.line(one, glyphs)

        of = f" of {self.bar}" if self.bar else ""
        nothing = (f"No layer{of} has all of these words: {self.text}", "", "esc   all of them again")
        self.table.empty = nothing if self.text else ("There are no layers.",)
        self.table.show_rows(book.columns(glyphs), book.keys(self._sort, self._is_reversed, self.text, self.bar), line)
        self._show_layer()

    def filter_by(self, text: str) -> None:
        """Only layers with all of these words."""
        if text != self.text:
            self.text = text
            self.refresh_lines()
            self.post_message(self.Changed())

    def show_bar(self, label: str) -> None:
        """Only layers that a bar stands for, '' for all."""
        self.bar, self.text = label, ""
        self.refresh_lines()
        self.post_message(self.Changed())

    def on_record_table_cursor_moved(self, message: RecordTable.CursorMoved) -> None:
        """Another layer."""
        message.stop()
        self._show_layer()

    def _show_layer(self) -> None:
        one = self.table.cursor_key
        lines = self.book.brief(one, self.dashboard.glyphs) if one is not None else ()
        self.query_one("#layer", TextBlock).show_lines(lines)

    def on_record_table_opened(self, message: RecordTable.Opened) -> None:
        """All that is known of one."""
        message.stop()
        self.open_layer(message.key)

    def action_filter(self) -> None:
        """Type words, in the line that the screen has for it."""
        self.screen.query_one(FilterLine).open_with(self.text)

    def action_sort(self) -> None:
        """By the next column."""
        sorts = self.book.sorts
        self._sort = sorts[(sorts.index(self._sort) + 1) % len(sorts)]
        self._resort()

    def action_reverse(self) -> None:
        """The other way round."""
        self._is_reversed = not self._is_reversed
        self._resort()

    def _resort(self) -> None:
        was_first = self.table.cursor_key in self.table.keys[:1]
        self.refresh_lines()
        if was_first:
            # Who looks at the first ones wants to see which these are now.
            self.table.move_to_end(False)
        self.post_message(self.Changed())
