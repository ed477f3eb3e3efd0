"""Comparison widget: pairs of cells, a figure of both, details of the selected pair."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, cast

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.message import Message

from tuibench.core.cell import CellResult
from tuibench.core.ids import short_id
from tuibench.core.result import RunResult, SideBySide
from tuibench.core.text import show, width_of
from tuibench.present.cells import axis_value
from tuibench.present.plots.figure import Figure, draw
from tuibench.present.plots.grid import Grid, make_grid
from tuibench.present.plots.scaling import axes_of, figure_of, ratio_figure, samples_comparison, scaling, together
from tuibench.present.plots.selection import METRICS, UNITS, Selection
from tuibench.present.table import Column
from tuibench.tui import key
from tuibench.tui.screens.benchmark.preview import fold
from tuibench.tui.screens.comparison.pair import (
    Pair,
    operand_amount,
    ratio_words,
    side_line,
    side_names,
    verdict_words,
)
from tuibench.tui.screens.detail.facts import Fact, hung
from tuibench.tui.widgets.painted import FigureView, LineLike, QuietContainer
from tuibench.tui.widgets.record_table import Line, RecordTable
from tuibench.tui.widgets.text_block import TextBlock
from tuibench.tui.widgets.title_line import RuleLine, Selector, SelectorLine

if TYPE_CHECKING:
    from tuibench.tui.screens.base import Page


SAMPLES = "samples"
_RATIO = "ratio over "
_OVER = "over "


@dataclass(frozen=True, slots=True)
class ComparisonData:
    """Two results to compare, or the same one twice to compare its own sides."""

    old: RunResult
    new: RunResult
    pairs: tuple[Pair, ...]
    side: SideBySide | None = None
    """The comparison of two stored results; None for the sides of one."""

    @property
    def cells(self) -> dict[str, dict[str, CellResult]]:
        """Cells by side name, then by cell key."""
        old = {cell.key: cell for cell in self.old.cells}
        new = {cell.key: cell for cell in self.new.cells}
        found: dict[str, dict[str, CellResult]] = {}
        for pair in self.pairs:
            found.setdefault(pair.base.name, old)
            found.setdefault(pair.new.name, new)
        return found


def figures_of(material: ComparisonData) -> tuple[str, ...]:
    """Return the names of the available figures, the most informative first."""
    axes = axes_of(material.old)
    over = [_OVER + axis for axis in axes]
    ratios = [_RATIO + axis for axis in axes if axis in ("cores", "batch")] if material.side is not None else []
    return (*over, *ratios, SAMPLES)


def has_metric(name: str) -> bool:
    """Return whether the figure's metric can be chosen."""
    return name.startswith(_OVER)


def make_figure(material: ComparisonData, name: str, pair: Pair | None, metric: str, *, turned: bool = False) -> Figure:
    """Make one figure at the values of the pair; `turned` makes the new side the baseline."""
    if pair is None:
        return Figure((), None, "", "", empty="no pair of cells")
    if name.startswith(_RATIO) and material.side is not None:
        near = pair.base.key, pair.new.key
        return ratio_figure(material.old, material.side, name.removeprefix(_RATIO), near, turned=turned)
    if has_metric(name):
        return _over(material, name.removeprefix(_OVER), pair, metric)
    cells = material.cells
    both = cells[pair.base.name].get(pair.base.key), cells[pair.new.name].get(pair.new.key)
    if both[0] is None or both[1] is None:
        return Figure((), None, "", "", empty="not measured")
    return samples_comparison(both[0], both[1], (pair.base.name, pair.new.name))


def _over(material: ComparisonData, axis: str, pair: Pair, metric: str) -> Figure:
    """Return a figure of both sides over an axis, with the other axes fixed at the pair's values."""
    metric = metric if metric in METRICS else METRICS[1]
    inside = material.side is None
    grids = make_grid(material.old), make_grid(material.new)
    keys = (pair.base.key, pair.new.key)
    sides = tuple(place.side for grid in grids for place in grid.places if place.cell.key in keys)
    selection = Selection(axis=axis, sides=tuple(dict.fromkeys(sides)), fixed=_held(grids[0], keys), metric=metric)
    return figure_of(scaling(material.old, selection) if inside else together(material.old, material.new, selection))


def _held(grid: Grid, keys: tuple[str, ...]) -> dict[str, int]:
    place = next((place for place in grid.places if place.cell.key in keys), None)
    return dict(place.at) if place is not None else {}


_WORDS = {
    "engine": "engines", "scenario": "scenarios", "cores": "core counts", "batch": "batches", "shapes": "shapes",
    "precision": "precisions",
}  # fmt: skip
_MOST = 5
"""Largest number of values listed for each operand."""


def missing_lines(material: ComparisonData, rerun: str) -> tuple[str, ...]:
    """Return the lines in place of the pairs; `rerun` is the key of a re-run with changes."""
    if material.side is None:
        return ("No matching cells.",)
    apart = [axis for axis in _WORDS if not _values(material, axis, 0).keys() & _values(material, axis, 1)]
    names = short_id(material.side.old_id), short_id(material.side.new_id)
    what = " and ".join(_WORDS[axis] for axis in apart)
    lines = [f"{_WORDS[axis]}: {'; '.join(_side(material, axis, names))}" for axis in apart]
    models = [run.models[0].sha256[:8] for run in (material.old, material.new) if run.models]
    if len(set(models)) > 1:
        digests = "; ".join(f"{sha256} in {name}" for sha256, name in zip(models, names, strict=False))
        lines.insert(0, f"model: different content, {digests}")
    first = f"No matching cells: the {what} differ." if what else "No matching cells."
    return (first, *lines, f"To compare, press {rerun} and choose the other benchmark's {what or 'cells'}.")


def _side(material: ComparisonData, axis: str, names: Sequence[str]) -> Iterator[str]:
    for number, name in enumerate(names):
        values = list(_values(material, axis, number))
        more = f" and {len(values) - _MOST} more" if len(values) > _MOST else ""
        yield f"{', '.join(values[:_MOST])}{more} in {name}"


def _values(material: ComparisonData, axis: str, number: int) -> dict[str, None]:
    """Return the distinct values in the order measured."""
    run = (material.old, material.new)[number]
    return {_shapes(cell) if axis == "shapes" else axis_value(run, cell, axis): None for cell in run.cells}


def _shapes(cell: CellResult) -> str:
    """Return all requested dims, even those that do not vary in the result."""
    return " ".join(f"{show(name, 40)}={size}" for name, size in sorted(cell.asked.dims.items())) or "the model's own"


_ROLES = ("BASE", "NEW")
_ROLE = 6
_MAX_NAME_WIDTH = 40
"""Columns of a cell's name; the rest is left to other columns."""
_STYLES = {"faster": "ok", "slower": "warn", "undecided": "dim"}


class ComparisonView(QuietContainer, Vertical):
    """Compares with either operand as the base; the figure shows the selected pair, and a key changes the figure."""

    DEFAULT_CSS = """
    ComparisonView { height: 1fr; width: 1fr; }
    ComparisonView #pairs { height: 5fr; }
    ComparisonView #figure { height: 8fr; }
    ComparisonView #words { height: 5; }
    .-tall ComparisonView #words { height: 8; }
    """
    BINDINGS: ClassVar[list[BindingType]] = key.bindings(only=("side", "metric", "figure"))

    class Swapped(Message):
        """The base was exchanged."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        self._material: ComparisonData | None = None
        self._pairs: dict[str, Pair] = {}
        self._environment: tuple[str, ...] = ()
        self._metric = METRICS[1]
        self._figures: tuple[str, ...] = ()
        self._figure = ""
        self.is_swapped = False

    def compose(self) -> ComposeResult:
        """Yield selectors, pairs, figure and text."""
        yield SelectorLine(id="choices")
        yield RecordTable(id="pairs")
        yield RuleLine()
        yield FigureView(id="figure")
        yield TextBlock(id="words")

    @property
    def page(self) -> Page:
        """The screen with its own type."""
        return cast("Page", self.screen)

    @property
    def pair(self) -> Pair | None:
        """The selected pair."""
        return self._pairs.get(self.query_one("#pairs", RecordTable).cursor_key or "")

    def show(self, material: ComparisonData, environment: Sequence[str] = ()) -> None:
        """Show a comparison; `environment` lists differences of the machines and cells without a partner."""
        self._material = material
        self._environment = tuple(environment)
        self._figures = figures_of(material)
        self._figure = self._figure if self._figure in self._figures else self._figures[0]
        self._refresh()

    def _refresh(self) -> None:
        if self._material is None:
            return
        pairs = [pair.turned() if self.is_swapped else pair for pair in self._material.pairs]
        self._pairs = {pair.key: pair for pair in pairs}
        table = self.query_one("#pairs", RecordTable)
        table.empty = missing_lines(self._material, self.page.shown_key("rerun-changed"))
        columns, lines = lines_of(pairs, table.legible)
        # The figure uses the remaining height.
        table.styles.max_height = (len(lines) or len(table.empty)) + 1
        table.show_lines(columns, lines)
        self._show_choices()
        self._show_pair()

    def _show_choices(self) -> None:
        if not self._pairs:
            # Without pairs there are no choices.
            self.query_one("#choices", SelectorLine).show([Selector("cells", ("none match",), 0, "")])
            return
        names = tuple(" ".join(each) or "-" for each in side_names(tuple(self._pairs.values())))
        shown = self.page.shown_key
        selectors = [Selector("base", names, 0, shown("side"), spread=True)]
        selectors.append(Selector("figure", self._figures, self._figures.index(self._figure), shown("figure")))
        if has_metric(self._figure):
            units = tuple(UNITS[each] for each in METRICS)
            selectors.append(Selector("metric", units, METRICS.index(self._metric), shown("metric")))
        self.query_one("#choices", SelectorLine).show(selectors)

    def _show_pair(self) -> None:
        self.query_one("#words", TextBlock).show_lines(fold(list(self._words()), self.app.size.width))
        self._draw()

    def _words(self) -> Iterator[LineLike]:
        material, pair = self._material, self.pair
        if material is None:
            return
        if pair is not None:
            cells = material.cells
            yield (f" {pair.sentence}", _STYLES.get(pair.verdict, ""))
            for role, side in ((" base", pair.base), (" new", pair.new)):
                yield from hung(Fact(role, side_line(side, cells[side.name]), "", ""), _ROLE, self.app.size.width)
        if self._environment:
            more = f" (and {len(self._environment) - 1} more differences)" if self._environment[1:] else ""
            yield (f" {self._environment[0]}{more}", "warn")
        elif material.side is not None:
            yield (" environment: no known difference that affects speed", "dim")
        for line in self._environment[1:]:
            yield (f" {line}", "dim")

    def _draw(self) -> None:
        if self._material is None:
            return
        figure = make_figure(self._material, self._figure, self.pair, self._metric, turned=self.is_swapped)
        ascii_only = self.page.dashboard.ascii_only
        view = self.query_one("#figure", FigureView)
        view.show_figure(lambda width, height: draw(figure, width, height, ascii_only=ascii_only))

    def on_resize(self) -> None:
        """Wrap the text at the new width."""
        if self._material is not None:
            self._show_pair()

    def on_record_table_cursor_moved(self, message: RecordTable.CursorMoved) -> None:
        """Show the newly selected pair."""
        message.stop()
        self._show_pair()

    # Keys

    def action_side(self) -> None:
        """Exchange the base."""
        self.is_swapped = not self.is_swapped
        self._refresh()
        self.post_message(self.Swapped())

    def action_metric(self) -> None:
        """Show the figure with its next metric."""
        if has_metric(self._figure):
            self._metric = METRICS[(METRICS.index(self._metric) + 1) % len(METRICS)]
            self._chosen()
        else:
            self.page.say(f"this figure has one metric; {self.page.shown_key('figure')} shows the next figure")

    def action_figure(self) -> None:
        """Show the next figure."""
        if self._figures:
            self._figure = self._figures[(self._figures.index(self._figure) + 1) % len(self._figures)]
            self._chosen()

    def _chosen(self) -> None:
        self._show_choices()
        self._draw()


def lines_of(pairs: Sequence[Pair], legible: Callable[[str], str]) -> tuple[tuple[Column[Any], ...], list[Line]]:
    """Return the table of pairs: columns, named after the operands if they are the same in all rows, and rows."""
    named = max(map(len, side_names(pairs))) > 1
    lines = [_line(pair, named) for pair in pairs]
    return _columns(lines, pairs, legible), lines


def _columns(lines: Sequence[Line], pairs: Sequence[Pair], legible: Callable[[str], str]) -> tuple[Column[Any], ...]:
    """Return columns as wide as their content; the operands are hidden first, because they are below the table too."""
    names = [show(one[0], 16) if len(one) == 1 else role for one, role in zip(side_names(pairs), _ROLES, strict=True)]
    titles = ("CELL", *names, "TIME RATIO", "VERDICT", "G")
    columns = zip(titles, *(line.cells for line in lines), strict=True)
    wide = [max(width_of(legible(text)) for text in column) for column in columns]
    no_verdict = not any(pair.verdict for pair in pairs)
    return (
        Column("name", titles[0], min(wide[0], _MAX_NAME_WIDTH), grow=True, wide=max(wide[0], _MAX_NAME_WIDTH)),
        Column("base", titles[1], wide[1], right=True, rank=1),
        Column("new", titles[2], wide[2], right=True, rank=1),
        Column("ratio", titles[3], wide[3], right=True),
        Column("verdict", titles[4], wide[4], rank=3 if no_verdict else 0),
        Column("grades", titles[5], wide[5], rank=2),
    )


def _line(pair: Pair, named: bool) -> Line:
    """Return the row of a pair; with `named` it names the operands, which the column titles cannot."""
    grades = f"{pair.base.grade or '-'}{pair.new.grade or '-'}"
    sides = f"{show(pair.new.name, 16)} / {show(pair.base.name, 16)} " if named else ""
    cells = (
        sides + pair.cell.words(narrow=True), operand_amount(pair.base, pair.unit), operand_amount(pair.new, pair.unit),
        ratio_words(pair.ratio), verdict_words(pair), grades,
    )  # fmt: skip
    return Line(pair.key, cells, _STYLES.get(pair.verdict, ""))
