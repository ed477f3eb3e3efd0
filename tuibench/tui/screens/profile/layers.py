"""Tab of the layers of a profile: the figure over the depth of the model, the table, and the filter."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.message import Message

from tuibench.present.plots.depth import Depth, draw_depth
from tuibench.present.plots.drawing import Row
from tuibench.present.profile.view import ProfileView
from tuibench.tui import key
from tuibench.tui.screens.profile.pane import ChoicePane, ProfilePane
from tuibench.tui.widgets.field import FilterLine
from tuibench.tui.widgets.painted import shown
from tuibench.tui.widgets.record_table import Line, RecordTable, line_of
from tuibench.tui.widgets.text_block import CursorList, TextBlock
from tuibench.tui.widgets.title_line import RuleLine, SelectorLine


class LayersPane(ProfilePane):
    """Formats only the visible lines."""

    BINDINGS: ClassVar[list[BindingType]] = key.bindings(only=("filter", "sort", "reverse"))

    class Changed(Message):
        """Posted when order or filter changes, to update the line above the table."""

    def __init__(self, view: ProfileView[Any], *, id: str) -> None:  # noqa: A002 - Textual's name
        super().__init__(view, id=id)
        self.text = ""
        self.bar = ""
        """Label of the bar that filters the layers."""
        self._sort = view.sorts[0]
        self._is_reversed = False

    def compose(self) -> ComposeResult:
        """Yield the table, and the lines on the layer under its cursor."""
        yield RecordTable(id="layers-table")
        yield RuleLine()
        yield TextBlock(id="layer")

    def on_mount(self) -> None:
        """Show the layers in the default order."""
        self._sort, self._is_reversed = self.view.sorts[0], False
        self.refresh_lines()

    @property
    def table(self) -> RecordTable:
        """The table of layers."""
        return self.query_one(RecordTable)

    def words(self) -> str:
        """Return order and filter in words, for the line of tabs."""
        order = f"by {self._sort}" + (" reversed" if self._is_reversed else "")
        count = len(self.table.keys)
        shown = f"only {self.bar}: {count}" if self.bar else f"{count} rows" if not self.text else f"{count}"
        shown += f" with {self.text!r}" if self.text else ""
        return f" {self.dashboard.glyphs.dot} ".join(filter(None, (self.view.unit, order, shown)))

    def refresh_lines(self) -> None:
        """Show the table again; only changed lines are sent."""
        view = self.view

        def line(one: str) -> Line:
            row = view.row(one)
            return line_of(view.columns, one, row, view.style(row))

        of = f" of {self.bar}" if self.bar else ""
        nothing = (f"No layer{of} has all of these words: {self.text}", "", "esc   all of them again")
        self.table.empty = nothing if self.text else ("There are no layers.",)
        self.table.show_rows(view.columns, view.keys(self._sort, self._is_reversed, self.text, self.bar), line)
        self._show_layer()

    def filter_by(self, text: str) -> None:
        """Show only layers with all of these words."""
        if text != self.text:
            self.text = text
            self.refresh_lines()
            self.post_message(self.Changed())

    def show_bar(self, label: str) -> None:
        """Show only the layers of a bar, '' for all."""
        self.bar, self.text = label, ""
        self.refresh_lines()
        self.post_message(self.Changed())

    def on_record_table_cursor_moved(self, message: RecordTable.CursorMoved) -> None:
        """Show the layer under the cursor."""
        message.stop()
        self._show_layer()

    def _show_layer(self) -> None:
        one = self.table.cursor_key
        lines = self.view.brief(self.view.row(one)) if one is not None else ()
        self.query_one("#layer", TextBlock).show_lines(lines)

    def on_record_table_opened(self, message: RecordTable.Opened) -> None:
        """Show all facts of a layer."""
        message.stop()
        self.open_layer(message.key)

    def action_filter(self) -> None:
        """Open the screen's filter line."""
        self.screen.query_one(FilterLine).open_with(self.text)

    def action_sort(self) -> None:
        """Sort by the next column."""
        sorts = self.view.sorts
        self._sort = sorts[(sorts.index(self._sort) + 1) % len(sorts)]
        self._resort()

    def action_reverse(self) -> None:
        """Reverse the order."""
        self._is_reversed = not self._is_reversed
        self._resort()

    def _resort(self) -> None:
        was_first = self.table.cursor_key in self.table.keys[:1]
        self.refresh_lines()
        if was_first:
            # A cursor on the first row stays on the first row.
            self.table.move_to_end(False)
        self.post_message(self.Changed())


class DepthFigure(CursorList):
    """The plot; the keys of lists move its cursor."""

    def __init__(self, *, id: str) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id)
        self._depth = Depth("", (), ())
        self._rows: tuple[Row, ...] = ()
        self._drawn_for: object = None

    def show_depth(self, depth: Depth) -> None:
        """Show new values and keep the cursor on its layer."""
        held = self.under
        self._depth = replace(depth, title=self.legible(depth.title), empty=self.legible(depth.empty))
        self.at = depth.keys.index(held) if held in depth.keys else 0
        self._drawn_for = None
        self.repaint()
        self.post_message(self.Moved())

    @property
    def count(self) -> int:
        """Number of layers."""
        return len(self._depth.keys)

    @property
    def under(self) -> str:
        """Key of the layer under the cursor; '' if there is none."""
        return self._depth.keys[self.at] if self.at < len(self._depth.keys) else ""

    @property
    def page(self) -> int:
        """A tenth of all layers."""
        return max(len(self._depth.keys) // 10, 1) + 1

    def row(self, y: int) -> Row:
        """Return line `y` of the figure, which fills the widget."""
        wanted = (self.size, self.at)
        if self._depth.title and wanted != self._drawn_for:
            ascii_only = bool(getattr(self.app, "ascii_only", False))
            self._rows = draw_depth(self._depth, *self.size, cursor=self.at, ascii_only=ascii_only)
            self._drawn_for = wanted
        return shown(self._rows[y]) if y < len(self._rows) else ()


class DepthPane(ChoicePane):
    """The Depth tab: selectors, figure, and the layer under the cursor."""

    def __init__(self, view: ProfileView[Any], *, id: str) -> None:  # noqa: A002 - Textual's name
        super().__init__(view, id=id)
        self._depth: Depth | None = None

    def compose(self) -> ComposeResult:
        """Yield the selectors, the figure and the layer's lines."""
        yield SelectorLine(id="choices")
        yield RuleLine()
        yield DepthFigure(id="depth-figure")
        yield RuleLine()
        yield TextBlock(id="depth-layer")

    def on_mount(self) -> None:
        """Show the last choice."""
        self.update_choices()

    @property
    def figure(self) -> DepthFigure:
        """The plot."""
        return self.query_one(DepthFigure)

    def draw(self) -> None:
        """Draw the chosen values."""
        self._depth = self.view.depth(self.chosen_kind, self.chosen_display)
        self.figure.show_depth(self._depth)

    def on_cursor_list_moved(self, message: CursorList.Moved) -> None:
        """Show the layer under the cursor."""
        message.stop()
        depth, figure = self._depth, self.figure
        block = self.query_one("#depth-layer", TextBlock)
        if depth is None or not figure.under:
            block.show_lines(())
            return
        first = f" {figure.at + 1} of {len(depth.keys)}  {depth.texts[figure.at]}"
        block.show_lines([(first, "title"), *self.view.brief(self.view.row(figure.under))[:2]])

    def on_cursor_list_opened(self, message: CursorList.Opened) -> None:
        """Show all facts of the layer."""
        message.stop()
        self.open_layer(self.figure.under)
