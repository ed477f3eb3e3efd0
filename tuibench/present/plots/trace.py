"""Draws values on a canvas: markers, lines, interval bars, the dotted ideal and the cursor."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, product

from tuibench.present.plots.drawing import DOTS_ACROSS, DOTS_DOWN, SERIES_STYLES, Canvas, Scale

Value = tuple[float, float, float | None, float | None]
"""(x, y, low, high)."""
Cell = tuple[int, int]
"""(column, row) of characters."""

_ROOM_PER_MARKER = 3
"""Columns per point needed for markers."""


_ROOM_PER_MARK = 12
"""Columns between signs on a line too dense for markers."""


@dataclass(frozen=True, slots=True)
class Signs:
    """The characters of one alphabet; series differ by sign, not by colour alone."""

    markers: tuple[str, str, str]
    cursor: str
    ideal: str
    band: str
    missing: str
    caps: tuple[str, str, str]
    """Upper cap, stem and lower cap of a bar."""
    cut: tuple[str, str]
    """Replaces a cap if the bar extends above or below the figure."""


_UNICODE = Signs(("●", "○", "◆"), "◉", "·", "░", "✗", ("┬", "│", "┴"), ("↑", "↓"))
_ASCII = Signs(("o", "x", "#"), "@", ".", ":", "!", ("+", "|", "+"), ("^", "v"))


def signs(ascii_only: bool) -> Signs:
    """Return the alphabet to draw with."""
    return _ASCII if ascii_only else _UNICODE


@dataclass(frozen=True, slots=True)
class Brush:
    """A canvas with the scales from values to dots."""

    canvas: Canvas
    x: Scale
    y: Scale
    signs: Signs

    def cell(self, x: float, y: float) -> Cell:
        """Return the character of a point; its row may be outside the canvas."""
        return self.x.place(x) // DOTS_ACROSS, self.y.place(y) // DOTS_DOWN

    def dot(self, x: float, y: float) -> tuple[int, int]:
        """Return the dot of a point."""
        return self.x.place(x), self.y.place(y)

    def rows(self, low: float, high: float) -> range:
        """Return the canvas rows from a high value down to a low one."""
        top, bottom = self.y.place(high) // DOTS_DOWN, self.y.place(low) // DOTS_DOWN
        return range(max(top, 0), min(bottom, self.canvas.height - 1) + 1)


@dataclass(frozen=True, slots=True)
class Stroke:
    """One series, ready to be drawn."""

    number: int
    values: tuple[Value, ...]
    breaks: frozenset[int]
    marked: bool = False
    """True if a line too dense for markers gets signs that distinguish it from others."""


@dataclass(frozen=True, slots=True)
class Drawn:
    """The places of a drawn series' points, and the sign of its bars; '' if no bar is visible."""

    places: tuple[Cell, ...]
    bars: str
    cut: str = ""
    """The arrows of a band that extends beyond the figure."""


def draw_stroke(brush: Brush, stroke: Stroke) -> Drawn:
    """Draw the line, then markers and bars where space allows, else a band between the bar ends."""
    dense = len(stroke.values) > max(brush.canvas.width // _ROOM_PER_MARKER, 1)
    shown = _thinned(brush, stroke) if dense else stroke
    # Start from the first value itself, so that a single value between two breaks is drawn, too.
    for i, (one, two) in enumerate(pairwise((*shown.values[:1], *shown.values))):
        begin = two if i in shown.breaks else one
        brush.canvas.line(brush.dot(*begin[:2]), brush.dot(*two[:2]), SERIES_STYLES[stroke.number])
    if not dense:
        return _draw_points(brush, stroke)
    if stroke.marked and brush.canvas.width > _ROOM_PER_MARK:
        _draw_marks(brush, shown)
    places = tuple(brush.cell(x, y) for x, y, *_ in stroke.values)
    has_band, arrows = _draw_band(brush, shown)
    return Drawn(places, brush.signs.band if has_band else "", arrows)


def draw_ideal(brush: Brush, ideal: Sequence[tuple[float, float]]) -> bool:
    """Draw the ideal as dots behind everything: straight in value, thus curved on a logarithmic axis.

    Draw it level if the axis has a single value. Return whether any of it is within the figure.
    """
    if brush.x.high <= brush.x.low:
        columns = range(brush.x.first // DOTS_ACROSS, brush.x.last // DOTS_ACROSS + 1)
        return _draw_dots(brush, product(columns, [y for x, y in ideal if x == brush.x.low][:1]))
    drawn = False
    for (x0, y0), (x1, y1) in pairwise(ideal):
        if x1 <= x0:
            continue
        first, last = brush.x.place(x0) // DOTS_ACROSS, brush.x.place(x1) // DOTS_ACROSS
        columns = range(max(first, 0), min(last, brush.canvas.width - 1) + 1)
        places = ((column, min(max(brush.x.value(column * DOTS_ACROSS), x0), x1)) for column in columns)
        drawn |= _draw_dots(brush, ((column, y0 + (y1 - y0) * (x - x0) / (x1 - x0)) for column, x in places))
    return drawn


def draw_missing(brush: Brush, x: float) -> None:
    """Put a sign at the bottom of the figure for a missing value."""
    column, row = brush.x.place(x) // DOTS_ACROSS, brush.canvas.height - 1
    if 0 <= column < brush.canvas.width:
        brush.canvas.sign(column, row, brush.signs.missing, "bad")


def draw_cursor(brush: Brush, place: Cell) -> None:
    """Draw the cursor."""
    brush.canvas.sign(*place, brush.signs.cursor, "mark")


def _draw_dots(brush: Brush, places: Iterable[tuple[int, float]]) -> bool:
    """Draw dots of the ideal at (column, y); return whether any is within the figure."""
    drawn = False
    for column, y in places:
        row = brush.y.place(y) // DOTS_DOWN
        if 0 <= row < brush.canvas.height:
            brush.canvas.backdrop(column, row, brush.signs.ideal, "ideal")
            drawn = True
    return drawn


def _draw_points(brush: Brush, stroke: Stroke) -> Drawn:
    style = SERIES_STYLES[stroke.number]
    places, with_bars = [], False
    for x, y, low, high in stroke.values:
        column, row = brush.cell(x, y)
        rows = brush.rows(min(y if low is None else low, y), max(y if high is None else high, y))
        column = _free_column(brush, column, rows)
        if low is not None and high is not None:
            with_bars |= _draw_bar(brush, column, row, low, high, style)
        places.append((column, row))
    # Draw markers after all bars, so that values stay visible.
    for column, row in places:
        brush.canvas.sign(column, row, brush.signs.markers[stroke.number], style)
    return Drawn(tuple(places), brush.signs.caps[0] if with_bars else "")


def _free_column(brush: Brush, column: int, rows: range) -> int:
    """Return a free column beside earlier series; the own column if there is none."""
    near = (each for each in (column, column + 1, column - 1, column + 2) if 0 <= each < brush.canvas.width)
    return next((each for each in near if not any(brush.canvas.is_taken(each, row) for row in rows)), column)


def _draw_marks(brush: Brush, stroke: Stroke) -> None:
    """Put the series' sign on its line at intervals, each series in columns of its own."""
    first = _ROOM_PER_MARK * (2 * stroke.number + 1) // (2 * len(SERIES_STYLES))
    wanted = set(range(first, brush.canvas.width, _ROOM_PER_MARK))
    for x, y, *_ in stroke.values:
        column, row = brush.cell(x, y)
        if column in wanted and 0 <= row < brush.canvas.height:
            wanted.discard(column)
            brush.canvas.sign(column, row, brush.signs.markers[stroke.number], SERIES_STYLES[stroke.number])


def _draw_bar(brush: Brush, column: int, row: int, low: float, high: float, style: str) -> bool:
    """Draw a bar; return whether any of it is outside the marker's character."""
    upper, stem, lower = brush.signs.caps
    above, below = brush.signs.cut
    top, foot = brush.y.place(high) // DOTS_DOWN, brush.y.place(low) // DOTS_DOWN
    for each in brush.rows(low, high):
        brush.canvas.sign(column, each, stem, style)
    if top < row:
        brush.canvas.sign(column, max(top, 0), upper if top >= 0 else above, style)
    if foot > row:
        last = brush.canvas.height - 1
        brush.canvas.sign(column, min(foot, last), lower if foot <= last else below, style)
    return top < row or foot > row


def _draw_band(brush: Brush, stroke: Stroke) -> tuple[bool, str]:
    """Draw the band from low to high up to the next value; return if there was any, and the arrows of cut ends."""
    columns = [brush.x.place(value[0]) // DOTS_ACROSS for value in stroke.values]
    last = brush.canvas.height - 1
    drawn, cut = False, []
    for i, (_, _, low, high) in enumerate(stroke.values):
        if low is None or high is None or high <= low:
            continue
        joined = i + 1 < len(columns) and i + 1 not in stroke.breaks
        across = range(columns[i], max(columns[i + 1] if joined else 0, columns[i] + 1))
        for column, row in product(across, brush.rows(low, high)):
            brush.canvas.backdrop(column, row, brush.signs.band, "dim")
            drawn = True
        above, below = brush.y.place(high) < 0, brush.y.place(low) // DOTS_DOWN > last
        ends = [(0, brush.signs.cut[0])] * above + [(last, brush.signs.cut[1])] * below
        cut += [(column, row, sign) for column in across for row, sign in ends]
    # Draw arrows last, so that other values in the column do not cover them.
    for column, row, sign in cut:
        brush.canvas.backdrop(column, row, sign, "dim")
    arrows = "".join(sign for sign in brush.signs.cut if any(sign == each for *_, each in cut))
    return drawn or bool(cut), arrows


def _thinned(brush: Brush, stroke: Stroke) -> Stroke:
    """Keep each dot column's first, least, greatest and last value: the line looks the same."""
    values: list[Value] = []
    breaks: set[int] = set()
    group: list[Value] = []
    for i, value in enumerate(stroke.values):
        if group and (i in stroke.breaks or brush.x.place(group[0][0]) != brush.x.place(value[0])):
            values += _outline(group)
            group = []
        if i in stroke.breaks:
            breaks.add(len(values))
        group.append(value)
    return replace(stroke, values=(*values, *_outline(group)), breaks=frozenset(breaks))


def _outline(group: Sequence[Value]) -> list[Value]:
    """Return these values in order, each with the range of the whole group."""
    low = min((value[2] for value in group if value[2] is not None), default=None)
    high = max((value[3] for value in group if value[3] is not None), default=None)
    heights = [value[1] for value in group]
    kept = {0, heights.index(min(heights)), heights.index(max(heights)), len(group) - 1}
    return [(group[i][0], heights[i], low, high) for i in sorted(kept)]
