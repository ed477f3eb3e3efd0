"""How a benchmark scales over cores, batches or shapes: the figure, the same numbers beside it, a cursor over both."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal
from textual.message import Message

from tuibench.core.card import StoredBenchmark
from tuibench.core.units import percent, short
from tuibench.plots.figure import draw
from tuibench.plots.line import ScalingPoint
from tuibench.plots.quantity import METRICS, UNITS
from tuibench.plots.scaling import Scaling, figure_of, scaling
from tuibench.plots.selection import Selection
from tuibench.plots.sentence import point_words
from tuibench.tui import key
from tuibench.tui.screens.detail_pane import DetailPane
from tuibench.tui.widgets.moving import Moving
from tuibench.tui.widgets.plot_view import PlotView
from tuibench.tui.widgets.row import LineLike, Row, shown, wrapped
from tuibench.tui.widgets.selector_line import Selector, SelectorLine
from tuibench.tui.widgets.text_block import TextBlock
from tuibench.tui.widgets.title_line import RuleLine

_SIDE = 36


class PointList(Moving):
    """The points of the first side as a table with a cursor, and below it what the figure says."""

    BINDINGS: ClassVar[list[BindingType]] = key.bindings("open")

    class Moved(Message):
        """Another point is under the cursor."""

    class Opened(Message):
        """Enter on a point."""

    def __init__(self) -> None:
        super().__init__()
        self._head: Row = ()
        self._lines: list[Row] = []
        self._below: list[LineLike] = []
        self._rows: list[Row] = []
        self._count = 0
        self.at = 0

    def show_points(self, head: LineLike, lines: list[LineLike], below: list[LineLike]) -> None:
        """Show these; the cursor stays at its place as far as there is one."""
        self._count = len(lines)
        self.at = min(self.at, max(self._count - 1, 0))
        self._head, self._lines, self._below = shown(head), [shown(line) for line in lines], below
        self._lay_out()

    def on_resize(self) -> None:
        """Sentences are broken at another width."""
        self._lay_out()

    def _lay_out(self) -> None:
        room = max(self.size.width - 2, 1)
        said = [row for line in self._below for row in wrapped(shown(line), room)]
        self._rows = [self._head, *self._lines, (), *said]
        self.repaint()

    def move(self, by: int) -> None:
        """Another point."""
        self.at = min(max(self.at + by, 0), max(self._count - 1, 0))
        self.repaint()
        self.post_message(self.Moved())

    def move_to_end(self, last: bool) -> None:
        """The first point or the last."""
        self.move(self._count if last else -self._count)

    def action_open(self) -> None:
        """The cell of the point."""
        self.post_message(self.Opened())

    def row(self, y: int) -> Row:
        """The table, then sentences; as many points as fit before the cursor are left out."""
        hidden = max(self.at + 2 - self.size.height, 0)
        at = y if y == 0 else y + hidden
        if at >= len(self._rows):
            return ()
        if not 1 <= at <= self._count:
            return ((" ", ""), *self._rows[at])
        here = at - 1 == self.at
        sign = self.glyphs.cursor if here else " "
        lit = " cursor" if here and self.has_focus else ""
        return ((sign, ""), *((text, f"{style}{lit}".strip()) for text, style in self._rows[at]))


class ScalingPane(DetailPane):
    """One axis; every selector is one key, and the choices are remembered."""

    DEFAULT_CSS = f"""
    ScalingPane #scaled {{ height: 1fr; width: 100%; }}
    ScalingPane #curve {{ width: 1fr; height: 100%; }}
    ScalingPane PointList {{ width: {_SIDE}; height: 100%; }}
    .-wide ScalingPane PointList {{ width: 52; }}
    ScalingPane #point {{ height: auto; max-height: 2; }}
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        *key.bindings(only=("previous-value", "next-value", "metric", "statistic", "side", "figure")),
    ]

    def __init__(self, stored: StoredBenchmark, axis: str, *, id: str) -> None:  # noqa: A002 - Textual's name
        super().__init__(stored, id=id)
        self._selection = Selection(axis=axis)
        self._shown: Scaling | None = None
        self._held = 0
        """Which of the fixed axes left and right change."""

    def compose(self) -> ComposeResult:
        """Selectors, figure with table, the point under the cursor."""
        yield SelectorLine(id="scaling-choices")
        yield RuleLine()
        with Horizontal(id="scaled"):
            yield PlotView(id="curve", focusable=False)
            yield PointList()
        yield TextBlock(id="point")

    def on_mount(self) -> None:
        """As it was left."""
        metric, statistic = self.chosen("metric"), self.chosen("statistic")
        metric = metric if metric in METRICS else self._selection.metric
        self._selection = replace(self._selection, metric=metric, statistic=str(statistic or ""))
        self.refresh_selection()

    @property
    def points(self) -> PointList:
        """The table."""
        return self.query_one(PointList)

    @property
    def _fixed(self) -> tuple[str, ...]:
        """The axes that have something to choose from."""
        shown = self._shown
        return tuple(n for n, values in shown.choices.fixed.items() if len(values) > 1) if shown is not None else ()

    def refresh_selection(self) -> None:
        """Everything anew, for another selection."""
        self._shown = scaling(self.stored.result, self._selection)
        self._selection = self._shown.selection
        self._show_choices(self._shown)
        self._show_points(self._shown)
        self._draw()

    # What is shown

    def _show_choices(self, shown: Scaling) -> None:
        selectors = []
        around = f"{self.shown_key('previous-value')}{self.shown_key('next-value')}"
        for n, name in enumerate(self._fixed):
            values = shown.choices.fixed[name]
            at = values.index(self._selection.fixed[name])
            held = around if n == self._held % len(self._fixed) else self.shown_key("figure")
            label = name.removeprefix("dim ")
            selectors.append(Selector(label, tuple(map(str, values)), at, held, spread=True))
        metrics = shown.choices.metrics
        units = tuple(UNITS[each] if each != "efficiency" else "efficiency %" for each in metrics)
        selectors.append(Selector("metric", units, metrics.index(self._selection.metric), self.shown_key("metric")))
        statistics = shown.choices.statistics
        if statistics:
            at = statistics.index(self._selection.statistic)
            selectors.append(Selector("stat", statistics, at, self.shown_key("statistic")))
        labels = [line.side.label for line in shown.lines]
        if len(shown.choices.sides) > 1:
            selectors.append(Selector("side", (" + ".join(labels), ""), 0, self.shown_key("side")))
        self.query_one("#scaling-choices", SelectorLine).show(selectors)

    def _show_points(self, shown: Scaling) -> None:
        first = shown.lines[0].points if shown.lines else ()
        name = shown.axis_name[:8]
        head = (f"{name:>8} {shown.unit:>10} {'±':>7} {'eff':>5} G", "dim")
        below: list[LineLike] = [((f"{each.kind:<7}", "dim"), (each.text, "")) for each in shown.sentences]
        self.points.show_points(head, [_point_line(point) for point in first], below)
        self._show_point()

    def _show_point(self) -> None:
        shown = self._shown
        point = self.point
        words = point_words(point, shown.selection.metric) if shown is not None and point is not None else ""
        sign = self.dashboard.glyphs.running
        rows = wrapped(((f" {sign} {words}", ""),), max(self.size.width, 20))
        self.query_one("#point", TextBlock).show_lines(rows[:2])

    @property
    def point(self) -> ScalingPoint | None:
        """The point under the cursor."""
        shown = self._shown
        if shown is None or not shown.lines or not shown.lines[0].points:
            return None
        return shown.lines[0].points[self.points.at]

    def _draw(self) -> None:
        view, shown = self.query_one("#curve", PlotView), self._shown
        width, height = view.size
        if not width or not height or shown is None:
            return
        view.show_rows(
            draw(figure_of(shown), width, height, ascii_only=self.dashboard.ascii_only, cursor=self._cursor(shown))
        )

    def _cursor(self, shown: Scaling) -> tuple[int, int] | None:
        """The figure has the measured points alone."""
        point = self.point
        measured = shown.lines[0].measured if shown.lines else ()
        return (0, measured.index(point)) if point is not None and point in measured else None

    def on_plot_view_resized(self, message: PlotView.Resized) -> None:
        """Another size to draw in."""
        message.stop()
        self._draw()
        self._show_point()

    def on_point_list_moved(self, message: PointList.Moved) -> None:
        """Another point."""
        message.stop()
        self._show_point()
        self._draw()

    # Keys

    def _choose(self, selection: Selection) -> None:
        self._selection = selection
        self.refresh_selection()
        self.choose(metric=self._selection.metric, statistic=self._selection.statistic)

    def _step(self, by: int) -> None:
        if self._fixed and self._shown is not None:
            name = self._fixed[self._held % len(self._fixed)]
            self._choose(self._selection.next_fixed(self._shown.choices, name, by))

    def action_previous_value(self) -> None:
        """The value before, of the axis that is held."""
        self._step(-1)

    def action_next_value(self) -> None:
        """The next value of the axis that is held."""
        self._step(1)

    def action_figure(self) -> None:
        """Another one of the axes that are held is changed by left and right; over shapes another dim."""
        shown = self._shown
        if shown is not None and self._selection.axis == "shape" and len(shown.choices.dims) > 1:
            self._choose(self._selection.next_dim(shown.choices))
        else:
            self._held += 1
            self.refresh_selection()

    def action_metric(self) -> None:
        """The next metric."""
        self._choose(self._selection.next_metric())

    def action_statistic(self) -> None:
        """The next statistic."""
        if self._shown is not None:
            self._choose(self._selection.next_statistic(self._shown.choices))

    def action_side(self) -> None:
        """The next side alone, or all together."""
        if self._shown is not None:
            self._choose(self._selection.next_sides(self._shown.choices))


def _point_line(point: ScalingPoint) -> LineLike:
    found = point.estimate
    if found.value is None:
        return ((f"{point.value:>7} ", ""), (point.note or point.status, "bad"))
    half = percent(found.half_width).replace(" ", "") if found.half_width is not None else ""
    share = f"{100 * point.efficiency:.0f}" if point.efficiency is not None else ""
    style = "" if point.is_clean else "warn"
    return (f"{point.value:>7} {short(found.value, 4):>10} {half:>7} {share:>5} {point.grade}", style)
