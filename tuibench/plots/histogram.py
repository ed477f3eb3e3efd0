"""A latency histogram: columns of counts, with percentiles marked below."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

from tuibench.core.units import percent
from tuibench.core.width import fit, width_of
from tuibench.plots.frame import Frame, frame_rows, make_frame
from tuibench.plots.scale import Scale, round_ticks, tick_labels
from tuibench.plots.styled import Row, Span, filled, message_rows

_BLOCKS = " ▁▂▃▄▅▆▇█"
_ASCII = " .:#"
_SHOWN = 0.995
"""The share of calls that the columns must show: the slowest few would squeeze the rest into one column."""
_LEAST = 1e-9
"""Least upper end of the y axis in percent, for the axis arithmetic."""
_MARKS_FROM = 6
"""Least height in rows for a line of percentiles."""


@dataclass(frozen=True, slots=True)
class Histogram:
    """Counts between ascending edges; `under` and `over` are counts outside them."""

    edges: tuple[float, ...]
    counts: tuple[float, ...]
    under: float = 0
    over: float = 0
    unit: str = "ms/batch"
    perhaps_under: float = 0
    """Counts known only to be below some value within the edges."""
    perhaps_over: float = 0
    """Counts known only to be above some value within the edges."""

    @property
    def total(self) -> float:
        """Return the sum of all counts."""
        outside = self.under + self.over + self.perhaps_under + self.perhaps_over
        return math.fsum(self.counts) + outside


def draw_histogram(
    histogram: Histogram,
    width: int,
    height: int,
    *,
    marks: Sequence[tuple[str, float]] = (),
    ascii_only: bool = False,
) -> tuple[Row, ...]:
    """Return exactly `height` rows of `width` columns; `marks` are (name, value), such as percentiles."""
    if width < 1 or height < 1:
        return ()
    if not any(count > 0 for count in histogram.counts):
        return message_rows("nothing measured", width, height, ascii_only)
    low, high = _range(histogram)
    with_marks = height >= _MARKS_FROM and bool(marks)
    frame, shares = _fitted(histogram, low, high, width, height - with_marks, ascii_only)
    inner = [filled([(line, "series-1")], frame.columns) for line in _lines(frame, shares)]
    x = Scale(low, high, 0, frame.columns - 1)
    rows = list(frame_rows(frame, inner, _ticks(x, frame), _legend(histogram, low, high)))
    if with_marks:
        spans: list[Span] = [(" " * frame.margin, "plain"), *_marks(marks, x, ascii_only)]
        rows.insert(frame.lines + frame.has_axis, filled(spans, width))
    return tuple(rows)


def _fitted(
    histogram: Histogram, low: float, high: float, width: int, height: int, ascii_only: bool
) -> tuple[Frame, list[float]]:
    """Return the frame and the percentage of each column; the y labels' width limits the columns."""
    columns = width
    for _ in range(2):
        most = max(_LEAST, *_columns(histogram, low, high, columns))
        frame = make_frame(width, height, 0.0, most, ascii_only)
        columns = frame.columns
    return frame, _columns(histogram, low, high, columns)


def _range(histogram: Histogram) -> tuple[float, float]:
    """Return the range from the first count to the value that nearly all counts are below."""
    first = next(i for i, count in enumerate(histogram.counts) if count > 0)
    sums = list(accumulate(histogram.counts))
    last = next(i for i, total in enumerate(sums) if total >= _SHOWN * sums[-1])
    return histogram.edges[first], histogram.edges[last + 1]


def _legend(histogram: Histogram, low: float, high: float) -> list[Span]:
    """Return the title and the share of calls outside; `up to` if their position is uncertain."""
    above = zip(histogram.edges, histogram.counts, strict=False)
    over = histogram.over + math.fsum(count for left, count in above if left >= high)
    legend = [f"% of calls by {histogram.unit}"]
    outside = ((over, histogram.perhaps_over, "beyond", high), (histogram.under, histogram.perhaps_under, "below", low))
    for known, perhaps, where, edge in outside:
        if known + perhaps > 0:
            amount = percent((known + perhaps) / histogram.total)
            legend.append(f"{'up to ' if perhaps else ''}{amount} {where} {_sharp(edge)}")
    return [(text, "dim") for text in legend]


def _columns(histogram: Histogram, low: float, high: float, width: int) -> list[float]:
    """Return the percentages of equally wide columns; split a bin across a border by width."""
    columns = [0.0] * max(width, 1)
    step = (high - low) / len(columns)
    for (left, right), count in zip(pairwise(histogram.edges), histogram.counts, strict=False):
        if count <= 0 or left >= high:
            continue
        first, last = (left - low) / step, (right - low) / step
        for column in range(max(int(first), 0), min(math.ceil(last), len(columns))):
            inside = min(last, column + 1) - max(first, column)
            columns[column] += 100 * count / histogram.total * max(inside, 0.0) / (last - first)
    return columns


def _lines(frame: Frame, shares: Sequence[float]) -> list[str]:
    levels = _ASCII if frame.ascii_only else _BLOCKS
    full, top = len(levels) - 1, frame.y.high
    # The least count stays visible: an empty column means no calls.
    heights = [max(round(share / top * frame.lines * full), 1 if share > 0 else 0) for share in shares]
    floors = range((frame.lines - 1) * full, -1, -full)
    return ["".join(levels[max(0, min(height - floor, full))] for height in heights) for floor in floors]


def _marks(marks: Sequence[tuple[str, float]], x: Scale, ascii_only: bool) -> list[Span]:
    """Put a sign with a name below each value; leave out names that do not fit."""
    spans: list[Span] = []
    at, sign = 0, "^" if ascii_only else "▲"
    for name, value in sorted(marks, key=lambda mark: mark[1]):
        text = f"{sign}{name}"
        inside = x.low <= value <= x.high
        column = min(x.place(value), x.last + 1 - width_of(text)) if inside else -1
        if column >= at:
            spans += [(" " * (column - at), "plain"), (fit(text, x.last + 1 - column), "mark")]
            at = column + width_of(text) + 1
            spans.append((" ", "plain"))
    return spans


def _ticks(x: Scale, frame: Frame) -> list[tuple[int, str]]:
    """Return at least two ticks if space allows, as one tick shows no scale."""
    named: list[tuple[int, str]] = []
    few = max(2, frame.columns // 10)
    for most in range(few, 2 * few + 1):
        ticks = round_ticks(x.low, x.high, most)
        labels = zip(ticks, tick_labels(ticks), strict=True)
        named = [(x.place(tick), label) for tick, label in labels if x.low <= tick <= x.high]
        if len(named) > 1:
            break
    return named


def _sharp(value: float) -> str:
    return f"{value:.3g}"
