"""A figure as data, and its drawing: axes with round ticks, lines, capped bars of uncertainty, a legend outside."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from tuibench.plots.canvas import DOTS_ACROSS, Canvas
from tuibench.plots.frame import Frame, Words, frame_rows, make_frame
from tuibench.plots.scale import Scale, round_ticks, tame, tick_labels
from tuibench.plots.styled import Row, message_rows
from tuibench.plots.trace import Brush, Stroke, draw_backdrop, draw_cursor, draw_stroke

MOST_SERIES = 3
_BAR_LIMIT = 1.5
"""Bars of uncertainty may reach so many times as far as the values; beyond it they end in an arrow."""
_IDEAL_LIMIT = 1.3


@dataclass(frozen=True, slots=True)
class Point:
    """One value, perhaps with how far it can be trusted."""

    x: float
    y: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class Series:
    """Points in order of x, joined by a line; its name must be safe to print."""

    name: str
    points: tuple[Point, ...]
    breaks: tuple[int, ...] = ()
    """Numbers of points that are not joined to the one before."""


@dataclass(frozen=True, slots=True)
class Figure:
    """What `draw` needs to know; nothing in it depends on the size of a screen."""

    series: tuple[Series, ...]
    x_ticks: tuple[tuple[float, str], ...] | None
    """Where the x axis is marked; None for round values."""
    x_name: str
    y_name: str
    log2_x: bool = False
    ideal: tuple[Point, ...] = ()
    """What the values would ideally be, as straight lines over x."""
    from_zero: bool = True
    ideal_name: str = "ideal"
    bar_name: str = "95 % interval"
    empty: str = "nothing measured"
    """What stands in place of a figure without points."""


def draw(
    figure: Figure, width: int, height: int, *, ascii_only: bool = False, cursor: tuple[int, int] | None = None
) -> tuple[Row, ...]:
    """The figure in exactly `height` rows of `width` columns; `cursor` is (number of series, number of point).

    What has no room goes: first the legend, then the names of ticks, then the axes.
    """
    if width < 1 or height < 1:
        return ()
    figure = _tamed(figure)
    points = [point for series in figure.series for point in series.points]
    if not points:
        return message_rows(figure.empty, width, height)
    low, high = _span(figure, points)
    words = _words(figure, points)
    frame = make_frame(width, height, low, high, ascii_only)
    canvas = Canvas(frame.columns, frame.lines, ascii_only)
    brush = Brush(canvas, _x_scale(figure, points, frame), frame.y, ascii_only)
    draw_backdrop(brush, [(point.x, point.y) for point in figure.ideal])
    for stroke in _strokes(figure):
        draw_stroke(brush, stroke)
    marked = _pointed(figure, cursor)
    if marked is not None:
        draw_cursor(brush, marked.x, marked.y)
    ticks = [(brush.column(x), label) for x, label in _x_ticks(figure, brush.x, frame)]
    chosen = brush.column(marked.x) if marked is not None else None
    return frame_rows(frame, canvas.rows(), ticks, words, chosen)


def _tamed(figure: Figure) -> Figure:
    """Without what cannot be drawn: series too many, values that are no numbers or beyond all measure."""
    series = tuple(_tamed_series(series) for series in figure.series[:MOST_SERIES])
    # A point without a width is one without a bar.
    return replace(figure, series=series, ideal=tuple(_tamed_points(figure.ideal)))


def _tamed_series(series: Series) -> Series:
    kept = list(_tamed_points(series.points))
    return (
        series
        if len(kept) == len(series.points) and kept == list(series.points)
        else replace(series, points=tuple(kept))
    )


def _tamed_points(points: Iterable[Point]) -> Iterator[Point]:
    for point in points:
        if not (math.isfinite(point.x) and math.isfinite(point.y)):
            continue
        low, high = (None if v is None or not math.isfinite(v) else tame(v) for v in (point.low, point.high))
        yield Point(tame(point.x), tame(point.y), low, high)


def _span(figure: Figure, points: list[Point]) -> tuple[float, float]:
    """From the least to the greatest that the y axis must show."""
    values = [point.y for point in points]
    low, high = min(values), max(values)
    reach = max(abs(low), abs(high)) if figure.from_zero else (high - low) or abs(high) or 1.0
    bottom = min([low, *(p.low for p in points if p.low is not None)])
    top = max([high, *(p.high for p in points if p.high is not None)])
    bottom, top = max(bottom, low - (_BAR_LIMIT - 1) * reach), min(top, high + (_BAR_LIMIT - 1) * reach)
    if figure.from_zero:
        bottom, top = min(bottom, 0.0) if low < 0 else 0.0, max(top, 0.0)
    wanted = max((p.y for p in figure.ideal), default=top)
    if top < wanted <= max(high, top) * _IDEAL_LIMIT:
        top = wanted
    return bottom, top


def _words(figure: Figure, points: list[Point]) -> Words:
    bars = any(p.low is not None and p.high is not None and p.high > p.low for p in points)
    return Words(
        names=tuple(series.name for series in figure.series),
        ideal=figure.ideal_name if figure.ideal else "",
        bars=figure.bar_name if bars else "",
        x_name=figure.x_name + (" (log2)" if figure.log2_x and figure.x_name else ""),
        y_name=figure.y_name,
    )


def _x_scale(figure: Figure, points: list[Point], frame: Frame) -> Scale:
    low, high = min(p.x for p in points), max(p.x for p in points)
    inset = min(2, (frame.columns - 1) // 6)
    last = (frame.columns - inset) * DOTS_ACROSS - 1
    return Scale(low, high, inset * DOTS_ACROSS, max(last, inset * DOTS_ACROSS), figure.log2_x and low > 0)


def _x_ticks(figure: Figure, x: Scale, frame: Frame) -> list[tuple[float, str]]:
    if figure.x_ticks is not None:
        return [(value, label) for value, label in figure.x_ticks if x.low <= value <= x.high]
    ticks = [tick for tick in round_ticks(x.low, x.high, max(2, frame.columns // 12)) if x.low <= tick <= x.high]
    return list(zip(ticks, tick_labels(ticks), strict=True))


def _strokes(figure: Figure) -> Iterator[Stroke]:
    for number, series in enumerate(figure.series):
        points = tuple((p.x, p.y, p.low, p.high) for p in series.points)
        yield Stroke(number, points, frozenset(series.breaks))


def _pointed(figure: Figure, cursor: tuple[int, int] | None) -> Point | None:
    if cursor is None or not 0 <= cursor[0] < len(figure.series):
        return None
    points = figure.series[cursor[0]].points
    return points[cursor[1]] if 0 <= cursor[1] < len(points) else None
