"""All numbers of one cell, its latency distribution and time series; for a sweep also advice on choosing cells."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from rich.cells import cell_len
from textual.app import ComposeResult
from textual.binding import BindingType

from tuibench.core.card import StoredBenchmark
from tuibench.core.cell import CellResult
from tuibench.core.choice import headlined
from tuibench.core.run import RunResult
from tuibench.plots.baseline import marks_of, merged_histogram, samples_figure
from tuibench.plots.figure import draw
from tuibench.plots.histogram import draw_histogram
from tuibench.plots.styled import Row, message_rows
from tuibench.report.label import cell_name, varying
from tuibench.report.tradeoff import HEAD, tradeoff_rows
from tuibench.tui import key
from tuibench.tui.screens.detail_fact import Fact, FactBlock
from tuibench.tui.screens.detail_number import number_facts
from tuibench.tui.screens.detail_pane import Beside, DetailPane
from tuibench.tui.widgets.figure_view import FigureView
from tuibench.tui.widgets.selector_line import Selector, SelectorLine
from tuibench.tui.widgets.title_line import RuleLine

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
            self.query_one("#numbers", FactBlock).show_facts([Fact("", "no cell was planned before it ended", "warn")])
            return
        cell = self._cells[self._at]
        name = cell_name(self.stored.result, cell, self._axes)
        place = name.words()
        many = len(self._cells) > 1
        number = f"cell {self._at + 1} of {len(self._cells)}" if many else "cell"
        if cell_len(number + place + self.around) > self.app.size.width - _BESIDE:
            place = name.words(narrow=True)
        selectors = [Selector(number, (place, "") if many else (place,), 0, self.around)]
        selectors.append(Selector("figure", self._figures, self._figure, self.shown_key("figure")))
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

    def _step(self, by: int) -> None:
        if self._cells:
            self._at = (self._at + by) % len(self._cells)
            self.refresh_cell()

    def action_previous_value(self) -> None:
        """Show the previous cell."""
        self._step(-1)

    def action_next_value(self) -> None:
        """Show the next cell."""
        self._step(1)

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
    return message_rows("no samples were kept", width, height, ascii_only)


def advice_facts(run: RunResult) -> Iterator[Fact]:
    """Yield the conclusions, then the cells that no other cell beats in both latency and items/s."""
    for sentence in run.conclusions:
        what, _, rest = sentence.partition(": ")
        yield Fact("", what if rest else "", "title")
        yield Fact("", f"  {rest}" if rest else sentence)
    rows = tradeoff_rows(run)
    if rows:
        alone = len({cell.asked.scenario for cell in run.cells}) == 1
        yield Fact("", "")
        yield Fact("", "Pareto set: none is better at both", "title")
        yield Fact("", HEAD, "dim")
        for figures, name in rows:
            yield Fact(figures, name.partition(", ")[2] if alone and name.startswith("sync, ") else name, "", "")
