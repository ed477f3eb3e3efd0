"""What stands around the data: how the room is shared out, y ticks, x ticks at their values, the legend."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tuibench.core.width import fit, width_of
from tuibench.plots.canvas import DOTS_DOWN
from tuibench.plots.scale import Scale, round_ticks, tick_labels
from tuibench.plots.styled import SERIES_STYLES, Row, Span, filled, joined
from tuibench.plots.trace import IDEALS, markers

_LEGEND_FROM, _AXIS_FROM, _NAMES_FROM = 7, 5, 3
"""Heights in rows from which there is a legend, a line for the x axis, names of x ticks."""
_Y_NAMES_FROM = 20
_ROWS_PER_TICK = 3
_LINES = {False: ("│", "┤", "└", "─", "┴"), True: ("|", "+", "+", "-", "+")}


@dataclass(frozen=True, slots=True)
class Words:
    """What a figure says beside its data."""

    names: tuple[str, ...]
    ideal: str
    bars: str
    x_name: str
    y_name: str


@dataclass(frozen=True, slots=True)
class Frame:
    """The room of a figure, shared out."""

    width: int
    margin: int
    """Columns left of the y axis, and of it."""
    columns: int
    lines: int
    y: Scale
    y_names: tuple[tuple[int, str], ...]
    """(row, label)."""
    axis: bool
    x_names: bool
    legend: bool
    ascii_only: bool


def make_frame(width: int, height: int, low: float, high: float, ascii_only: bool) -> Frame:
    """Share out the room between the data and what stands around it."""
    legend = height >= _LEGEND_FROM and width >= _Y_NAMES_FROM
    axis, x_names = height >= _AXIS_FROM, height >= _NAMES_FROM
    lines = height - legend - axis - x_names
    ticks = round_ticks(low, high, max(2, 1 + lines // _ROWS_PER_TICK))
    y = Scale(ticks[0], ticks[-1], lines * DOTS_DOWN - 1, 0)
    labels = tick_labels(ticks) if width >= _Y_NAMES_FROM else ()
    room = max((width_of(label) for label in labels), default=0)
    y_names = tuple((y.place(tick) // DOTS_DOWN, label) for tick, label in zip(ticks, labels, strict=False))
    margin = room + 1 if width >= 4 else 0
    return Frame(width, margin, width - margin, lines, y, y_names, axis, x_names, legend, ascii_only)


def frame_rows(
    frame: Frame, inner: Sequence[Row], ticks: Sequence[tuple[int, str]], words: Words, chosen: int | None
) -> tuple[Row, ...]:
    """The rows of the data with axes, names and legend around them; `ticks` are (column, label), `chosen` a column."""
    side, tick, corner, flat, mark = _LINES[frame.ascii_only]
    names = dict(frame.y_names)
    rows: list[Row] = []
    for number, row in enumerate(inner):
        label = names.get(number, "")
        edge = f"{label:>{max(frame.margin - 1, 0)}}{tick if number in names else side}" if frame.margin else ""
        rows.append(joined([(edge, "axis"), *row]))
    if frame.axis:
        marked = {column for column, _ in ticks}
        line = "".join(mark if column in marked else flat for column in range(frame.columns))
        rows.append(
            filled([(" " * max(frame.margin - 1, 0) + corner * bool(frame.margin) + line, "axis")], frame.width)
        )
    if frame.x_names:
        rows.append(filled(_x_names(frame, ticks, words, chosen), frame.width))
    if frame.legend:
        rows.append(filled(_legend(frame, words), frame.width))
    return tuple(rows)


def _x_names(frame: Frame, ticks: Sequence[tuple[int, str]], words: Words, chosen: int | None) -> Iterator[Span]:
    """As many labels as have room, each below its tick: the chosen one, the ends, then from left to right."""
    placed: list[tuple[int, str, bool]] = []
    order = sorted(range(len(ticks)), key=lambda i: (ticks[i][0] != chosen, 0 < i < len(ticks) - 1, i))
    for i in order:
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
    name = words.x_name
    if name and at + 2 + width_of(name) <= frame.width:
        yield " " * (frame.width - at - width_of(name)) + name, "dim"


def _legend(frame: Frame, words: Words) -> Iterator[Span]:
    room = frame.width
    parts: list[Span] = []
    signs = markers(frame.ascii_only)
    parts += [(f"{signs[i]} {name}", SERIES_STYLES[i]) for i, name in enumerate(words.names) if name]
    if words.ideal:
        parts.append((f"{IDEALS[frame.ascii_only]} {words.ideal}", "ideal"))
    if words.bars:
        parts.append((f"{'+' if frame.ascii_only else '┬'} {words.bars}", "dim"))
    if words.y_name:
        parts.append((words.y_name, "dim"))
    gap = ""
    for text, style in parts:
        if room <= len(gap):
            return
        kept = fit(gap + text, room)
        yield kept, style
        room -= width_of(kept)
        gap = "   "
