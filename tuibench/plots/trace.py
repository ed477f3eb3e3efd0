"""Values on a canvas: markers joined by lines, bars with caps, the dotted ideal, the cursor."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from tuibench.plots.canvas import DOTS_ACROSS, DOTS_DOWN, Canvas
from tuibench.plots.scale import Scale
from tuibench.plots.styled import SERIES_STYLES

Value = tuple[float, float, float | None, float | None]
"""(x, y, low, high)."""

MARKERS = ("●", "○", "◆")
ASCII_MARKERS = ("o", "x", "#")
CURSORS = ("◉", "@")
IDEALS = ("·", ".")
_CAPS = {False: ("┬", "│", "┴", "↑", "↓"), True: ("+", "|", "+", "^", "v")}


@dataclass(frozen=True, slots=True)
class Brush:
    """A canvas with the scales that lead from values to its dots."""

    canvas: Canvas
    x: Scale
    y: Scale
    ascii_only: bool

    def column(self, x: float) -> int:
        """The column of characters of an x."""
        return self.x.place(x) // DOTS_ACROSS

    def row(self, y: float) -> int:
        """The row of characters of a y; outside the canvas where the value is."""
        return self.y.place(y) // DOTS_DOWN

    def dot(self, x: float, y: float) -> tuple[int, int]:
        """The dot of a point."""
        return self.x.place(x), self.y.place(y)


@dataclass(frozen=True, slots=True)
class Stroke:
    """One series, ready to be drawn."""

    number: int
    values: tuple[Value, ...]
    breaks: frozenset[int]


def markers(ascii_only: bool) -> tuple[str, ...]:
    """The signs of the first, second and third series: colour never tells them apart alone."""
    return ASCII_MARKERS if ascii_only else MARKERS


def draw_stroke(brush: Brush, stroke: Stroke) -> None:
    """The line, and what stands at its points: markers and bars where there is room, else the band between the bars."""
    style = SERIES_STYLES[stroke.number]
    dense = len(stroke.values) > max(brush.canvas.width // 3, 1)
    if dense:
        _draw_band(brush, stroke.values)
    for i in range(1, len(stroke.values)):
        if i not in stroke.breaks:
            (x0, y0, *_), (x1, y1, *_) = stroke.values[i - 1], stroke.values[i]
            brush.canvas.line(brush.dot(x0, y0), brush.dot(x1, y1), style)
    if dense and len(stroke.values) > 1:
        return
    for value in stroke.values:
        _draw_bar(brush, value, style)
    for x, y, *_ in stroke.values:
        brush.canvas.sign(brush.column(x), brush.row(y), markers(brush.ascii_only)[stroke.number], style)


def draw_backdrop(brush: Brush, ideal: Sequence[tuple[float, float]]) -> None:
    """The ideal as points behind everything: straight in its own values, so curved where the axis is logarithmic."""
    char = IDEALS[brush.ascii_only]
    for (x0, y0), (x1, y1) in pairwise(ideal):
        if x1 <= x0:
            continue
        first, last = brush.column(x0), brush.column(x1)
        for column in range(max(first, 0), min(last, brush.canvas.width - 1) + 1):
            x = min(max(brush.x.value(column * DOTS_ACROSS), x0), x1)
            row = brush.row(y0 + (y1 - y0) * (x - x0) / (x1 - x0))
            if 0 <= row < brush.canvas.height:
                brush.canvas.backdrop(column, row, char, "ideal")


def draw_cursor(brush: Brush, x: float, y: float) -> None:
    """The point that the reader is at."""
    brush.canvas.sign(brush.column(x), brush.row(y), CURSORS[brush.ascii_only], "mark")


def _draw_bar(brush: Brush, value: Value, style: str) -> None:
    x, y, low, high = value
    if low is None or high is None:
        return
    upper, middle, lower, above, below = _CAPS[brush.ascii_only]
    column, bottom = brush.column(x), brush.canvas.height - 1
    top_row, marker_row, low_row = brush.row(high), brush.row(y), brush.row(low)
    for row in range(max(top_row, 0), min(low_row, bottom) + 1):
        brush.canvas.sign(column, row, middle, style)
    if top_row < marker_row:
        brush.canvas.sign(column, max(top_row, 0), upper if top_row >= 0 else above, style)
    if low_row > marker_row:
        brush.canvas.sign(column, min(low_row, bottom), lower if low_row <= bottom else below, style)


def _draw_band(brush: Brush, values: Sequence[Value]) -> None:
    for x, y, low, high in values:
        if low is not None and high is not None and not math.isclose(low, high):
            brush.canvas.line(brush.dot(x, low), brush.dot(x, high), "dim")
            brush.canvas.line(brush.dot(x, y), brush.dot(x, y), "dim")
