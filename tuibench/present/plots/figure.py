"""A figure as data, and its drawing: axes with round ticks, lines, interval bars and a legend."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from tuibench.core.text import cut, width_of
from tuibench.core.units import count_of
from tuibench.present.plots.drawing import (
    DOTS_ACROSS,
    DOTS_DOWN,
    SERIES_STYLES,
    Canvas,
    Row,
    Scale,
    Span,
    filled,
    joined,
    message_rows,
    round_ticks,
    tame,
    tick_labels,
)
from tuibench.present.plots.trace import Brush, Stroke, draw_cursor, draw_ideal, draw_missing, draw_stroke, signs

_LEGEND_FROM, _AXIS_FROM, _NAMES_FROM = 7, 5, 3
"""Least heights in rows for the legend, the x axis line and the x tick labels."""
_Y_NAMES_FROM = 20
_EDGE_FROM = 4
"""Least widths in columns for y tick labels and the y axis line."""
_ROWS_PER_TICK = 3
_LINES = {False: ("│", "┤", "└", "─", "┴"), True: ("|", "+", "+", "-", "+")}
_GAP = "  "


@dataclass(frozen=True, slots=True)
class Frame:
    """The layout of a figure."""

    width: int
    margin: int
    """Columns left of the data: y tick labels and the axis."""
    columns: int
    lines: int
    y: Scale
    """Maps values to dot rows."""
    y_names: tuple[tuple[int, str], ...]
    """(row, label) pairs."""
    has_axis: bool
    has_x_names: bool
    has_legend: bool
    ascii_only: bool


def make_frame(
    width: int,
    height: int,
    low: float,
    high: float,
    ascii_only: bool,
    names: Callable[[Sequence[float]], Sequence[str]] = tick_labels,
) -> Frame:
    """Divide the space between the data and its frame; the y axis ends at round values.

    `names` formats the tick labels, for axes of logarithms, for example.
    """
    legend = height >= _LEGEND_FROM and width >= _Y_NAMES_FROM
    axis, x_names = height >= _AXIS_FROM, height >= _NAMES_FROM
    lines = height - legend - axis - x_names
    ticks = round_ticks(low, high, max(3 if lines >= _ROWS_PER_TICK else 2, 1 + lines // _ROWS_PER_TICK))
    y = Scale(ticks[0], ticks[-1], lines * DOTS_DOWN - 1, 0)
    labels = names(ticks) if width >= _Y_NAMES_FROM else ()
    room = max((width_of(label) for label in labels), default=0)
    y_names = tuple((y.place(tick) // DOTS_DOWN, label) for tick, label in zip(ticks, labels, strict=False))
    margin = room + 1 if width >= _EDGE_FROM else 0
    return Frame(width, margin, width - margin, lines, y, y_names, axis, x_names, legend, ascii_only)


def frame_rows(
    frame: Frame,
    inner: Sequence[Row],
    ticks: Sequence[tuple[int, str]],
    legend: Sequence[Span],
    chosen: int | None = None,
) -> tuple[Row, ...]:
    """Add the frame to the data rows; `ticks` are (column, label), and `chosen` highlights one of the columns."""
    rows = [_with_edge(frame, number, row) for number, row in enumerate(inner)]
    if frame.has_axis:
        rows.append(_axis(frame, {column for column, _ in ticks}))
    if frame.has_x_names:
        rows.append(filled(_x_names(frame, ticks, chosen), frame.width))
    if frame.has_legend:
        rows.append(filled(fitting(legend, frame.width), frame.width))
    return tuple(rows)


def _with_edge(frame: Frame, number: int, row: Row) -> Row:
    if not frame.margin:
        return row
    side, tick, *_ = _LINES[frame.ascii_only]
    names = dict(frame.y_names)
    return joined([(f"{names.get(number, ''):>{frame.margin - 1}}{tick if number in names else side}", "axis"), *row])


def _axis(frame: Frame, marked: set[int]) -> Row:
    *_, corner, flat, mark = _LINES[frame.ascii_only]
    line = "".join(mark if column in marked else flat for column in range(frame.columns))
    edge = " " * (frame.margin - 1) + corner if frame.margin else ""
    return filled([(edge + line, "axis")], frame.width)


def _x_names(frame: Frame, ticks: Sequence[tuple[int, str]], chosen: int | None) -> Iterator[Span]:
    """Place labels below their ticks as space allows: the chosen one, the ends, then from left to right."""
    placed: list[tuple[int, str, bool]] = []
    for i in sorted(range(len(ticks)), key=lambda i: (ticks[i][0] != chosen, 0 < i < len(ticks) - 1, i)):
        column, label = ticks[i]
        text = cut(label, max(frame.width // 2, 1))
        size = width_of(text)
        start = min(max(frame.margin + column - (size - 1) // 2, 0), frame.width - size)
        if all(start + size < other or other + width_of(name) < start for other, name, _ in placed):
            placed.append((start, text, column == chosen))
    at = 0
    for start, text, is_chosen in sorted(placed):
        yield " " * (start - at), ""
        yield text, "mark" if is_chosen else "axis"
        at = start + width_of(text)


def fitting(parts: Sequence[Span], room: int) -> list[Span]:
    """Return the whole legend parts that fit; cut the first one if even that is too long."""
    spans: list[Span] = []
    for number, (text, style) in enumerate(parts):
        kept = (_GAP if number else "") + text
        if number and width_of(kept) > room:
            break
        kept = cut(kept, room)
        spans.append((kept, style))
        room -= width_of(kept)
    return spans


MOST_SERIES = 3
_BAR_LIMIT = 1.5
"""Interval bars extend at most this many times as far as the values; longer ones end in an arrow."""
_IDEAL_LIMIT = 1.3
_NOISE = 1e-6
"""Relative difference up to which values count as equal."""
_MAX_NAME_WIDTH = 32


@dataclass(frozen=True, slots=True)
class Point:
    """One value, with its interval if known."""

    x: float
    y: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class Series:
    """Points in order of x, joined by a line; the name must be safe to print."""

    name: str
    points: tuple[Point, ...]
    breaks: tuple[int, ...] = ()
    """Indices of points not joined to the previous one."""
    missing: tuple[float, ...] = ()
    """The x positions without a value."""


@dataclass(frozen=True, slots=True)
class Figure:
    """Everything `draw` needs except the size."""

    series: tuple[Series, ...]
    x_ticks: tuple[tuple[float, str], ...] | None
    """Tick positions and labels of the x axis; None for round values."""
    x_name: str
    y_name: str
    log2_x: bool = False
    ideal: tuple[Point, ...] = ()
    """The ideal values, as straight lines over x."""
    from_zero: bool = True
    ideal_name: str = "ideal"
    bar_name: str = "95 % interval"
    missing_name: str = "no value"
    empty: str = "nothing measured"
    """Message in place of a figure without points."""


@dataclass(frozen=True, slots=True)
class _Seen:
    """Features found while drawing, for the legend."""

    bars: str
    """The sign that shows bars; '' if no bar is visible."""
    cut: str
    """The arrows at clipped bars."""
    has_ideal: bool
    left_out: int
    """Number of series not drawn."""


def draw(
    figure: Figure, width: int, height: int, *, ascii_only: bool = False, cursor: tuple[int, int] | None = None
) -> tuple[Row, ...]:
    """Draw the figure in exactly `height` rows of `width` columns; `cursor` is (series index, point index).

    If space is short, drop the legend first, then the axis lines, then the tick labels.
    """
    if width < 1 or height < 1:
        return ()
    figure, left_out = _tamed(figure), len(figure.series[MOST_SERIES:])
    points = [point for series in figure.series for point in series.points]
    if not points:
        return message_rows(figure.empty, width, height, ascii_only)
    frame = make_frame(width, height, *_span(figure, points), ascii_only)
    canvas = Canvas(frame.columns, frame.lines, ascii_only)
    brush = Brush(canvas, _x_scale(figure, points, frame), frame.y, signs(ascii_only))
    has_ideal = draw_ideal(brush, [(point.x, point.y) for point in figure.ideal])
    for x in dict.fromkeys(x for series in figure.series for x in series.missing):
        draw_missing(brush, x)
    drawn = [draw_stroke(brush, stroke) for stroke in _strokes(figure)]
    marked = _marked(figure, cursor)
    if cursor is not None and marked is not None:
        draw_cursor(brush, drawn[cursor[0]].places[cursor[1]])
    ticks = [(brush.cell(x, 0.0)[0], label) for x, label in _x_ticks(figure, brush.x, frame)]
    chosen = brush.cell(marked.x, 0.0)[0] if marked is not None else None
    bars, cut = (next(filter(None, each), "") for each in ([d.bars for d in drawn], [d.cut for d in drawn]))
    legend = _legend(figure, brush, _Seen(bars, cut, has_ideal, left_out), width)
    return frame_rows(frame, canvas.rows(), ticks, legend, chosen)


def _tamed(figure: Figure) -> Figure:
    """Drop surplus series and values that are not finite; clamp extreme values."""
    series = tuple(_tamed_series(series) for series in figure.series[:MOST_SERIES])
    return replace(figure, series=series, ideal=tuple(_tamed_points(figure.ideal)))


def _tamed_series(series: Series) -> Series:
    missing = tuple(tame(x) for x in series.missing if math.isfinite(x))
    return replace(series, points=tuple(_tamed_points(series.points)), missing=missing)


def _tamed_points(points: Iterable[Point]) -> Iterator[Point]:
    for point in points:
        if not (math.isfinite(point.x) and math.isfinite(point.y)):
            continue
        low, high = (None if v is None or not math.isfinite(v) else tame(v) for v in (point.low, point.high))
        yield Point(tame(point.x), tame(point.y), low, high)


def _span(figure: Figure, points: list[Point]) -> tuple[float, float]:
    """Return the range of the y axis."""
    values = [point.y for point in points]
    low, high = min(values), max(values)
    lowest = min([low, *(p.low for p in points if p.low is not None)])
    highest = max([high, *(p.high for p in points if p.high is not None)])
    reach = (_BAR_LIMIT - 1) * _reach(figure, low, high)
    bottom, top = max(lowest, low - reach), min(highest, high + reach)
    if figure.from_zero:
        bottom, top = min(bottom, 0.0) if low < 0 else 0.0, max(top, 0.0)
    least, most = min((p.y for p in figure.ideal), default=bottom), max((p.y for p in figure.ideal), default=top)
    # Without zero as a reference the ideal is the reference: show it, so that bars around it can be judged.
    if bottom > least and (least >= bottom / _IDEAL_LIMIT or (not figure.from_zero and least >= lowest)):
        bottom = least
    if top < most and (most <= max(high, top) * _IDEAL_LIMIT or (not figure.from_zero and most <= highest)):
        top = most
    return (top, top) if _is_flat(bottom, top) else (bottom, top)


def _reach(figure: Figure, low: float, high: float) -> float:
    """Return the extent of the values: from zero if zero or an ideal is shown, else from least to greatest."""
    if figure.from_zero or figure.ideal:
        return max(abs(low), abs(high))
    return abs(high) or 1.0 if _is_flat(low, high) else high - low


def _is_flat(low: float, high: float) -> bool:
    return high - low <= _NOISE * max(abs(low), abs(high))


def _legend(figure: Figure, brush: Brush, seen: _Seen, room: int) -> list[Span]:
    """Return the title, the sign of each series and the other signs, the most needed first."""
    title = " by ".join(filter(None, (figure.y_name, figure.x_name)))
    named = zip(brush.signs.markers, figure.series, SERIES_STYLES, strict=False)
    parts: list[Span] = [
        (f"{sign} {cut(series.name, _MAX_NAME_WIDTH)}", style) for sign, series, style in named if series.name
    ]
    if seen.left_out:
        parts.append((f"{count_of(seen.left_out, 'more line')} not drawn", "dim"))
    if any(series.missing for series in figure.series):
        parts.append((f"{brush.signs.missing} {figure.missing_name}", "bad"))
    if seen.has_ideal:
        parts.append((f"{brush.signs.ideal} {figure.ideal_name}", "ideal"))
    if seen.bars:
        parts.append((f"{seen.bars} {figure.bar_name}", "dim"))
    if seen.cut:
        parts.append((f"{seen.cut} cut", "dim"))
    # Drop `(log2)` first if space is short: evenly spaced doublings show it, too.
    titles = (f"{title} (log2)", title) if brush.x.log2 and title else (title,)
    legends = [[part for part in ((text, "dim"), *parts) if part[0]] for text in titles]
    return max(legends, key=lambda legend: len(fitting(legend, room)))


def _x_scale(figure: Figure, points: list[Point], frame: Frame) -> Scale:
    every = [p.x for p in points] + [x for series in figure.series for x in series.missing]
    low, high = min(every), max(every)
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
        yield Stroke(number, points, frozenset(series.breaks), marked=len(figure.series) > 1)


def _marked(figure: Figure, cursor: tuple[int, int] | None) -> Point | None:
    if cursor is None or not 0 <= cursor[0] < len(figure.series):
        return None
    points = figure.series[cursor[0]].points
    return points[cursor[1]] if 0 <= cursor[1] < len(points) else None
