"""Tab with all numbers of one cell, its distribution and samples, and advice for sweeps."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType

from tuibench.core.cell import CellResult, Estimate, headlined, main_number, p50_latency, ran_elsewhere
from tuibench.core.engine import with_version
from tuibench.core.result import RunResult
from tuibench.core.scenario import find
from tuibench.core.stored import StoredBenchmark
from tuibench.core.text import width_of
from tuibench.core.units import count_of, ms, short, size
from tuibench.present.amount import amount, with_interval
from tuibench.present.cells import (
    TAILS,
    cell_name,
    check_text,
    differences,
    failure_text,
    missing_numbers,
    support_text,
    varying,
)
from tuibench.present.headline import conclusions
from tuibench.present.plots.drawing import Row, message_rows
from tuibench.present.plots.figure import draw
from tuibench.present.plots.histogram import draw_histogram, marks_of, merged_histogram, samples_figure
from tuibench.present.reason import reason_words
from tuibench.present.summary import HEAD, tradeoff_rows
from tuibench.tui import key
from tuibench.tui.screens.detail.facts import Beside, DetailPane, Fact, FactBlock
from tuibench.tui.widgets.painted import FigureView
from tuibench.tui.widgets.title_line import RuleLine, Selector, SelectorLine


def number_facts(cell: CellResult) -> Iterator[Fact]:
    """Yield each number with its ±; then reasons for missing values and deviations from the request."""
    if cell.status != "ok":
        yield Fact("", failure_text(cell), "bad" if cell.failure is not None else "warn")
        yield from _last_line(cell)
    rates = (_rate, _time) if not main_number(cell).is_time else (_time, _rate)
    for each in rates:
        yield from each(cell)
    yield from _spread(cell)
    yield from _trust(cell)
    yield from _costs(cell)
    for reason, names in missing_numbers(cell).items():
        yield Fact("", f"{', '.join(names)}: {reason}", "dim")
    yield from (Fact("", f"differs from the request: {each}", "warn") for each in differences(cell))


def _last_line(cell: CellResult) -> Iterator[Fact]:
    said = (cell.failure.log_tail or "").strip().splitlines() if cell.failure is not None else []
    if said:
        yield Fact("last line", said[-1])


def _time(cell: CellResult) -> Iterator[Fact]:
    p50 = p50_latency(cell)
    if p50.value is not None:
        yield Fact("p50", amount(p50, "ms/batch"))
        if cell.items > 1:
            yield Fact("per item", with_interval(ms(p50.value / cell.items), p50))


def _rate(cell: CellResult) -> Iterator[Fact]:
    if cell.items_per_sec.value is not None:
        yield Fact("items/s", with_interval(short(cell.items_per_sec.value, 4), cell.items_per_sec))


def _spread(cell: CellResult) -> Iterator[Fact]:
    for name in ("mean", "std", "floor"):
        found = cell.latency_ms.get(name, Estimate(None))
        if found.value is not None:
            yield Fact(name, amount(found, "ms"))
    tails = [(label, cell.latency_ms.get(name, Estimate(None))) for label, name in TAILS.items()]
    words = [with_interval(f"{label} {ms(found.value)}", found) for label, found in tails if found.value is not None]
    for n in range(0, len(words), 2):
        yield Fact("", "  ".join(words[n : n + 2]))


def _trust(cell: CellResult) -> Iterator[Fact]:
    if cell.grade is not None:
        style = "warn" if cell.grade.letter in "CD" else ""
        yield Fact("grade", f"{cell.grade.letter}: {reason_words(cell.grade.cause)}", style)
    elif cell.pooled is not None:
        yield Fact("grade", "none: the machine's noise was not recorded", "dim")
    if cell.executions or cell.check is not None:
        wrong = cell.check is not None and cell.check.state == "differs"
        words = check_text(cell.check, brief=True)
        yield Fact("outputs", words, "bad" if wrong else "")


def _costs(cell: CellResult) -> Iterator[Fact]:
    start = [f"{ms(value)}{what}" for value, what in ((cell.load_ms, ""), (cell.first_ms, " first call")) if value]
    if start:
        yield Fact("load", ", ".join(start))
    if cell.memory_bytes:
        yield Fact("memory", ", ".join(f"{name.replace('_', ' ')} {size(n)}" for name, n in cell.memory_bytes.items()))
    used = cell.used
    if used is not None:
        if used.cpu_seconds_per_second is not None:
            yield Fact("CPU used", f"{short(used.cpu_seconds_per_second)} of {count_of(cell.asked.cores, 'core')}")
        streams = f", {count_of(used.streams, 'stream')}" if find(cell.asked.scenario).has_streams else ""
        precision = used.precision or "precision unknown"
        yield Fact("engine", f"{with_version(cell.asked.engine, used.engine_version)} {precision}{streams}")
    if supported := support_text(cell):
        yield Fact("supported", supported, "warn" if ran_elsewhere(cell) else "")
    if cell.items_per_cpu_sec.value is not None:
        per_cpu = f"{short(cell.items_per_cpu_sec.value, 4)} items"
        yield Fact("per CPU s", with_interval(per_cpu, cell.items_per_cpu_sec))
    if cell.pooled is not None:
        ran = f" in {count_of(len(cell.executions), 'execution')}" if cell.executions else ""
        yield Fact("calls", f"{cell.pooled.iterations}{ran}")
    if cell.stopped_by is not None and cell.stopped_by.code != cell.status:
        yield Fact("stopped by", reason_words(cell.stopped_by))


ADVICE = "advice"
_INDENT = len(HEAD) + 1
_BESIDE = 30
"""Columns left for other selectors."""
FIGURES = ("histogram", "samples")


class Leading(FactBlock):
    """Facts whose keys also scroll the block beside them, because the two share one focus.

    Down scrolls this block to its end first, up the other block first: moving both at once would redraw the whole
    screen.
    """

    beside: FactBlock

    def move(self, by: int) -> None:
        """Scroll this block, and at its end the block beside it."""
        sides: tuple[FactBlock, ...] = (self, self.beside) if self.beside.display else (self,)
        for side in sides if by > 0 else reversed(sides):
            before = side.first
            FactBlock.move(side, by)
            by -= side.first - before

    def move_to_end(self, last: bool) -> None:
        """Scroll both blocks, each to its own end."""
        FactBlock.move(self, len(self._laid_out()) if last else -len(self._laid_out()))
        if self.beside.display:
            self.beside.move_to_end(last)


class BaselinePane(DetailPane):
    """Numbers on the left, a figure on the right; keys select the cell and the figure."""

    DEFAULT_CSS = """
    BaselinePane #beside { height: 1fr; width: 100%; }
    BaselinePane #numbers { width: 41; height: 100%; margin: 0 1 0 1; }
    BaselinePane #spread { width: 1fr; height: 100%; }
    BaselinePane #advice { width: 1fr; height: 100%; display: none; }
    """
    BINDINGS: ClassVar[list[BindingType]] = key.bindings(only=("previous-value", "next-value", "figure"))

    def __init__(self, stored: StoredBenchmark, *, id: str, cell: str = "") -> None:  # noqa: A002 - Textual's name
        """Create the pane; `cell` is the key of the first cell to show, by default the headline's."""
        super().__init__(stored, id=id)
        run = stored.result
        best = headlined(run.cells)
        wanted = cell or (best.key if best is not None else "")
        first = next((n for n, one in enumerate(run.cells) if one.pooled is not None), 0)
        self._at = next((n for n, one in enumerate(run.cells) if one.key == wanted), first)
        self._figures = (ADVICE, *FIGURES) if tradeoff_rows(run) else FIGURES
        self._figure = 0
        self._axes = varying(run)

    def compose(self) -> ComposeResult:
        """Yield selectors, numbers and figure."""
        yield SelectorLine(id="baseline-choices")
        yield RuleLine()
        with Beside(id="beside"):
            numbers = Leading(id="numbers")
            numbers.beside = FactBlock(advice_facts(self.stored.result), _INDENT, id="advice")
            numbers.beside.can_focus = False
            yield numbers
            yield FigureView(id="spread")
            yield numbers.beside

    def on_mount(self) -> None:
        """Show the first cell."""
        self.refresh_cell()

    @property
    def _cells(self) -> tuple[CellResult, ...]:
        return self.stored.result.cells

    def go_to(self, wanted: str) -> None:
        """Show another cell."""
        self._at = next((n for n, cell in enumerate(self._cells) if cell.key == wanted), self._at)
        if self.is_mounted:
            self.refresh_cell()

    def refresh_cell(self) -> None:
        """Show selectors, numbers and figure of the selected cell."""
        if not self._cells:
            self.query_one("#numbers", FactBlock).show_facts(
                [Fact("", "the run ended before any cell was planned", "warn")]
            )
            return
        cell = self._cells[self._at]
        name = cell_name(self.stored.result, cell, self._axes)
        place = name.words()
        many = len(self._cells) > 1
        number = f"cell {self._at + 1} of {len(self._cells)}" if many else "cell"
        if width_of(number + place + self.around) > self.app.size.width - _BESIDE:
            place = name.words(narrow=True)
        selectors = [Selector(number, (place, "") if many else (place,), 0, self.around)]
        selectors.append(Selector("figure", self._figures, self._figure, self.page.shown_key("figure")))
        self.query_one("#baseline-choices", SelectorLine).show(selectors)
        self.query_one("#numbers", FactBlock).show_facts(number_facts(cell))
        self._show_figure()

    def _show_figure(self) -> None:
        figure, cell = self._figures[self._figure], self._cells[self._at]
        is_advice, ascii_only = figure == ADVICE, self.dashboard.ascii_only
        self.query_one("#advice").display = is_advice
        view = self.query_one("#spread", FigureView)
        # Without a figure the failure gets the room.
        is_bare = not is_advice and cell.failure is not None and merged_histogram(cell) is None
        self.set_class(is_bare, "-bare")
        view.display = not is_advice and not is_bare
        if view.display:
            view.show_figure(lambda width, height: draw_cell(cell, figure, width, height, ascii_only))

    def step(self, by: int) -> None:
        """Select another cell."""
        if self._cells:
            self._at = (self._at + by) % len(self._cells)
            self.refresh_cell()

    def action_figure(self) -> None:
        """Show the next figure."""
        self._figure = (self._figure + 1) % len(self._figures)
        self.refresh_cell()


def draw_cell(cell: CellResult, figure: str, width: int, height: int, ascii_only: bool) -> tuple[Row, ...]:
    """Return one of FIGURES, or a message if there are no samples."""
    if figure == "samples":
        found = samples_figure(cell)
        if found is not None:
            return draw(found, width, height, ascii_only=ascii_only)
    else:
        histogram = merged_histogram(cell)
        if histogram is not None:
            return draw_histogram(histogram, width, height, marks=marks_of(cell), ascii_only=ascii_only)
    return message_rows("no samples stored", width, height, ascii_only)


def advice_facts(run: RunResult) -> Iterator[Fact]:
    """Yield the conclusions, then the cells that no other cell beats in both latency and items/s."""
    for found in conclusions(run):
        yield Fact("", found.title, "title")
        yield Fact("", f"  {found.text}" if found.title else found.text)
    rows = tradeoff_rows(run, brief=True)
    if rows:
        yield Fact("", "")
        yield Fact("", "Pareto set (latency, items/s)", "title")
        yield Fact("", HEAD, "dim")
        yield from (Fact(figures, name, "", "") for figures, name in rows)
