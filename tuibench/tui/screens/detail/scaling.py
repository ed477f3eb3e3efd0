"""Scaling of a benchmark over cores, batches or shapes: a figure and a table of its points with one cursor."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType

from tuibench.core.stored import StoredBenchmark
from tuibench.core.text import cut, cut_start
from tuibench.core.units import percent, short
from tuibench.present.plots.drawing import Row
from tuibench.present.plots.figure import draw
from tuibench.present.plots.grid import coordinate_name
from tuibench.present.plots.scaling import Scaling, figure_of, scaling
from tuibench.present.plots.selection import MOST_SIDES, UNITS, Line, ScalingPoint, Selection, Sentence, Side
from tuibench.present.plots.sentences import point_words
from tuibench.present.plots.trace import signs
from tuibench.tui import key
from tuibench.tui.screens.detail.facts import Beside, DetailPane, Fact, hung
from tuibench.tui.widgets.painted import FigureView, shown
from tuibench.tui.widgets.text_block import CursorList, TextBlock
from tuibench.tui.widgets.title_line import RuleLine, Selector, SelectorLine

_INDENT = 8
_FEWEST = 6
"""Minimum number of visible points, however many sentences there are."""


class PointList(CursorList):
    """A table of points that scrolls while the sentences stay visible."""

    def __init__(self) -> None:
        super().__init__()
        self._head: Row = ()
        self._lines: list[Row] = []
        self._facts: tuple[Fact, ...] = ()
        self._said: list[Row] = []
        self._said_for = -1
        self._about = ""

    def show_points(self, head: Row, lines: Sequence[Row], facts: Sequence[Fact], about: str = "") -> None:
        """Show these points and keep the cursor's index; `about` is the heading of the sentences."""
        self._about = about
        self.at = min(self.at, max(len(lines) - 1, 0))
        self._head, self._lines, self._facts = shown(head), [shown(line) for line in lines], tuple(facts)
        self._said_for = -1
        self.repaint()

    @property
    def _sentences(self) -> list[Row]:
        """Sentences wrapped at the current width."""
        width = self.size.width
        if width != self._said_for:
            room = max(width - 2, 1)
            self._said = [row for fact in self._facts for row in hung(fact, _INDENT, room, self.legible)]
            self._said_for = width
        return self._said

    @property
    def count(self) -> int:
        """Number of points."""
        return len(self._lines)

    @property
    def room(self) -> int:
        """Number of points visible at once: the rows that the sentences leave, but never too few."""
        left = self.size.height - 2 - len(self._sentences)
        return min(max(left, _FEWEST), max(self.size.height - 1, 1), len(self._lines))

    def row(self, y: int) -> Row:
        """Return the head, a point, the scroll position or a sentence."""
        room = self.room
        self.follow()
        if y == 0:
            return ((" ", ""), *self._head)
        if y <= room:
            return self._point(self._first + y - 1)
        if y == room + 1:
            many = f"{self._first + 1}-{self._first + room} of {len(self._lines)}"
            words = "  ".join(filter(None, (many if room < len(self._lines) else "", self._about)))
            return ((f" {words}", "dim"),)
        return self._sentence(y - room - 2, self.size.height - room - 2)

    def _point(self, number: int) -> Row:
        here = number == self.at
        lit = " cursor" if here and self.has_focus else ""
        line = self._lines[number]
        sign = self.glyphs.cursor if here else " "
        return ((sign, ""), *((text, f"{style}{lit}".strip()) for text, style in line))

    def _sentence(self, number: int, room: int) -> Row:
        said = self._sentences
        if number >= len(said):
            return ()
        if number == room - 1 and len(said) > room:
            return ((f" {self.glyphs.ellipsis} w shows all", "dim"),)
        return ((" ", ""), *said[number])


_NAME = 6
_COLUMN = 10
_FIRST = ("best", "worst", "ratio")


def table(shown: Scaling, *, wide: bool, missing: str) -> tuple[Row, list[Row]]:
    """Return the head and a line per value; for several series one number each, unless there is room for all facts."""
    lines = shown.lines
    if not lines:
        return (("no cells planned", "dim"),), []
    every = values_of(shown)
    name = f"{cut(shown.axis_name, _NAME):>{_NAME}}"
    if len(lines) == 1 or wide:
        labels = [cut(line.side.label, 15 - 2 * len(lines)) if len(lines) > 1 else shown.unit for line in lines]
        head = "".join(f" {label:>{max(9, len(label))}} {'±':>6} {'eff':>5} G" for label in labels)
        columns = [
            {point.value: _full(point, max(9, len(label)), missing) for point in line.points}
            for line, label in zip(lines, labels, strict=True)
        ]
    else:
        head = "".join(f"{label:>{_COLUMN}}" for label in _heads([line.side for line in lines], _COLUMN - 1))
        columns = [{point.value: _brief(point, missing) for point in line.points} for line in lines]
    rows = []
    for value in every:
        parts = [(column.get(value) or ((f"{'-':>{_COLUMN}}", "dim"),)) for column in columns]
        rows.append(((f"{value:>{_NAME}}", ""), *(span for part in parts for span in part)))
    return ((name + head, "dim"),), rows


def _heads(sides: Sequence[Side], width: int) -> list[str]:
    """Return unique names of series in `width` columns: cut, else in short form, else by their ends."""
    brief = [side.brief for side in sides]
    ways = ([cut(side.label, width) for side in sides], [cut(label, width) for label in brief])
    different = (way for way in ways if len(set(way)) == len(way))
    return next(different, [cut_start(label, width) for label in brief])


def _full(point: ScalingPoint, width: int, missing: str) -> Row:
    found = point.estimate
    if found.value is None:
        return ((f" {missing} {point.note or point.status}", "bad"),)
    half = percent(found.half_width).replace(" ", "") if found.half_width is not None else ""
    share = f"{100 * point.efficiency:.0f}%" if point.efficiency is not None else ""
    text = f" {short(found.value, 4):>{width}} {half:>6} {share:>5} {point.grade or '-'}"
    return ((text, "" if point.is_clean else "warn"),)


def _brief(point: ScalingPoint, missing: str) -> Row:
    value = point.estimate.value
    if value is None:
        return ((f"{missing:>{_COLUMN}}", "bad"),)
    # A sign beside the number, because colour alone is not enough.
    sign = "" if point.is_clean else "!"
    return ((f"{sign + short(value, 4):>{_COLUMN}}", "" if point.is_clean else "warn"),)


def values_of(shown: Scaling) -> tuple[int, ...]:
    """Return all values on the axis that any series has."""
    return tuple(sorted({point.value for line in shown.lines for point in line.points}))


def sentence_facts(sentences: Sequence[Sentence], *, wide: bool) -> list[Fact]:
    """Return conclusions from the figure, comparisons of series first; with intervals if there is room."""
    ordered = sorted(sentences, key=lambda each: each.kind not in _FIRST)
    return [Fact(each.kind, each.text if wide else each.brief or each.text, _style(each.kind)) for each in ordered]


def sign_facts(shown: Scaling) -> list[Fact]:
    """Return the legend of the sign in a narrow table, if any number has it."""
    points = [point for line in shown.lines for point in line.measured if not point.is_clean]
    why = ("grade D" if any(point.grade == "D" for point in points) else "",
           "outputs differ" if any(point.grade != "D" for point in points) else "")  # fmt: skip
    return [Fact("!", " or ".join(filter(None, why)), "warn", "warn")] if points else []


def _style(kind: str) -> str:
    return "bad" if kind == "missing" else "warn" if kind == "note" else ""


def point_rows(
    shown: Scaling, value: int | None, width: int, *, ascii_only: bool, legible: Callable[[str], str]
) -> list[Row]:
    """Return the details of the points at one value: a line per series, or two lines for a single one."""
    found = list(_at(shown.lines, value))
    if len(found) == 1:
        words = point_words(found[0][1], shown.selection.metric)
        cursor = signs(ascii_only).cursor
        return hung(Fact(f" {cursor}", words, label_style=""), 3, max(width - 1, 20), legible)[:2]
    rows: list[Row] = []
    for sign, (line, point) in zip(signs(ascii_only).markers, found, strict=False):
        words = point_words(point, shown.selection.metric, brief=True)
        rows.append(((f" {sign} {line.side.label}  ", "dim"), (words, "" if point.is_clean else "warn")))
    return rows


def _at(lines: Sequence[Line], value: int | None) -> Iterator[tuple[Line, ScalingPoint]]:
    for line in lines:
        point = next((point for point in line.points if point.value == value), None)
        if point is not None:
            yield line, point


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

    def on_cursor_list_moved(self, message: CursorList.Moved) -> None:
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

    def step(self, by: int) -> None:
        """Select another value of the fixed axis."""
        if self._axis_held and self._shown is not None:
            self._choose(self._selection.next_fixed(self._shown.choices, self._axis_held, by))

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
