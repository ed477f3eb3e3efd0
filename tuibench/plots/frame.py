"""The frame around the data: layout, y ticks, x ticks and the legend."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from tuibench.core.width import fit, width_of
from tuibench.plots.canvas import DOTS_DOWN
from tuibench.plots.scale import Scale, round_ticks, tick_labels
from tuibench.plots.styled import Row, Span, filled, joined

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
        text = fit(label, max(frame.width // 2, 1))
        size = width_of(text)
        start = min(max(frame.margin + column - (size - 1) // 2, 0), frame.width - size)
        if all(start + size < other or other + width_of(name) < start for other, name, _ in placed):
            placed.append((start, text, column == chosen))
    at = 0
    for start, text, is_chosen in sorted(placed):
        yield " " * (start - at), "plain"
        yield text, "mark" if is_chosen else "axis"
        at = start + width_of(text)


def fitting(parts: Sequence[Span], room: int) -> list[Span]:
    """Return the whole legend parts that fit; cut the first one if even that is too long."""
    spans: list[Span] = []
    for number, (text, style) in enumerate(parts):
        kept = (_GAP if number else "") + text
        if number and width_of(kept) > room:
            break
        kept = fit(kept, room)
        spans.append((kept, style))
        room -= width_of(kept)
    return spans
