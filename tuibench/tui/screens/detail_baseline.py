"""All numbers of one cell, with how its calls spread and went over time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal

from tuibench.core.card import StoredBenchmark
from tuibench.core.cell import CellResult, Estimate
from tuibench.core.units import count_of, ms, percent, short, size
from tuibench.plots.baseline import marks_of, merged_histogram, samples_figure
from tuibench.plots.figure import draw
from tuibench.plots.histogram import draw_histogram
from tuibench.plots.styled import Row, message_rows
from tuibench.report.label import describe, failure_text, varying
from tuibench.report.lines import check_text, differences
from tuibench.report.missing import missing_numbers
from tuibench.tui import key
from tuibench.tui.screens.detail_pane import DetailPane
from tuibench.tui.widgets.plot_view import PlotView
from tuibench.tui.widgets.row import LineLike
from tuibench.tui.widgets.selector_line import Selector, SelectorLine
from tuibench.tui.widgets.text_block import ScrollBlock
from tuibench.tui.widgets.title_line import RuleLine

FIGURES = ("histogram", "samples")
_TAILS = ("p90", "p95", "p99", "p99_9")
_LATENCY = {name: name.replace("_", ".") for name in ("p50", "mean", "std", "floor", *_TAILS)}


class BaselinePane(DetailPane):
    """Left the numbers, right a figure; keys go from cell to cell and from figure to figure."""

    DEFAULT_CSS = """
    BaselinePane #beside { height: 1fr; width: 100%; }
    BaselinePane #numbers { width: 39; height: 100%; }
    .-wide BaselinePane #numbers { width: 50; }
    BaselinePane #spread { width: 1fr; height: 100%; }
    """
    BINDINGS: ClassVar[list[BindingType]] = key.bindings(only=("previous-value", "next-value", "figure"))

    def __init__(self, stored: StoredBenchmark, *, id: str, cell: str = "") -> None:  # noqa: A002 - Textual's name
        """`cell` is the key of the one to begin with."""
        super().__init__(stored, id=id)
        self._wanted = cell

    def compose(self) -> ComposeResult:
        """Selectors, numbers, figure."""
        yield SelectorLine(id="baseline-choices")
        yield RuleLine()
        with Horizontal(id="beside"):
            yield ScrollBlock(wrap=True, id="numbers")
            yield PlotView(id="spread", focusable=False)

    def on_mount(self) -> None:
        """The cell that was asked for, else the first that has numbers."""
        first = next((n for n, cell in enumerate(self._cells) if cell.pooled is not None), 0)
        self._at = next((n for n, cell in enumerate(self._cells) if cell.key == self._wanted), first)
        wanted = self.chosen("figure")
        self._figure = FIGURES.index(wanted) if wanted in FIGURES else 0
        self._axes = varying(self.stored.result)
        self.refresh_cell()

    @property
    def _cells(self) -> tuple[CellResult, ...]:
        return self.stored.result.cells

    def go_to(self, wanted: str) -> None:
        """Show another cell."""
        self._at = next((n for n, cell in enumerate(self._cells) if cell.key == wanted), self._at)
        self.refresh_cell()

    def refresh_cell(self) -> None:
        """Selectors, numbers and figure of the cell that is chosen."""
        run = self.stored.result
        if not self._cells:
            self.query_one("#numbers", ScrollBlock).show_lines(["no cell was planned before it ended"])
            return
        cell = self._cells[self._at]
        place = f"{describe(run, cell, self._axes)} ({self._at + 1} of {len(self._cells)})"
        around = f"{self.shown_key('previous-value')}{self.shown_key('next-value')}"
        many = (place, "") if len(self._cells) > 1 else (place,)
        selectors = [Selector("cell", many, 0, around)]
        selectors.append(Selector("figure", FIGURES, self._figure, self.shown_key("figure")))
        self.query_one("#baseline-choices", SelectorLine).show(selectors)
        self.query_one("#numbers", ScrollBlock).show_lines(list(number_lines(cell)))
        self._draw()

    def on_plot_view_resized(self, message: PlotView.Resized) -> None:
        """Another size to draw in."""
        message.stop()
        self._draw()

    def _draw(self) -> None:
        view = self.query_one("#spread", PlotView)
        width, height = view.size
        if width and height and self._cells:
            ascii_only = self.dashboard.ascii_only
            view.show_rows(draw_cell(self._cells[self._at], FIGURES[self._figure], width, height, ascii_only))

    def _step(self, by: int) -> None:
        if self._cells:
            self._at = (self._at + by) % len(self._cells)
            self.refresh_cell()

    def action_previous_value(self) -> None:
        """The cell before."""
        self._step(-1)

    def action_next_value(self) -> None:
        """The next cell."""
        self._step(1)

    def action_figure(self) -> None:
        """The other figure."""
        self._figure = (self._figure + 1) % len(FIGURES)
        self.choose(figure=FIGURES[self._figure])
        self.refresh_cell()


def draw_cell(cell: CellResult, figure: str, width: int, height: int, ascii_only: bool) -> tuple[Row, ...]:
    """One of FIGURES, or why there is none."""
    if figure == "samples":
        found = samples_figure(cell)
        if found is not None:
            return draw(found, width, height, ascii_only=ascii_only)
    else:
        histogram = merged_histogram(cell)
        if histogram is not None:
            return draw_histogram(histogram, width, height, marks=marks_of(cell), ascii_only=ascii_only)
    return message_rows("no samples were kept", width, height)


def number_lines(cell: CellResult) -> Iterator[LineLike]:
    """Name, value and ± of everything that is known of a cell; why, where something is not."""
    if cell.status != "ok":
        yield (failure_text(cell), "bad" if cell.failure is not None else "warn")
        yield ""
    yield from _speed(cell)
    if cell.grade is not None:
        style = "warn" if cell.grade.letter in "CD" else ""
        yield (f"grade {cell.grade.letter}: {cell.grade.cause}", style)
    if cell.executions:
        wrong = cell.check is not None and cell.check.state == "differs"
        yield (f"outputs {check_text(cell.check)}", "bad" if wrong else "")
    yield ""
    yield from _costs(cell)
    for reason, names in missing_numbers(cell).items():
        yield (f"{', '.join(names)}: {reason}", "dim")
    yield from ((f"not as asked: {each}", "warn") for each in differences(cell))
    if cell.stopped_by:
        yield (f"stopped: {cell.stopped_by}", "dim")


def _speed(cell: CellResult) -> Iterator[LineLike]:
    for name, label in _LATENCY.items():
        found = cell.latency_ms.get(name)
        if found is not None and found.value is not None:
            yield _line(label, f"{ms(found.value)}/batch" if name == "p50" else ms(found.value), found)
    p50 = cell.latency_ms.get("p50")
    if p50 is not None and p50.value is not None and cell.items > 1:
        yield _line("per item", ms(p50.value / cell.items))
    if cell.items_per_sec.value is not None:
        yield _line("items/s", short(cell.items_per_sec.value, 4), cell.items_per_sec)
    if cell.items_per_cpu_sec.value is not None:
        yield _line("per CPU s", f"{short(cell.items_per_cpu_sec.value, 4)} items", cell.items_per_cpu_sec)


def _costs(cell: CellResult) -> Iterator[LineLike]:
    if cell.load_ms is not None:
        yield _line("load", ms(cell.load_ms))
    if cell.first_ms is not None:
        yield _line("first", ms(cell.first_ms))
    for name, amount in cell.memory_bytes.items():
        yield _line(name.replace("_", " "), size(amount))
    used = cell.used
    if used is not None and used.cpu_seconds_per_second is not None:
        yield _line("CPU used", f"{short(used.cpu_seconds_per_second)} of {count_of(cell.asked.cores, 'core')}")
    if used is not None:
        yield _line("engine", f"{cell.asked.engine} {used.engine_version}, {used.precision or 'precision unknown'}")
    if cell.pooled is not None:
        yield _line("calls", f"{cell.pooled.iterations} in {count_of(len(cell.executions), 'execution')}")


def _line(label: str, value: str, estimate: Estimate | None = None) -> LineLike:
    half = estimate.half_width if estimate is not None else None
    trust = f"  ±{percent(half)}" if half is not None else ""
    return ((f"{label:<10} ", "dim"), (f"{value}{trust}", ""))
