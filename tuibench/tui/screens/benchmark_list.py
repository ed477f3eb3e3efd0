"""The list of a project's benchmarks, with what is under the cursor in a few lines below it."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar, cast

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.message import Message

from tuibench.core.card import BenchmarkRow
from tuibench.core.errors import StoreDamaged, TuibenchError
from tuibench.core.units import count_of
from tuibench.tui import key
from tuibench.tui.desk import Desk, RunRow
from tuibench.tui.glyph import Glyphs
from tuibench.tui.screens.benchmark_preview import fold, preview_of, preview_of_run
from tuibench.tui.screens.benchmark_rows import SORTS, BenchmarkRows, columns
from tuibench.tui.widgets.filter_line import FilterLine
from tuibench.tui.widgets.record_table import Column, Line, RecordTable
from tuibench.tui.widgets.row import LineLike
from tuibench.tui.widgets.text_block import TextBlock
from tuibench.tui.widgets.title_line import RuleLine

if TYPE_CHECKING:
    from tuibench.tui.screens.base import Page

_KEPT = 100
"""Previews that are not worked out again."""
_LOW = 10
"""Lines that leave three for benchmarks beside heads and preview."""
_EMPTY = (
    "No benchmark yet.",
    "",
    "n   a new one: engines, cores, batches; it says first how long it takes",
)

Shown = tuple[str, int, int]
"""Id, generation of its card, width: what a preview depends on."""


class BenchmarkList(Vertical):
    """Table and preview; sorted, filtered and marked by keys."""

    BINDINGS: ClassVar[list[BindingType]] = key.bindings("list")
    word: ClassVar[str] = "Benchmarks"
    """What it is a list of, for the title."""
    sorts: ClassVar[tuple[str, ...]] = SORTS
    kept: ClassVar[str] = "benchmarks"
    """Before the names by which its order is remembered."""
    nothing: tuple[str, ...] = _EMPTY
    """What is said where there is no line at all."""

    class Changed(Message):
        """Another order, filter, number of lines or of marks: what is said above the list."""

    def __init__(
        self,
        *,
        id: str | None = None,  # noqa: A002 - Textual's name
        classes: str | None = None,
    ) -> None:
        super().__init__(id=id, classes=classes)
        self.rows = self.make_rows()
        self.sort = self.sorts[0]
        self.is_reversed = False
        self.text = ""
        self.marks: frozenset[str] = frozenset()
        self._previews: OrderedDict[Shown, list[LineLike]] = OrderedDict()
        self._asked: Shown | None = None
        self.damaged: set[str] = set()
        """What could not be read when it was to be told of: the list itself is made without reading records."""

    def compose(self) -> ComposeResult:
        """The table, a rule, the preview."""
        yield RecordTable(id="list")
        yield RuleLine()
        yield TextBlock(id="preview")

    def on_mount(self) -> None:
        """In the order that was chosen last."""
        kept = self.page.dashboard.remembered.read()
        by = kept.get(f"{self.kept}_by")
        self.sort = by if by in self.sorts else self.sorts[0]
        self.is_reversed = kept.get(f"{self.kept}_reversed") is True

    # What kind of list it is

    def make_rows(self, rows: Sequence[BenchmarkRow] = (), runs: Sequence[RunRow] = ()) -> BenchmarkRows:
        """The lines."""
        return BenchmarkRows(rows, runs)

    def runs_of_mine(self, runs: Sequence[RunRow]) -> tuple[RunRow, ...]:
        """Those of all runs that belong into this list."""
        return tuple(row for row in runs if not row.info.kind)

    def columns(self, glyphs: Glyphs) -> tuple[Column, ...]:
        """Their columns."""
        return columns(glyphs)

    def preview_of_theory(self, name: str) -> list[LineLike] | None:
        """What is said of a line that is neither a record nor a run; None for any other."""
        return None

    def preview(self, name: str, desk: Desk, width: int, glyphs: Glyphs, ascii_only: bool) -> list[LineLike]:
        """What stands below them of one; for a thread, as it asks the desk."""
        return preview_of(desk.open(name), width, glyphs, ascii_only)

    @property
    def table(self) -> RecordTable:
        """The lines."""
        return self.query_one("#list", RecordTable)

    @property
    def page(self) -> Page:
        """The screen, which asks the desk."""
        return cast("Page", self.screen)

    # What is shown

    def show(self, rows: Sequence[BenchmarkRow], runs: Sequence[RunRow]) -> None:
        """Show these, as sorted and filtered."""
        self._forget_damage()
        self.rows = self.make_rows(rows, runs)
        self.damaged &= self.rows.stored.keys()
        self.marks &= self.rows.ids
        self.refresh_lines()

    def show_runs(self, runs: Sequence[RunRow]) -> None:
        """Other states of runs; the stored ones are as they were."""
        self.rows.replace_runs(runs)
        self.refresh_lines()

    def refresh_lines(self) -> None:
        """The table again; it sends what differs."""
        now, glyphs = self.page.dashboard.now, self.page.dashboard.glyphs
        rows = self.rows

        def line(name: str) -> Line:
            return rows.line(name, now(), glyphs, damaged=name in self.damaged)

        keys = rows.keys(self.sort, self.is_reversed, self.text)
        words = (f"No line has all of these words: {self.text}", "", "esc   all of them again")
        self.table.empty = words if self.text else self.nothing
        self.table.show_rows(self.columns(glyphs), keys, line, marks=self.marks)
        self._show_preview()
        self.post_message(self.Changed())

    def words(self) -> str:
        """How it is sorted and filtered, and what is marked."""
        order = "newest first" if self.sort == "age" else f"by {self.sort}"
        if self.is_reversed:
            order = "oldest first" if self.sort == "age" else f"{order} reversed"
        shown = len(self.table.keys)
        parts = [f"{len(self.marks)} marked"] if self.marks else []
        # What is marked needs the room more than that nothing is filtered.
        without = [] if self.marks else ["no filter"]
        parts += [order, *([f"{shown} of {len(self.rows)} with {self.text!r}"] if self.text else without)]
        return f" {self.page.dashboard.glyphs.dot} ".join(parts)

    # What is under the cursor

    def on_record_table_cursor_moved(self, message: RecordTable.CursorMoved) -> None:
        """Another record."""
        message.stop()
        self._forget_damage()
        self._show_preview()

    def on_resize(self) -> None:
        """Another size: where it is low, the lines come before what is told of one of them."""
        self.set_class(self.size.height < _LOW, "-low")
        self._show_preview()

    def _show_preview(self) -> None:
        name = self.table.cursor_key
        glyphs = self.page.dashboard.glyphs
        if self.has_class("hidden"):
            return  # nothing is read for what nobody sees
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
                # One at a time: a held key passes by many, and only where it stops something has to be read.
                self._ask_preview(wanted)

    def _ask_preview(self, wanted: Shown) -> None:
        self._asked = wanted
        page = self.page
        app, desk = page.dashboard, page.desk
        name, _, width = wanted
        page.ask(
            lambda: self.preview(name, desk, width - 2, app.glyphs, app.ascii_only),
            lambda lines: self._take_preview(wanted, lines),
            group=f"preview of {self.kept}",
            otherwise=lambda error: self._refuse_preview(wanted, error),
        )

    def _take_preview(self, wanted: Shown, lines: list[LineLike]) -> None:
        """What was found in a record; one that was damaged is not any more."""
        self._keep_preview(wanted, lines)
        if wanted[0] in self.damaged:
            self.damaged.discard(wanted[0])
            self.refresh_lines()

    def _forget_damage(self) -> None:
        """What is damaged is read again each time it is come to: somebody may have put the file back."""
        for wanted in [one for one in self._previews if one[0] in self.damaged]:
            del self._previews[wanted]

    def _refuse_preview(self, wanted: Shown, error: TuibenchError) -> None:
        """Why, in the place of a preview; a record that turned out to be damaged is marked from now on."""
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
        """Type words, in the line that the screen has for it."""
        self.screen.query_one(FilterLine).open_with(self.text)

    def action_sort(self) -> None:
        """By the next column."""
        self.sort = self.sorts[(self.sorts.index(self.sort) + 1) % len(self.sorts)]
        self._resort()

    def action_reverse(self) -> None:
        """The other way round."""
        self.is_reversed = not self.is_reversed
        self._resort()

    def _resort(self) -> None:
        self.page.dashboard.remember(**{f"{self.kept}_by": self.sort, f"{self.kept}_reversed": self.is_reversed})
        self.refresh_lines()

    def action_mark(self) -> None:
        """Mark what is under the cursor, or unmark it, and go on."""
        if (name := self.table.cursor_key) is not None:
            self.show_marks(self.marks ^ {name})
            self.table.action_down()

    def action_mark_all(self) -> None:
        """All that are shown; none where all are."""
        shown = self.rows.ids.intersection(self.table.keys)
        self.show_marks(frozenset() if shown <= self.marks else self.marks | shown)

    def show_marks(self, marks: frozenset[str]) -> None:
        """Mark these and no others."""
        self.marks = marks & self.rows.ids
        self.table.show_marks(self.marks)
        self.post_message(self.Changed())

    def filter_by(self, text: str) -> None:
        """Show only lines with all of these words."""
        if text != self.text:
            self.text = text
            self.refresh_lines()

    def marked(self) -> tuple[str, ...]:
        """In the order of the list; also those that a filter hides now."""
        shown = [name for name in self.table.keys if name in self.marks]
        return (*shown, *sorted(self.marks.difference(shown), reverse=True))

    def heading(self) -> str:
        """For the title."""
        going = len(self.rows.runs)
        return f"{self.word} ({len(self.rows.stored)})" + (f", {count_of(going, 'run')}" if going else "")


def _reason(error: TuibenchError) -> list[LineLike]:
    """Why a record cannot be shown, and what to do."""
    return [(error.message, "bad"), (error.hint, "")]


def _set_in(line: LineLike) -> LineLike:
    if isinstance(line, str):
        return f" {line}"
    if isinstance(line[0], str):
        return (f" {line[0]}", line[1])  # type: ignore[return-value]
    return [(" ", ""), *line]
