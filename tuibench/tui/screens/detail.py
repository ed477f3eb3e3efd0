"""One benchmark: its numbers, how it scales, how its sides compare, where and how it was measured."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import ClassVar

from textual.binding import BindingType
from textual.widget import Widget
from textual.widgets import ContentSwitcher

from tuibench.core.card import StoredBenchmark
from tuibench.core.errors import TuibenchError, UnknownId
from tuibench.core.short_id import short_id
from tuibench.plots.scaling import axes_of
from tuibench.report.age import age
from tuibench.report.listing import headline_words
from tuibench.tui import key
from tuibench.tui.desk import Pulse, Removed
from tuibench.tui.screens.benchmark_actions import BenchmarkActions
from tuibench.tui.screens.detail_baseline import BaselinePane
from tuibench.tui.screens.detail_comparison import ComparisonPane
from tuibench.tui.screens.detail_fact import Fact, FactBlock, hung
from tuibench.tui.screens.detail_key import AXES, LAST, WITHOUT_RECORD, hints_of, pairs_of
from tuibench.tui.screens.detail_pane import DetailPane
from tuibench.tui.screens.detail_points import PointList
from tuibench.tui.screens.detail_scaling import ScalingPane
from tuibench.tui.screens.detail_text import INDENT, environment_facts, log_facts
from tuibench.tui.widgets.key_line import KeyLine
from tuibench.tui.widgets.tab_line import TabLine
from tuibench.tui.widgets.text_block import TextBlock

TABS = ("baseline", "cores", "batches", "shapes", "comparison", "environment", "log")
_NAMES = ("Base", "Cores", "Batch", "Shape", "Compare", "Env", "Log")
_WHY = {
    "cores": "only one number of cores was measured: R with more of them shows how they scale",
    "batches": "only one batch was measured: R with several shows how they scale",
    "shapes": "no shape has several values: R with several of them shows how they scale",
    "comparison": "",
}


class DetailScreen(BenchmarkActions):
    """Each tab is made when it is first shown."""

    CSS_PATH = "detail.tcss"
    AUTO_FOCUS = ""
    BINDINGS: ClassVar[list[BindingType]] = key.bindings("tab", "benchmark")
    about = (
        "One benchmark. Base has all numbers of one cell; Cores, Batch and Shape show how it scales, with the ideal "
        "line and what follows in words; Compare holds the sides of the benchmark against each other, and itself "
        "against what it re-ran; Env is the machine as it was; Log is how the result came to be. Every figure has a "
        "cursor, and the line below it says all of the point it is on."
    )

    def __init__(self, benchmark: str, tab: str = "", cell: str = "") -> None:
        """`cell` is the key of the one that is shown first; '' for the first with numbers."""
        super().__init__()
        self.benchmark = benchmark
        self._cell = cell
        self._tab = TABS.index(tab) if tab in TABS else 0
        self.stored: StoredBenchmark | None = None

        self._is_gone = False

    def body(self) -> Iterable[Widget]:
        """Tabs, one line about all of it, and the tab that is shown."""
        yield TabLine(id="tabs")
        yield TextBlock(id="about")
        yield ContentSwitcher(id="panes")

    def title_parts(self) -> tuple[str, ...]:
        """Id and name, what was measured, and by what."""
        stored = self.stored
        if stored is None:
            return (f"benchmark {short_id(self.benchmark)}",)
        name = f' "{stored.card.name}"' if stored.card.name else ""
        return (short_id(self.benchmark) + name, stored.row.models, _settings(stored))

    def target(self) -> str | None:
        """This one."""
        return self.benchmark

    # What is shown

    def load(self) -> None:
        """The record; what was written once does not change, its card may."""
        one = self.benchmark
        self.ask(lambda: self.desk.open(one), self._show, group="open", otherwise=self._refuse)

    def pulse_changed(self, pulse: Pulse, before: Pulse | None) -> None:
        """Its card may be another, or it may be gone."""
        if before is None or pulse.stamp != before.stamp:
            self.load()

    def _show(self, stored: StoredBenchmark) -> None:
        before, self.stored, self._is_gone = self.stored, stored, False
        self.show_title()
        self._show_headline(stored)
        if before is None:
            self._show_tab()
        elif before.card != stored.card and self.query("#log"):
            self.query_one("#log", FactBlock).show_facts(log_facts(stored, self.dashboard.now()))
        self._show_tabs()

    def _show_headline(self, stored: StoredBenchmark) -> None:
        self.query_one("#about", TextBlock).show_lines([f" {headline_words(stored.row)}"])

    def _refuse(self, error: TuibenchError) -> None:
        """A damaged record says what is wrong with it; one that was removed meanwhile says so, and stays in sight."""
        about = self.query_one("#about", TextBlock)
        width = max(self.size.width - 1, 20)
        sign = self.dashboard.glyphs.differs
        if self.stored is None:
            facts = [Fact(f" {sign}", error.message, "bad", "bad"), Fact(" ", error.hint), Fact(" ", "")]
            facts.append(Fact(" ", "d moves it to the trash, from where u brings it back; others are not touched"))
            about.show_lines([row for fact in facts for row in hung(fact, 3, width, about.legible)])
            self.hints = WITHOUT_RECORD
            self.show_keys()
        elif isinstance(error, UnknownId):
            self._is_gone = True
            gone = "it was removed meanwhile: u brings back what was removed last"
            about.show_lines([(f" {sign} {gone}", "warn")])
            about.display = True
        else:
            self.explain(error)

    def _show_removed(self, removed: Removed) -> None:
        """What was removed here is not looked at any longer."""
        if removed.entry is None:
            super()._show_removed(removed)
            return
        self.dashboard.look()
        self.dashboard.go_back()
        self.dashboard.page.say(f"{removed.words}; u brings it back")

    def show_keys(self) -> None:
        """As on other pages, two keys of one word together, and the way to help in any case."""
        app = self.dashboard
        some, last = (pairs_of(each, app.keymap, app.ascii_only) for each in (self.hints, LAST))
        self.query_one("#keys", KeyLine).show(some, last)

    def _show_tabs(self) -> None:
        stored = self.stored
        disabled = [n for n, name in enumerate(TABS) if self._refusal(name)]
        when = f"{age(stored.row.started_utc, self.dashboard.now())} ago" if stored is not None else ""
        grade = f"grade {stored.row.grade}" if stored is not None and stored.row.grade else ""
        right = f" {self.dashboard.glyphs.dot} ".join(filter(None, (when, grade)))
        self.query_one("#tabs", TabLine).show(_NAMES, self._tab, disabled=disabled, right=(f"{right} ", "dim"))

    def _refusal(self, name: str) -> str:
        """Why a tab has nothing to show; '' where it has."""
        stored = self.stored
        if stored is None:
            return "it is not read yet"
        if name in AXES:
            return "" if AXES[name] in axes_of(stored.result) else _WHY[name]
        if name == "comparison" and not stored.result.comparisons and not stored.card.partner:
            return "one side alone was measured, and it is no re-run: R with another engine compares two"
        return ""

    def _show_tab(self) -> None:
        stored = self.stored
        if stored is None:
            return
        if self._refusal(TABS[self._tab]):
            self._tab = 0
        name = TABS[self._tab]
        panes = self.query_one("#panes", ContentSwitcher)
        if not panes.query(f"#{name}"):
            panes.mount(self._make(name, stored))
        panes.current = name
        self.hints = hints_of(name, stored.result)
        self.show_keys()
        # A figure needs the line more than it needs the headline.
        self.query_one("#about").display = name not in AXES or self._is_gone
        pane = panes.query_one(f"#{name}")
        if isinstance(pane, ScalingPane) and pane.is_mounted:
            pane.take_up()
        self._show_tabs()
        self.call_after_refresh(self._focus_tab)

    def _focus_tab(self) -> None:
        panes = self.query_one("#panes", ContentSwitcher)
        shown = panes.query_one(f"#{panes.current}") if panes.current else None
        if isinstance(shown, DetailPane):
            shown.focus_first()
        elif shown is not None:
            shown.focus()

    def _make(self, name: str, stored: StoredBenchmark) -> Widget:
        app = self.dashboard
        makers: dict[str, Callable[[], Widget]] = {
            "baseline": lambda: BaselinePane(stored, id=name, cell=self._cell),
            "comparison": lambda: ComparisonPane(stored, id=name),
            "environment": lambda: FactBlock(environment_facts(stored.result, app.glyphs), INDENT, id=name),
            "log": lambda: FactBlock(log_facts(stored, app.now()), INDENT, id=name),
        }
        return makers[name]() if name in makers else ScalingPane(stored, AXES[name], id=name)

    # Tabs

    def _go_to_tab(self, tab: int) -> None:
        if tab == self._tab and self.stored is not None:
            return
        if why := self._refusal(TABS[tab]):
            self.say(why, "warn")
            return
        self._tab = tab
        self._show_tab()

    def _step(self, by: int) -> None:
        open_tabs = [n for n, name in enumerate(TABS) if not self._refusal(name)]
        if self._tab in open_tabs:
            self._go_to_tab(open_tabs[(open_tabs.index(self._tab) + by) % len(open_tabs)])

    def action_tab_next(self) -> None:
        """The next that has something to show."""
        self._step(1)

    def action_tab_previous(self) -> None:
        """The one before."""
        self._step(-1)

    def action_log(self) -> None:
        """The tab of that name."""
        self._go_to_tab(TABS.index("log"))

    def on_point_list_opened(self, message: PointList.Opened) -> None:
        """Enter on a point: all numbers of its cell."""
        message.stop()
        name = TABS[self._tab]
        pane = self.query_one(f"#{name}", ScalingPane) if name in AXES else None
        point = pane.point if pane is not None else None
        if point is not None:
            self._tab = 0
            self._show_tab()
            self.query_one(BaselinePane).go_to(point.cell_key)


def _settings(stored: StoredBenchmark) -> str:
    """Engine with its version where there is one, precision and scenarios."""
    row, run = stored.row, stored.result
    version = run.versions.get(row.engines, "")
    return " ".join(filter(None, (row.engines, version, run.spec.precision, row.scenarios)))


def _tab_action(place: int) -> Callable[[DetailScreen], None]:
    def go(screen: DetailScreen) -> None:
        screen._go_to_tab(place)

    return go


for _place in range(len(TABS)):
    setattr(DetailScreen, f"action_tab_{_place + 1}", _tab_action(_place))
