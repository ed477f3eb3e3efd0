"""The list of a project's benchmarks, with a preview of the row under the cursor."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, cast

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.message import Message

from tuibench.core.activity import RunRow
from tuibench.core.errors import StoreDamaged, TuibenchError
from tuibench.core.stored import BenchmarkRow
from tuibench.core.units import count_of
from tuibench.present.error.words import hint_words, message_words
from tuibench.services.api import Services
from tuibench.tui import key
from tuibench.tui.screens.benchmark.preview import fold, preview_of, preview_of_run
from tuibench.tui.screens.benchmark.rows import SORTS, BenchmarkRows
from tuibench.tui.widgets.field import FilterLine
from tuibench.tui.widgets.painted import Glyphs, LineLike
from tuibench.tui.widgets.record_table import Line, RecordTable
from tuibench.tui.widgets.text_block import TextBlock
from tuibench.tui.widgets.title_line import RuleLine

if TYPE_CHECKING:
    from tuibench.tui.screens.base import Page

_KEPT = 100
"""Number of cached previews."""
_LOW = 10
"""Height below which the preview is hidden; with it, three lines are left for benchmarks."""
_EMPTY = (
    "No benchmark yet.",
    "",
    "n   new benchmark: choose engines, cores and batches; shows the time first",
)

Shown = tuple[str, int, int]
"""Id, metadata generation and width: the key of a cached preview."""


class BenchmarkList(Vertical):
    """Table and preview; sorted, filtered and marked by keys."""

    BINDINGS: ClassVar[list[BindingType]] = key.bindings("list")
    word: ClassVar[str] = "Benchmarks"
    """Noun for the list's title."""
    sorts: ClassVar[tuple[str, ...]] = SORTS
    kept: ClassVar[str] = "benchmarks"
    """Prefix of the names under which the sort order is remembered."""
    nothing: tuple[str, ...] = _EMPTY
    """Text of an empty list."""

    class Changed(Message):
        """The order, the filter, or the number of rows or marks changed, and with it the words above the list."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        self.rows = self.make_rows()
        self.sort = self.sorts[0]
        self.is_reversed = False
        self.text = ""
        self.marks: frozenset[str] = frozenset()
        self._previews: OrderedDict[Shown, list[LineLike]] = OrderedDict()
        self._asked: Shown | None = None
        self.damaged: set[str] = set()
        """Records that could not be read for a preview; the list itself is made without reading records."""

    def compose(self) -> ComposeResult:
        """Yield the table, a rule and the preview."""
        yield RecordTable(id="list")
        yield RuleLine()
        yield TextBlock(id="preview")

    def on_mount(self) -> None:
        """Restore the remembered order."""
        kept = self.page.dashboard.remembered.read()
        by = kept.get(f"{self.kept}_by")
        self.sort = by if by in self.sorts else self.sorts[0]
        self.is_reversed = kept.get(f"{self.kept}_reversed") is True

    # Kind of list

    def make_rows(self, rows: Sequence[BenchmarkRow] = (), runs: Sequence[RunRow] = ()) -> BenchmarkRows:
        """Return the rows of the list."""
        return BenchmarkRows(rows, runs)

    def runs_of_mine(self, runs: Sequence[RunRow]) -> tuple[RunRow, ...]:
        """Return the runs that belong to this list."""
        return tuple(row for row in runs if not row.info.kind)

    def preview_of_theory(self, name: str) -> list[LineLike] | None:
        """Return the preview of a row that is neither a record nor a run; None for any other row."""
        return None

    def preview(self, name: str, services: Services, width: int, glyphs: Glyphs, ascii_only: bool) -> list[LineLike]:
        """Return the preview of a record; runs in a thread, since it reads from the services."""
        return preview_of(services.library.get(name), width, glyphs, ascii_only)

    @property
    def table(self) -> RecordTable:
        """The table of rows."""
        return self.query_one("#list", RecordTable)

    @property
    def page(self) -> Page:
        """The screen, which runs queries."""
        return cast("Page", self.screen)

    # Rows

    def show(self, rows: Sequence[BenchmarkRow], runs: Sequence[RunRow]) -> None:
        """Replace all rows, with the current order and filter."""
        self._forget_damage()
        self.rows = self.make_rows(rows, runs)
        self.damaged &= self.rows.stored.keys()
        self.marks &= self.rows.ids
        self.refresh_lines()

    def show_runs(self, runs: Sequence[RunRow]) -> None:
        """Replace the rows of runs; stored records are unchanged."""
        self.rows.replace_runs(runs)
        self.refresh_lines()

    def refresh_lines(self) -> None:
        """Update the table; it sends only differences."""
        now, glyphs = self.page.dashboard.now, self.page.dashboard.glyphs
        rows = self.rows

        def line(name: str) -> Line:
            return rows.line(name, now(), glyphs, damaged=name in self.damaged)

        keys = rows.keys(self.sort, self.is_reversed, self.text)
        words = (f"No match for: {self.text}", "", "esc   clear the filter")
        self.table.empty = words if self.text else self.nothing
        self.table.show_rows(rows.columns, keys, line, marks=self.marks)
        self._show_preview()
        self.post_message(self.Changed())

    def words(self) -> str:
        """Return the order, the filter and the number of marks in words."""
        order = "newest first" if self.sort == "age" else f"by {self.sort}"
        if self.is_reversed:
            order = "oldest first" if self.sort == "age" else f"{order} reversed"
        shown = len(self.table.keys)
        parts = [f"{len(self.marks)} marked"] if self.marks else []
        # The number of marks replaces "no filter".
        without = [] if self.marks else ["no filter"]
        parts += [order, *([f"{shown} of {len(self.rows)} with {self.text!r}"] if self.text else without)]
        return f" {self.page.dashboard.glyphs.dot} ".join(parts)

    # Preview

    def on_record_table_cursor_moved(self, message: RecordTable.CursorMoved) -> None:
        """Show the preview of the row under the cursor."""
        message.stop()
        self._forget_damage()
        self._show_preview()

    def on_resize(self) -> None:
        """Hide the preview of a low list, so that the table gets its lines."""
        self.set_class(self.size.height < _LOW, "-low")
        self._show_preview()

    def _show_preview(self) -> None:
        name = self.table.cursor_key
        glyphs = self.page.dashboard.glyphs
        if self.has_class("hidden"):
            return  # a hidden list reads nothing
        if name is None:
            self._paint(())
        elif (said := self.preview_of_theory(name)) is not None:
            self._paint(fold(said, self.size.width - 2))
        elif name in self.rows.runs:
            self._paint(preview_of_run(self.rows.runs[name], self.size.width - 2, glyphs))
        elif name in self.rows.stored:
            wanted = (name, self.rows.stored[name].card_generation, self.size.width)
            if wanted in self._previews:
                self._previews.move_to_end(wanted)
                self._paint(self._previews[wanted])
            elif self._asked is None:
                # Load one at a time: while a key is held, only the row where the cursor stops has to be read.
                self._ask_preview(wanted)

    def _ask_preview(self, wanted: Shown) -> None:
        self._asked = wanted
        page = self.page
        app, services = page.dashboard, page.services
        name, _, width = wanted
        page.request(
            lambda: self.preview(name, services, width - 2, app.glyphs, app.ascii_only),
            lambda lines: self._take_preview(wanted, lines),
            group=f"preview of {self.kept}",
            otherwise=lambda error: self._refuse_preview(wanted, error),
        )

    def _take_preview(self, wanted: Shown, lines: list[LineLike]) -> None:
        """Show the preview of a record; remove its damaged mark if it has one."""
        self._keep_preview(wanted, lines)
        if wanted[0] in self.damaged:
            self.damaged.discard(wanted[0])
            self.refresh_lines()

    def _forget_damage(self) -> None:
        """Drop the cached previews of damaged records, so that they are read again: their files may be repaired."""
        for wanted in [one for one in self._previews if one[0] in self.damaged]:
            del self._previews[wanted]

    def _refuse_preview(self, wanted: Shown, error: TuibenchError) -> None:
        """Show the error in place of the preview; mark a damaged record."""
        self._keep_preview(wanted, fold(_reason(error), wanted[2] - 2))
        if isinstance(error, StoreDamaged) and wanted[0] not in self.damaged:
            self.damaged.add(wanted[0])
            self.refresh_lines()

    def _keep_preview(self, wanted: Shown, lines: list[LineLike]) -> None:
        self._asked = None
        self._previews[wanted] = lines
        while len(self._previews) > _KEPT:
            self._previews.popitem(last=False)
        self._show_preview()

    def _paint(self, lines: Sequence[LineLike]) -> None:
        self.query_one("#preview", TextBlock).show_lines([_set_in(line) for line in lines])

    # Keys

    def action_filter(self) -> None:
        """Open the screen's filter line."""
        self.screen.query_one(FilterLine).open_with(self.text)

    def action_sort(self) -> None:
        """Sort by the next column."""
        self.sort = self.sorts[(self.sorts.index(self.sort) + 1) % len(self.sorts)]
        self._resort()

    def action_reverse(self) -> None:
        """Reverse the order."""
        self.is_reversed = not self.is_reversed
        self._resort()

    def _resort(self) -> None:
        self.page.dashboard.remember(**{f"{self.kept}_by": self.sort, f"{self.kept}_reversed": self.is_reversed})
        self.refresh_lines()

    def action_mark(self) -> None:
        """Mark or unmark the row under the cursor, then move down."""
        if (name := self.table.cursor_key) is not None:
            self.show_marks(self.marks ^ {name})
            self.table.action_down()

    def action_mark_all(self) -> None:
        """Mark all visible rows; unmark them if all are marked."""
        shown = self.rows.ids.intersection(self.table.keys)
        self.show_marks(frozenset() if shown <= self.marks else self.marks | shown)

    def show_marks(self, marks: frozenset[str]) -> None:
        """Replace the marks."""
        self.marks = marks & self.rows.ids
        self.table.show_marks(self.marks)
        self.post_message(self.Changed())

    def filter_by(self, text: str) -> None:
        """Show only rows with all of these words."""
        if text != self.text:
            self.text = text
            self.refresh_lines()

    def marked(self) -> tuple[str, ...]:
        """Return the marked ids in the order of the list, then those that the filter hides."""
        shown = [name for name in self.table.keys if name in self.marks]
        return (*shown, *sorted(self.marks.difference(shown), reverse=True))

    def heading(self) -> str:
        """Return the title of the list, with its numbers of records and runs."""
        going = len(self.rows.runs)
        return f"{self.word} ({len(self.rows.stored)})" + (f", {count_of(going, 'run')}" if going else "")


def _reason(error: TuibenchError) -> list[LineLike]:
    """Return the reason why a record cannot be shown, and a hint."""
    return [(message_words(error), "bad"), (hint_words(error), "")]


def _set_in(line: LineLike) -> LineLike:
    if isinstance(line, str):
        return f" {line}"
    if isinstance(line[0], str):
        return (f" {line[0]}", line[1])  # type: ignore[return-value]
    return [(" ", ""), *line]
