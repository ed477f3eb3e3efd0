"""Scaling of a benchmark over cores, batches or shapes: a figure and a table of its points with one cursor."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType

from tuibench.core.stored import StoredBenchmark
from tuibench.present.plots.figure import draw
from tuibench.present.plots.grid import coordinate_name
from tuibench.present.plots.scaling import Scaling, figure_of, scaling
from tuibench.present.plots.selection import MOST_SIDES, UNITS, ScalingPoint, Selection
from tuibench.present.plots.trace import signs
from tuibench.tui import key
from tuibench.tui.screens.detail.facts import Beside, DetailPane
from tuibench.tui.screens.detail.points import PointList, point_rows, sentence_facts, sign_facts, table, values_of
from tuibench.tui.widgets.painted import FigureView
from tuibench.tui.widgets.text_block import TextBlock
from tuibench.tui.widgets.title_line import RuleLine, Selector, SelectorLine

_MANY = 4
"""Maximum number of selectors that fit with their names."""
_NAMELESS = ("metric", "stat")
"""Selectors whose values need no name."""


def selectors_of(shown: Scaling, held: str, around: str, key_of: Callable[[str], str]) -> list[Selector]:
    """Return the selectors; keys `around` change the axis `held`, `key_of` returns a key as bound by the user."""
    selection, choices = shown.selection, shown.choices
    selectors = [_fixed(shown, name, around if name == held else "", key_of) for name in open_axes(shown)]
    if selection.axis == "shape" and len(choices.dims) > 1:
        dims = tuple(coordinate_name(dim) for dim in choices.dims)
        selectors.append(Selector("over", dims, choices.dims.index(selection.dim), key_of("figure")))
    units = tuple(UNITS[each] if each != "efficiency" else "eff %" for each in choices.metrics)
    selectors.append(Selector("metric", units, choices.metrics.index(selection.metric), key_of("metric")))
    at = choices.statistics.index(selection.statistic)
    selectors.append(Selector("stat", choices.statistics, at, key_of("statistic")))
    if len(choices.sides) > 1:
        every = "all" if len(choices.sides) <= MOST_SIDES else f"first {MOST_SIDES}"
        names = (every, *(side.label for side in choices.sides))
        alone = [side.key for side in choices.sides].index(selection.sides[0]) + 1
        selectors.append(Selector("show", names, alone if len(selection.sides) == 1 else 0, key_of("side")))
    if len(selectors) > _MANY:
        return [replace(each, name="") if each.name in _NAMELESS else each for each in selectors]
    return selectors


def _fixed(shown: Scaling, name: str, around: str, key_of: Callable[[str], str]) -> Selector:
    """Return the selector of a fixed axis; its key selects the axis that left and right change."""
    values = shown.choices.fixed[name]
    at, texts = values.index(shown.selection.fixed[name]), tuple(map(str, values))
    return Selector(coordinate_name(name), texts, at, around or key_of("figure"), spread=bool(around))


def open_axes(shown: Scaling) -> tuple[str, ...]:
    """Return the axes that are fixed in the figure and have other values."""
    return tuple(name for name, values in shown.choices.fixed.items() if len(values) > 1)


_WIDE = 100
"""Width from which the sentences have room for intervals."""


class ScalingPane(DetailPane):
    """The tab of one axis; each selector has one key, and its choices also apply to the tabs of the other axes."""

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
        """Index of the fixed axis that left and right change."""

    def compose(self) -> ComposeResult:
        """Yield the selectors, the figure with the table, and the point under the cursor."""
        yield SelectorLine(id="scaling-choices")
        yield RuleLine()
        with Beside(id="scaled"):
            yield FigureView(id="curve")
            yield PointList()
        yield TextBlock(id="point")

    def on_mount(self) -> None:
        """Show the current choices."""
        self.update_choices()

    def update_choices(self) -> None:
        """Show the latest choices, possibly made on another tab."""
        self._selection = self._chosen.over(self._selection.axis)
        self.set_class(bool(self.choices.get("wide")), "-all")
        self.refresh_selection()

    @property
    def _chosen(self) -> Selection:
        """The choices made on any axis; `scaling` replaces those that this axis lacks."""
        found = self.choices.get("selection")
        return found if isinstance(found, Selection) else Selection()

    @property
    def points(self) -> PointList:
        """The table of points."""
        return self.query_one(PointList)

    @property
    def _axis_held(self) -> str:
        """The axis that left and right change; '' if no fixed axis has several values."""
        axes = open_axes(self._shown) if self._shown is not None else ()
        return axes[self._held % len(axes)] if axes else ""

    def refresh_selection(self) -> None:
        """Redraw everything for the current selection."""
        self._shown = scaling(self.stored.result, self._selection)
        self._selection = self._shown.selection
        self.set_class(len(self._shown.lines) == MOST_SIDES, "-three")
        self.query_one("#scaling-choices", SelectorLine).show(
            selectors_of(self._shown, self._axis_held, self.around, self.page.shown_key)
        )
        self._show_points(self._shown)
        self._draw()

    # Content

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
        # Use the screen's width, which is known before the pane's.
        shown, width = self._shown, self.app.size.width
        if shown is not None:
            app = self.dashboard
            block = self.query_one("#point", TextBlock)
            rows = point_rows(shown, self._value, width, ascii_only=app.ascii_only, legible=block.legible)
            block.show_lines(rows)

    @property
    def _value(self) -> int | None:
        """Value under the cursor on the axis."""
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
        """Return line and point index of the cursor in the figure, which has only measured points."""
        for number, line in enumerate(shown.lines):
            for place, point in enumerate(line.measured):
                if point.value == self._value:
                    return number, place
        return None

    def on_resize(self) -> None:
        """Update the points to the new width."""
        if self._shown is not None:
            self._show_points(self._shown)

    def on_point_list_moved(self, message: PointList.Moved) -> None:
        """Redraw for another point."""
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
                # A metric's only statistic is not a choice of the user.
                statistic=found.statistic if len(choices.statistics) > 1 else before.statistic,
            )

    def _step(self, by: int) -> None:
        if self._axis_held and self._shown is not None:
            self._choose(self._selection.next_fixed(self._shown.choices, self._axis_held, by))

    def action_previous_value(self) -> None:
        """Select the previous value of the fixed axis."""
        self._step(-1)

    def action_next_value(self) -> None:
        """Select the next value of the fixed axis."""
        self._step(1)

    def action_figure(self) -> None:
        """Let left and right change the next fixed axis; after the last one, draw the figure over the next dim."""
        shown = self._shown
        self._held = (self._held + 1) % max(len(open_axes(shown)) if shown is not None else 0, 1)
        if shown is not None and self._held == 0 and self._selection.axis == "shape" and len(shown.choices.dims) > 1:
            self._choose(self._selection.next_dim(shown.choices))
        else:
            self.refresh_selection()

    def action_metric(self) -> None:
        """Select the next metric and restore the chosen statistic, which the current metric may lack."""
        self._choose(replace(self._selection.next_metric(), statistic=self._chosen.statistic))

    def action_statistic(self) -> None:
        """Select the next statistic."""
        if self._shown is not None:
            self._choose(self._selection.next_statistic(self._shown.choices))

    def action_side(self) -> None:
        """Select the next side alone, or all sides."""
        if self._shown is not None:
            self._choose(self._selection.next_sides(self._shown.choices))

    def action_wide(self) -> None:
        """Switch between the full table with its sentences and the figure beside a short table."""
        self.choices["wide"] = not self.has_class("-all")
        self.toggle_class("-all")
        if self._shown is not None:
            self._show_points(self._shown)
