"""Page of one benchmark: its tabs, their keys, and what each shows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import ClassVar

from textual.binding import BindingType
from textual.widget import Widget

from tuibench.core.errors import TuibenchError, UnknownId
from tuibench.core.ids import short_id
from tuibench.core.result import RunResult
from tuibench.core.stored import StoredBenchmark
from tuibench.present.listing import headline_words
from tuibench.present.plots.scaling import axes_of, scaling
from tuibench.present.plots.selection import Selection
from tuibench.tui import key
from tuibench.tui.screens.base import Panes, TabbedPage
from tuibench.tui.screens.benchmark.record import WIDE, RecordActions
from tuibench.tui.screens.comparison.screen import ComparisonPane, Past, needs_past
from tuibench.tui.screens.detail.baseline import BaselinePane
from tuibench.tui.screens.detail.facts import (
    INDENT,
    FactBlock,
    environment_facts,
    hung,
    log_facts,
    settings_words,
)
from tuibench.tui.screens.detail.scaling import ScalingPane
from tuibench.tui.widgets.text_block import CursorList, TextBlock
from tuibench.tui.widgets.title_line import TabLine

AXES = {"cores": "cores", "batches": "batch", "shapes": "shape"}
"""Tabs that show how a benchmark scales, with their axes."""
LAST = ("palette", "help")
_AROUND = ("previous-value", "next-value")
_MOVE = ("up", "down")
_OWN = {
    "baseline": ("figure", *_MOVE),
    "comparison": ("side", "figure", "metric", *_MOVE),
}
COMMON = ("rerun", "rerun-changed", "compare", "copy-command")
"""The actions used most on any benchmark."""
_OTHERS = ("tab-previous", "tab-next", "back", *COMMON, "export", "edit", "log", "remove")
WORDS = {"up": "line", "down": "line", **key.ONE_WORD}


def hints_of(tab: str, run: RunResult) -> tuple[str, ...]:
    """Return ids of keys, the most important first."""
    if tab in AXES:
        choices = scaling(run, Selection(axis=AXES[tab])).choices
        held = sum(len(values) > 1 for values in choices.fixed.values())
        own = (*(_AROUND if held else ()), "metric", "statistic")
        own = (*own, *(("side",) if len(choices.sides) > 1 else ()), *(("figure",) if held > 1 else ()))
        return (*own, *_MOVE, "open", "wide", *_OTHERS)
    around = _AROUND if tab == "baseline" and len(run.cells) > 1 else ()
    return tuple(each for each in (*around, *_OWN.get(tab, _MOVE), *_OTHERS) if each != tab)


TABS = ("baseline", "cores", "batches", "shapes", "comparison", "environment", "log")
NAMES = ("Base", "Cores", "Batch", "Shape", "Compare", "Env", "Log")
_WHY = {
    "cores": "one core count only: R measures more, to show how the model scales",
    "batches": "one batch size only: R measures more, to show how the model scales",
    "shapes": "one shape only: R measures more, to show how the model scales",
    "comparison": "nothing to compare with: press R to add a second engine",
}


def refusals(stored: StoredBenchmark | None) -> dict[str, str]:
    """Map each tab to the reason why it is empty; '' if it is not."""
    if stored is None:
        return dict.fromkeys(TABS, "still loading")
    axes = axes_of(stored.result)
    found = {name: _WHY[name] if name in AXES and AXES[name] not in axes else "" for name in TABS}
    if not stored.result.comparisons and not stored.metadata.partner:
        found["comparison"] = _WHY["comparison"]
    return found


class DetailScreen(TabbedPage, RecordActions):
    """One benchmark; each tab is created when it is first shown."""

    CSS_PATH = "detail.tcss"
    AUTO_FOCUS = ""
    BINDINGS: ClassVar[list[BindingType]] = key.bindings("tab", "benchmark")
    words: ClassVar[Mapping[str, str]] = WORDS
    tab_ids = TABS
    tab_names = NAMES
    about = (
        "One benchmark. Base has all numbers of one cell. Cores, Batch and Shape show how it scales, with the ideal "
        "line and conclusions. Compare shows its series against each other, or a re-run against its original. Env is "
        "the machine at that time, Log the history of the result. Every figure has a cursor, and the line below it "
        "describes the point under it; enter opens the cell of the point, esc goes back to it."
    )

    def __init__(self, benchmark: str, tab: str = "", cell: str = "") -> None:
        """Create the screen; `cell` is the key of the cell shown first, '' for that of the headline."""
        super().__init__(tab)
        self.benchmark = benchmark
        self._cell = cell
        self._came_from: int | None = None
        """The tab from which a point's cell was opened; None if no point was opened."""
        self.stored: StoredBenchmark | None = None
        self._past: Past | None = None
        """The earlier benchmark for the comparison tab, if it compares with one."""
        self._is_gone = False
        self._refusals = refusals(None)

    def body(self) -> Iterable[Widget]:
        """Yield the tabs, a summary line and the current tab."""
        yield TabLine(id="tabs")
        yield TextBlock(id="about")
        yield Panes()

    def title_parts(self) -> tuple[str, ...]:
        """Return id and name, models, and settings."""
        stored = self.stored
        if stored is None:
            return (f"benchmark {short_id(self.benchmark)}",)
        name = f' "{stored.metadata.name}"' if stored.metadata.name else ""
        return (short_id(self.benchmark) + name, stored.row.models, settings_words(stored))

    def target(self) -> str | None:
        """Return this benchmark."""
        return self.benchmark

    # Content

    def load(self) -> None:
        """Read the record; its results never change, but its name and note may."""
        one = self.benchmark
        self.request(
            lambda: self.services.library.get(one),
            self._show,
            group="open",
            otherwise=self._refuse,
            opens=self.stored is None,
        )

    def _show(self, stored: StoredBenchmark) -> None:
        before, self.stored, self._is_gone = self.stored, stored, False
        self._refusals = refusals(stored)
        self.show_title()
        self._show_headline()
        if before is None:
            wanted, self.tab_index = self.tab_index, 0
            self.call_next(self._show_first, wanted)
        self.show_ages()

    def show_ages(self) -> None:
        """Update the age beside the tabs and the ages in the log."""
        self.show_tab_line(self.record_words())
        self.update_log()

    def _show_headline(self) -> None:
        """Show the best number, except on tabs whose figure needs the line; show a removal on every tab."""
        about = self.query_one("#about", TextBlock)
        if self._is_gone:
            gone = "this benchmark was removed: u restores the last removal"
            about.show_lines([(f" {self.dashboard.glyphs.differs} {gone}", "warn")])
        elif self.stored is not None:
            about.show_lines([f" {headline_words(self.stored.row)}"])
        about.display = self._is_gone or self.tab not in (*AXES, "comparison")

    def _refuse(self, error: TuibenchError) -> None:
        """Show why a record is damaged; if it was removed meanwhile, say so and keep showing it."""
        if self.stored is None:
            about = self.query_one("#about", TextBlock)
            width = max(self.size.width - 1, 20)
            facts, self.hints = self.error_facts(error)
            about.show_lines([row for fact in facts for row in hung(fact, 3, width, about.legible)])
            self.show_keys()
        elif isinstance(error, UnknownId):
            self._is_gone = True
            self._show_headline()
        else:
            self.explain(error)

    def show_keys(self) -> None:
        """Show the footer; the keys common to all tabs have their own line, which is not sent again with a tab."""
        last = (*COMMON, *LAST) if self.app.size.width >= WIDE else LAST
        words = {**self.words, "side": "swap"} if self.tab == "comparison" else self.words
        self.show_pairs([each for each in self.hints if each not in last], last, words)

    async def _show_tab(self) -> None:
        stored = self.stored
        if stored is None:
            return
        name = self.tab
        await self.query_one(Panes).show_pane(name, lambda: self._make(name, stored))
        self.hints = hints_of(name, stored.result)
        self.show_keys()
        self._show_headline()
        self.show_tab_line(self.record_words())

    # Tabs

    def _make(self, name: str, stored: StoredBenchmark) -> Widget:
        glyphs, now = self.dashboard.glyphs, self.dashboard.now()
        makers: dict[str, Callable[[], Widget]] = {
            "baseline": lambda: BaselinePane(stored, id=name, cell=self._cell),
            "comparison": lambda: ComparisonPane(stored, self._past, id=name),
            "environment": lambda: FactBlock(environment_facts(stored.result, glyphs), INDENT, id=name),
            "log": lambda: FactBlock(log_facts(stored, now), INDENT, id=name),
        }
        return makers[name]() if name in makers else ScalingPane(stored, AXES[name], id=name)

    async def _show_first(self, wanted: int) -> None:
        """Show the requested tab, or the first one if it is empty or must be read first."""
        if wanted and not self._refusals[TABS[wanted]]:
            await self.go_to_tab(wanted)
        if self.query_one(Panes).current is None:
            await self._show_tab()

    async def go_to_tab(self, tab: int) -> None:
        """Show a tab by its index, or the reason why it is empty."""
        if tab == self.tab_index and self.stored is not None:
            return
        if why := self._refusals[TABS[tab]]:
            self.say(why, "warn")
            return
        if TABS[tab] == "comparison" and self._read_past(tab):
            return
        self.tab_index, self._came_from = tab, None
        await self._show_tab()

    def _read_past(self, tab: int) -> bool:
        """Return whether the other benchmark must be read first; the current tab stays visible meanwhile."""
        stored, one = self.stored, self.benchmark
        if stored is None or not needs_past(stored) or self._past is not None:
            return False
        base = stored.metadata.partner or ""
        self.request(
            lambda: Past(self.services.exchange.side_by_side(base, one), self.services.library.get(base)),
            lambda past: self._open_comparison(past, tab),
            group="past",
        )
        return True

    def _open_comparison(self, past: Past, tab: int) -> None:
        self._past = past
        self.call_next(self.go_to_tab, tab)

    def open_tabs(self) -> Sequence[int]:
        """Return the indexes of the tabs with content."""
        return [n for n, name in enumerate(TABS) if not self._refusals[name]]

    def action_log(self) -> None:
        """Show the log tab."""
        self.call_next(self.go_to_tab, TABS.index("log"))

    async def on_cursor_list_opened(self, message: CursorList.Opened) -> None:
        """Show the numbers of the cell of a point."""
        message.stop()
        name = self.tab
        pane = self.query_one(f"#{name}", ScalingPane) if name in AXES else None
        point = pane.point if pane is not None else None
        if point is not None:
            came_from = self.tab_index
            await self.go_to_tab(0)
            self._came_from = came_from
            self.query_one(BaselinePane).go_to(point.cell.key)

    def action_back(self) -> None:
        """Go back from a point's cell to the point; its tab keeps its cursor."""
        if self._came_from is not None:
            self.call_next(self.go_to_tab, self._came_from)
        else:
            super().action_back()
