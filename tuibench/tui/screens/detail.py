"""One benchmark: its numbers, how it scales, how its sides compare, where and how it was measured."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import ClassVar

from textual.binding import BindingType
from textual.widget import Widget
from textual.widgets import ContentSwitcher

from tuibench.core.card import StoredBenchmark
from tuibench.core.errors import TuibenchError
from tuibench.core.short_id import short_id
from tuibench.plots.scaling import axes_of
from tuibench.report.age import age
from tuibench.report.listing import headline_words
from tuibench.tui import key
from tuibench.tui.desk import Pulse
from tuibench.tui.screens.benchmark_actions import BenchmarkActions
from tuibench.tui.screens.detail_baseline import BaselinePane
from tuibench.tui.screens.detail_comparison import ComparisonPane
from tuibench.tui.screens.detail_pane import DetailPane
from tuibench.tui.screens.detail_scaling import PointList, ScalingPane
from tuibench.tui.screens.detail_text import environment_lines, log_lines
from tuibench.tui.widgets.row import LineLike
from tuibench.tui.widgets.tab_line import TabLine
from tuibench.tui.widgets.text_block import ScrollBlock, TextBlock

TABS = ("baseline", "cores", "batches", "shapes", "comparison", "environment", "log")
_NAMES = ("Base", "Cores", "Batch", "Shape", "Compare", "Env", "Log")
_AXES = {"cores": "cores", "batches": "batch", "shapes": "shape"}
_WHY = {
    "cores": "only one number of cores was measured: R with more of them shows how they scale",
    "batches": "only one batch was measured: R with several shows how they scale",
    "shapes": "no shape has several values: R with several of them shows how they scale",
    "comparison": "",
}
_HINTS = {
    "baseline": ("previous-value", "next-value", "figure"),
    "scaling": ("previous-value", "next-value", "metric", "statistic", "side", "open"),
    "comparison": ("side", "metric", "figure", "compare"),
    "text": (),
}
_COMMON = ("tab-next", "rerun", "rerun-changed", "compare", "copy-command", "export", "edit", "back", "palette", "help")


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

    def body(self) -> Iterable[Widget]:
        """Tabs, one line about all of it, and the tab that is shown."""
        yield TabLine(id="tabs")
        yield TextBlock(id="about")
        yield ContentSwitcher(id="panes")

    def title_parts(self) -> tuple[str, ...]:
        """Id and name."""
        stored = self.stored
        name = f' "{stored.card.name}"' if stored is not None and stored.card.name else ""
        return ("benchmark " + short_id(self.benchmark) + name, stored.row.models if stored is not None else "")

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
        before, self.stored = self.stored, stored
        self.show_title()
        row, app = stored.row, self.dashboard
        self.query_one("#about", TextBlock).show_lines([f" {headline_words(row)}"])
        if before is None:
            self._show_tab()
        self._show_tabs(f"{age(row.started_utc, app.now())} ago")

    def _refuse(self, error: TuibenchError) -> None:
        """A damaged record says what is wrong with it; one that is gone is no page."""
        if self.stored is None:
            what = "d removes it, and u brings it back"
            lines: list[LineLike] = [(f" ! {error.message}", "bad"), f" {error.hint}", "", f" {what}"]
            self.query_one("#about", TextBlock).show_lines(lines)
        else:
            self.explain(error)

    def _show_tabs(self, right: str = "") -> None:
        disabled = [n for n, name in enumerate(TABS) if self._refusal(name)]
        self.query_one("#tabs", TabLine).show(_NAMES, self._tab, disabled=disabled, right=(f"{right} ", "dim"))

    def _refusal(self, name: str) -> str:
        """Why a tab has nothing to show; '' where it has."""
        stored = self.stored
        if stored is None:
            return "it is not read yet"
        if name in _AXES:
            return "" if _AXES[name] in axes_of(stored.result) else _WHY[name]
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
        kind = name if name in ("baseline", "comparison") else "scaling" if name in _AXES else "text"
        self.hints = (*_HINTS[kind], *_COMMON)
        self.show_keys()
        self._show_tabs(f"{age(stored.row.started_utc, self.dashboard.now())} ago")
        self.call_after_refresh(self._focus_tab)

    def _focus_tab(self) -> None:
        panes = self.query_one("#panes", ContentSwitcher)
        shown = panes.query_one(f"#{panes.current}") if panes.current else None
        if isinstance(shown, DetailPane):
            shown.focus_first()
        elif shown is not None:
            shown.focus()

    def _make(self, name: str, stored: StoredBenchmark) -> Widget:
        makers: dict[str, Callable[[], Widget]] = {
            "baseline": lambda: BaselinePane(stored, id=name, cell=self._cell),
            "comparison": lambda: ComparisonPane(stored, id=name),
            "environment": lambda: ScrollBlock(environment_lines(stored.result, self.dashboard.glyphs), id=name),
            "log": lambda: ScrollBlock(log_lines(stored, self.dashboard.now()), wrap=True, id=name),
        }
        return makers[name]() if name in makers else ScalingPane(stored, _AXES[name], id=name)

    # Tabs

    def _go_to_tab(self, tab: int) -> None:
        if self.stored is None or tab == self._tab:
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

    def on_point_list_opened(self, message: PointList.Opened) -> None:
        """Enter on a point: all numbers of its cell."""
        message.stop()
        name = TABS[self._tab]
        pane = self.query_one(f"#{name}", ScalingPane) if name in _AXES else None
        point = pane.point if pane is not None else None
        if point is not None:
            self._tab = 0
            self._show_tab()
            cell = point.cell_key
            self.call_after_refresh(lambda: self.query_one(BaselinePane).go_to(cell))


def _tab_action(place: int) -> Callable[[DetailScreen], None]:
    def go(screen: DetailScreen) -> None:
        screen._go_to_tab(place)

    return go


for _place in range(len(TABS)):
    setattr(DetailScreen, f"action_tab_{_place + 1}", _tab_action(_place))
