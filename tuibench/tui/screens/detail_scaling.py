"""How a benchmark scales over cores, batches or shapes: the figure, the same numbers beside it, a cursor over both."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType

from tuibench.core.card import StoredBenchmark
from tuibench.plots.figure import draw
from tuibench.plots.line import ScalingPoint
from tuibench.plots.scaling import Scaling, figure_of, scaling
from tuibench.plots.selection import MOST_SIDES, Selection
from tuibench.plots.trace import signs
from tuibench.tui import key
from tuibench.tui.screens.detail_choice import open_axes, selectors_of
from tuibench.tui.screens.detail_pane import Beside, DetailPane
from tuibench.tui.screens.detail_point_line import point_rows, sentence_facts, sign_facts, table, values_of
from tuibench.tui.screens.detail_points import PointList
from tuibench.tui.widgets.figure_view import FigureView
from tuibench.tui.widgets.selector_line import SelectorLine
from tuibench.tui.widgets.text_block import TextBlock
from tuibench.tui.widgets.title_line import RuleLine

_WIDE = 100
"""Columns from which the panel has room for intervals in its sentences."""


class ScalingPane(DetailPane):
    """One axis; every selector is one key, and the other axes take its choices over."""

    DEFAULT_CSS = """
    ScalingPane #scaled { height: 1fr; width: 100%; }
    ScalingPane #curve { width: 1fr; height: 100%; }
    ScalingPane PointList { width: 38; height: 100%; }
    ScalingPane.-all #curve { display: none; }
    ScalingPane.-all PointList { width: 1fr; }
    ScalingPane #point { height: 2; }
    ScalingPane.-three #point { height: 3; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        *key.bindings(only=("previous-value", "next-value", "metric", "statistic", "side", "figure", "wide")),
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
        with Beside(id="scaled"):
            yield FigureView(id="curve")
            yield PointList()
        yield TextBlock(id="point")

    def on_mount(self) -> None:
        """With the choices of the other axes."""
        self.take_up()

    def take_up(self) -> None:
        """Show what was chosen last, perhaps on another tab."""
        self._selection = self._chosen.over(self._selection.axis)
        self.set_class(bool(self.choices.get("wide")), "-all")
        self.refresh_selection()

    @property
    def _chosen(self) -> Selection:
        """What was chosen on any axis; what this one does not have is chosen anew by `scaling`."""
        found = self.choices.get("selection")
        return found if isinstance(found, Selection) else Selection()

    @property
    def points(self) -> PointList:
        """The table."""
        return self.query_one(PointList)

    @property
    def _axis_held(self) -> str:
        """What left and right change; '' where there is nothing to choose."""
        axes = open_axes(self._shown) if self._shown is not None else ()
        return axes[self._held % len(axes)] if axes else ""

    def refresh_selection(self) -> None:
        """Everything anew, for another selection."""
        self._shown = scaling(self.stored.result, self._selection)
        self._selection = self._shown.selection
        self.set_class(len(self._shown.lines) == MOST_SIDES, "-three")
        self.query_one("#scaling-choices", SelectorLine).show(
            selectors_of(self._shown, self._axis_held, self.around, self.shown_key)
        )
        self._show_points(self._shown)
        self._draw()

    # What is shown

    def _show_points(self, shown: Scaling) -> None:
        whole = self.has_class("-all")
        head, rows = table(shown, wide=whole, missing=signs(self.dashboard.ascii_only).missing)
        about = f"{shown.lines[0].side.label}:" if len(shown.lines) > 1 else ""
        facts = sentence_facts(shown.sentences, wide=whole or self.app.size.width >= _WIDE)
        if len(shown.lines) > 1 and not whole:
            facts = [*sign_facts(shown), *facts]
        self.points.show_points(head, rows, facts, about)
        self._show_point()

    def _show_point(self) -> None:
        # The whole width of the screen, which is known before that of the pane.
        shown, width = self._shown, self.app.size.width
        if shown is not None:
            app = self.dashboard
            block = self.query_one("#point", TextBlock)
            rows = point_rows(shown, self._value, width, ascii_only=app.ascii_only, legible=block.legible)
            block.show_lines(rows)

    @property
    def _value(self) -> int | None:
        """The one on the axis that the cursor is on."""
        values = values_of(self._shown) if self._shown is not None else ()
        return values[self.points.at] if self.points.at < len(values) else None

    @property
    def point(self) -> ScalingPoint | None:
        """The point under the cursor, of the first side that has one there."""
        lines = self._shown.lines if self._shown is not None else ()
        return next((point for line in lines for point in line.points if point.value == self._value), None)

    def _draw(self) -> None:
        shown = self._shown
        if shown is not None:
            ascii_only, cursor, figure = self.dashboard.ascii_only, self._cursor(shown), figure_of(shown)
            self.query_one("#curve", FigureView).show_figure(
                lambda width, height: draw(figure, width, height, ascii_only=ascii_only, cursor=cursor)
            )

    def _cursor(self, shown: Scaling) -> tuple[int, int] | None:
        """The figure has the measured points alone."""
        for number, line in enumerate(shown.lines):
            for place, point in enumerate(line.measured):
                if point.value == self._value:
                    return number, place
        return None

    def on_resize(self) -> None:
        """More room shows more of each point."""
        if self._shown is not None:
            self._show_points(self._shown)

    def on_point_list_moved(self, message: PointList.Moved) -> None:
        """Another point."""
        message.stop()
        self._show_point()
        self._draw()

    # Keys

    def _choose(self, selection: Selection) -> None:
        self._selection, before = selection, self._chosen
        self.refresh_selection()
        if self._shown is not None:
            found, choices = self._shown.selection, self._shown.choices
            self.choices["selection"] = replace(
                found,
                fixed={**before.fixed, **found.fixed},
                dim=found.dim or before.dim,
                # The only statistic of a metric is no choice.
                statistic=found.statistic if len(choices.statistics) > 1 else before.statistic,
            )

    def _step(self, by: int) -> None:
        if self._axis_held and self._shown is not None:
            self._choose(self._selection.next_fixed(self._shown.choices, self._axis_held, by))

    def action_previous_value(self) -> None:
        """The value before, of the axis that is held."""
        self._step(-1)

    def action_next_value(self) -> None:
        """The next value of the axis that is held."""
        self._step(1)

    def action_figure(self) -> None:
        """Left and right change the next of the axes that are held; after the last, a figure goes over the next dim."""
        shown = self._shown
        self._held = (self._held + 1) % max(len(open_axes(shown)) if shown is not None else 0, 1)
        if shown is not None and self._held == 0 and self._selection.axis == "shape" and len(shown.choices.dims) > 1:
            self._choose(self._selection.next_dim(shown.choices))
        else:
            self.refresh_selection()

    def action_metric(self) -> None:
        """The next metric; one that has a single statistic does not choose that for the next one."""
        self._choose(replace(self._selection.next_metric(), statistic=self._chosen.statistic))

    def action_statistic(self) -> None:
        """The next statistic."""
        if self._shown is not None:
            self._choose(self._selection.next_statistic(self._shown.choices))

    def action_side(self) -> None:
        """The next side alone, or all together."""
        if self._shown is not None:
            self._choose(self._selection.next_sides(self._shown.choices))

    def action_wide(self) -> None:
        """All numbers and sentences in place of the figure, or both beside each other."""
        self.choices["wide"] = not self.has_class("-all")
        self.toggle_class("-all")
        if self._shown is not None:
            self._show_points(self._shown)
