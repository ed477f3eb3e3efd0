"""One value per layer over the depth of a model, as columns with a cursor."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tuibench.core.text import cut, pad, width_of
from tuibench.core.units import short
from tuibench.present.plots.drawing import (
    DOTS_ACROSS,
    DOTS_DOWN,
    Canvas,
    Row,
    Span,
    filled,
    message_rows,
    round_ticks,
    tame,
    tick_labels,
)
from tuibench.present.plots.figure import Frame, frame_rows, make_frame

_EIGHTHS = " ▏▎▍▌▋▊▉"
_GAP = 1


def draw_bars(bars: Sequence[tuple[str, float, str]], width: int, ascii_only: bool = False) -> tuple[Row, ...]:
    """Draw one row per (label, value, text); the bar of the greatest value fills its space."""
    if width < 1:
        return ()
    text_room = min(max((width_of(text) for _, _, text in bars), default=0), width // 2)
    label_room = min(max((width_of(label) for label, _, _ in bars), default=0), width // 3)
    room = max(width - label_room - text_room - 2 * _GAP, 0)
    most = max((value for _, value, _ in bars if math.isfinite(value)), default=0.0)
    rows = []
    for label, value, text in bars:
        share = value / most if most > 0 and math.isfinite(value) and value > 0 else 0.0
        spans = [
            (pad(cut(label, label_room), label_room) + " " * _GAP, ""),
            (_bar(share, room, ascii_only), "series-1"),
            (" " * _GAP + pad(cut(text, text_room), text_room, right=True), ""),
        ]
        rows.append(filled(spans, width))
    return tuple(rows)


def progress_bar(done: float, total: float, width: int, ascii_only: bool = False) -> str:
    """Return a progress bar of `width` characters; it is full only when all is done."""
    share = min(max(done / total, 0.0), 1.0) if total > 0 else 0.0
    full = min(round(share * width), width - (share < 1)) if width > 0 else 0
    return ("#" if ascii_only else "█") * full + ("-" if ascii_only else "░") * (max(width, 0) - full)


def _bar(share: float, room: int, ascii_only: bool) -> str:
    if ascii_only:
        return ("#" * round(share * room)).ljust(room)
    eighths = round(share * room * 8)
    text = "█" * (eighths // 8) + (_EIGHTHS[eighths % 8] if eighths % 8 else "")
    return text.ljust(room)


_BLOCKS = "▁▂▃▄▅▆▇█"
_ASCII = "_.-:=+*#"


def sparkline(
    values: Sequence[float | None],
    ascii_only: bool = False,
    width: int | None = None,
    *,
    low: float | None = None,
    high: float | None = None,
) -> str:
    """Return one character per value, blank for None; with `width` average values to at most that many characters.

    The scale runs from the least value to the greatest unless `low` and `high` are given; equal values are drawn in the
    middle.
    """
    known = [v if v is not None and math.isfinite(v) else None for v in values]
    if width is not None and len(known) > width:
        known = _thinned(known, width)
    present = [v for v in known if v is not None]
    if not present:
        return " " * len(known)
    bottom = min(present) if low is None else low
    top = max(present) if high is None else high
    levels = _ASCII if ascii_only else _BLOCKS
    return "".join(" " if v is None else levels[_level(v, bottom, top, len(levels))] for v in known)


def _level(value: float, bottom: float, top: float, count: int) -> int:
    # Halve first: the difference of extreme numbers would overflow.
    span = top / 2 - bottom / 2
    if span <= 0:
        return count // 2 - 1
    return min(max(int((value / 2 - bottom / 2) / span * count), 0), count - 1)


def _thinned(values: Sequence[float | None], width: int) -> list[float | None]:
    thin: list[float | None] = []
    for i in range(max(width, 0)):
        part = [v for v in values[i * len(values) // width : (i + 1) * len(values) // width] if v is not None]
        thin.append(math.fsum(v / len(part) for v in part) if part else None)
    return thin


_LEVELS = " .:#"
"""Fill levels of one character in ASCII."""
_EVERYDAY = 5
_DECADES = 5.0
"""Range of a logarithmic axis in decades; smaller values have no height."""


@dataclass(frozen=True, slots=True)
class Depth:
    """One value per layer, in the order of the model; None for a layer without a value."""

    title: str
    """Safe to print."""
    keys: tuple[str, ...]
    """The ids of the layers."""
    values: tuple[float | None, ...]
    texts: Sequence[str] = ()
    """Each value as text."""
    log: bool = False
    """True for a logarithmic axis."""
    empty: str = ""
    """Why no layer has a value, if known."""


@dataclass(frozen=True, slots=True)
class _Column:
    """One column of dots, or of characters in ASCII; `is_missing` if its layers have no value."""

    value: float | None
    is_missing: bool


def draw_depth(
    depth: Depth, width: int, height: int, *, cursor: int | None = None, ascii_only: bool = False
) -> tuple[Row, ...]:
    """Return exactly `height` rows of `width` columns; `cursor` is the index of a value.

    A column shared by several layers shows the greatest value, so that peaks stay visible.
    """
    if width < 1 or height < 1:
        return ()
    values = [_tamed(value, depth.log) for value in depth.values]
    known = [value for value in values if value is not None]
    if not known:
        return message_rows(depth.empty or "no layer has a value", width, height, ascii_only)
    low, high = _span(known, depth.log)
    frame = make_frame(width, height, low, high, ascii_only, _powers if depth.log else tick_labels)
    across = 1 if ascii_only else DOTS_ACROSS
    columns = _columns(values, frame.columns * across)
    canvas = Canvas(frame.columns, frame.lines, ascii_only)
    # Logarithmic columns start at the bottom; others start at zero.
    zero = _dot(frame, frame.y.low if depth.log else 0.0)
    chosen = _chosen(cursor, len(values), frame.columns)
    for number in range(frame.columns):
        part = columns[number * across : (number + 1) * across]
        _draw_column(canvas, frame, number, part, zero, "mark" if number in chosen else "series-1")
    ticks = list(_ticks(len(values), frame, cursor if chosen else None))
    legend: list[Span] = [(f"{depth.title} by layer" + (" (log)" if depth.log else ""), "dim")]
    middle = _place(cursor, len(values), frame.columns) if chosen and cursor is not None else None
    return frame_rows(frame, canvas.rows(), ticks, legend, middle)


def _tamed(value: float | None, log: bool) -> float | None:
    if value is None or not math.isfinite(value):
        return None
    if log:
        return math.log10(tame(value)) if tame(value) > 0 else None
    return tame(value)


def _span(known: Sequence[float], log: bool) -> tuple[float, float]:
    if log:
        # Whole decades, and one below the least value, so that it has a height.
        top = math.ceil(max(known))
        return max(math.floor(min(known)) - 1.0, top - _DECADES), top
    return min([*known, 0.0]), max([*known, 0.0])


def _powers(ticks: Sequence[float]) -> Sequence[str]:
    # Large and small powers are shorter with an exponent.
    return [short(10.0**tick, 2) if abs(tick) < _EVERYDAY else f"{10.0**tick:.1e}" for tick in ticks]


def _columns(values: Sequence[float | None], count: int) -> list[_Column]:
    """Assign values to columns; a column takes several layers, or a layer several columns."""
    found = []
    for column in range(count):
        start = column * len(values) // count
        end = max((column + 1) * len(values) // count, start + 1)
        known = [value for value in values[start:end] if value is not None]
        found.append(_Column(max(known, default=None), not known))
    return found


def _chosen(cursor: int | None, count: int, columns: int) -> range:
    """Return the character columns of the cursor's layer."""
    if cursor is None or not 0 <= cursor < count:
        return range(0)
    first = cursor * columns // count
    return range(first, max(-(-(cursor + 1) * columns // count), first + 1))


def _place(number: int, count: int, columns: int) -> int:
    """Return the column in the middle of a layer."""
    return min((2 * number + 1) * columns // (2 * count), columns - 1)


def _dot(frame: Frame, value: float) -> int:
    return min(max(frame.y.place(value), 0), frame.lines * DOTS_DOWN - 1)


def _draw_column(canvas: Canvas, frame: Frame, column: int, part: Sequence[_Column], zero: int, style: str) -> None:
    top = frame.lines
    for offset, each in enumerate(part):
        if each.value is None:
            continue
        tip = _dot(frame, each.value)
        top = min(top, min(tip, zero) // DOTS_DOWN)
        if frame.ascii_only:
            _fill(canvas, column, tip, zero, style)
        else:
            x = column * DOTS_ACROSS + offset
            canvas.line((x, zero), (x, tip), style)
    if all(each.is_missing for each in part):
        canvas.backdrop(column, zero // DOTS_DOWN, "-" if frame.ascii_only else "·", "dim")
    if style == "mark":
        for row in range(top):
            canvas.backdrop(column, row, "|" if frame.ascii_only else "│", "mark")


def _fill(canvas: Canvas, column: int, tip: int, zero: int, style: str) -> None:
    """Fill whole characters, with a partial one at the end; the least value stays visible."""
    low, high = min(tip, zero), max(tip, zero)
    for row in range(low // DOTS_DOWN, high // DOTS_DOWN + 1):
        inside = min(high, row * DOTS_DOWN + DOTS_DOWN - 1) - max(low, row * DOTS_DOWN) + 1
        canvas.sign(column, row, _LEVELS[max(inside * (len(_LEVELS) - 1) // DOTS_DOWN, 1)], style)


def _ticks(count: int, frame: Frame, cursor: int | None) -> Iterator[tuple[int, str]]:
    """Yield the first and last layer, round numbers between them, and the cursor's layer."""
    rounds = (int(tick) for tick in round_ticks(1, count, max(2, frame.columns // 12)) if tick == int(tick))
    numbers = {1, count, *(tick for tick in rounds if 1 < tick < count)}
    if cursor is not None:
        numbers.add(cursor + 1)
    for number in sorted(numbers):
        yield _place(number - 1, count, frame.columns), str(number)
