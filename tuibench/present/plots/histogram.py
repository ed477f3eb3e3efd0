"""The distribution of one cell's calls as a histogram with percentiles, and their course over time."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Any

from tuibench.core.cell import CellResult
from tuibench.core.text import cut, width_of
from tuibench.core.units import percent
from tuibench.present.plots.drawing import Row, Scale, Span, filled, message_rows, round_ticks, tick_labels
from tuibench.present.plots.figure import Figure, Frame, Point, Series, frame_rows, make_frame

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
        spans: list[Span] = [(" " * frame.margin, ""), *_marks(marks, x, ascii_only)]
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
            spans += [(" " * (column - at), ""), (cut(text, x.last + 1 - column), "mark")]
            at = column + width_of(text) + 1
            spans.append((" ", ""))
    return spans


def _ticks(x: Scale, frame: Frame) -> list[tuple[int, str]]:
    """Return at least two ticks if space allows, as one tick shows no scale."""
    named: list[tuple[int, str]] = []
    few = max(2, frame.columns // 10)
    for max_ticks in range(few, 2 * few + 1):
        ticks = round_ticks(x.low, x.high, max_ticks)
        labels = zip(ticks, tick_labels(ticks), strict=True)
        named = [(x.place(tick), label) for tick, label in labels if x.low <= tick <= x.high]
        if len(named) > 1:
            break
    return named


def _sharp(value: float) -> str:
    return f"{value:.3g}"


Moment = tuple[float, float, float]
"""(min, p50, max) in ns."""

_MS = 1e-6
_MOST_BINS = 512
_MOST_POINTS = 1024
_UNTOLD = 0.005
"""The share of calls outside the exact range that the figure tolerates; the legend gives the number."""
_GAP = 0.02
"""Free space on both sides of each execution."""
_MARKS = (("p50", "p50"), ("p90", "p90"), ("p99", "p99"), ("p99_9", "p99.9"))


@dataclass(frozen=True, slots=True)
class _Kept:
    """The histogram of one execution; its edges are logarithms of ns."""

    low: float
    width: float
    counts: tuple[float, ...]
    under: float
    over: float

    @property
    def high(self) -> float:
        """Return the last edge."""
        return self.low + self.width * len(self.counts)


def merged_histogram(cell: CellResult) -> Histogram | None:
    """Merge the histograms of all executions, in ms; return None without any.

    Each execution has bins of its own ratio; spread their counts over common bins of the finest ratio. The common bins
    stay within each execution's bins where it has calls outside, whose values are unknown.
    """
    kept = [each for each in (_read(e.histogram) for e in cell.executions) if each is not None]
    if not kept:
        return None
    low, high = _known_span(kept)
    finest = min(each.width for each in kept)
    count = min(max(math.ceil((high - low) / finest - 1e-9), 1), _MOST_BINS)
    # One more on each side for counts known to be outside.
    counts = [0.0] * (count + 2)
    step = (high - low) / count
    for each in kept:
        start, width = (each.low - low) / step + 1, each.width / step
        for i, amount in enumerate(each.counts):
            if amount:
                _share_out(counts, start + i * width, start + (i + 1) * width, amount)
    return Histogram(
        edges=tuple(math.exp(low + step * i) * _MS for i in range(count + 1)),
        counts=tuple(counts[1:-1]),
        under=counts[0] + math.fsum(each.under for each in kept if each.low <= low),
        over=counts[-1] + math.fsum(each.over for each in kept if each.high >= high),
        perhaps_under=math.fsum(each.under for each in kept if each.low > low),
        perhaps_over=math.fsum(each.over for each in kept if each.high < high),
    )


def _read(stored: Mapping[str, Any]) -> _Kept | None:
    counts = stored.get("counts")
    if not counts or float(stored["low_ns"]) <= 0 or float(stored["ratio"]) <= 1:
        return None
    low, width = math.log(float(stored["low_ns"])), math.log(float(stored["ratio"]))
    under, over = float(stored.get("under", 0)), float(stored.get("over", 0))
    kept = _Kept(low, width, tuple(float(count) for count in counts), under, over)
    return kept if kept.high > kept.low else None


def _known_span(kept: Sequence[_Kept]) -> tuple[float, float]:
    """Return the widest span that leaves few calls of unknown position; else the span that leaves the fewest."""
    few = _UNTOLD * math.fsum(each.under + each.over + math.fsum(each.counts) for each in kept)
    below = _sums(sorted(((each.low, each.under) for each in kept), reverse=True))
    above = _sums(sorted((each.high, each.over) for each in kept))
    # The span must overlap every execution's bins: calls above them are then not below the span, and vice versa.
    highs = [high for high in above if high >= max(below)]
    untold = [above[high] for high in highs]

    def furthest(low: float) -> float:
        """Return the greatest end that leaves few enough unknown calls, or else the fewest."""
        first = bisect_right(highs, low)
        few_enough = bisect_right(untold, few, first, key=lambda amount: below[low] + amount)
        return highs[max(few_enough, bisect_right(untold, untold[first], first)) - 1]

    spans = [(low, furthest(low)) for low in below if low <= min(above)]
    return min(spans, key=lambda span: (max(below[span[0]] + above[span[1]] - few, 0.0), span[0] - span[1]))


def _sums(amounts: Sequence[tuple[float, float]]) -> dict[float, float]:
    """Return for each edge the sum of the amounts before it."""
    sums: dict[float, float] = {}
    total = 0.0
    for edge, amount in amounts:
        sums.setdefault(edge, total)
        total += amount
    return sums


def marks_of(cell: CellResult) -> tuple[tuple[str, float], ...]:
    """Return the known percentiles as marks below the histogram."""
    known = [(label, cell.latency_ms[name].value) for name, label in _MARKS if name in cell.latency_ms]
    return tuple((label, value) for label, value in known if value is not None)


def samples_figure(cell: CellResult, name: str = "p50") -> Figure | None:
    """Return a figure of ms/batch over time: each moment's median within its range, execution by execution."""
    points, breaks = samples_of(cell)
    if not points:
        return None
    executions = sum(bool(e.series) for e in cell.executions)
    ticks = tuple((number + 0.5, str(number + 1)) for number in range(executions))
    return Figure(
        series=(Series(name, points, breaks),),
        x_ticks=ticks,
        x_name="execution",
        y_name="ms/batch",
        from_zero=False,
        bar_name="range",
    )


def samples_of(cell: CellResult) -> tuple[tuple[Point, ...], tuple[int, ...]]:
    """Return the series of all executions, each of width one, and the indices where a further execution begins."""
    points: list[Point] = []
    breaks: list[int] = []
    kept = [execution.series for execution in cell.executions if execution.series]
    for number, series in enumerate(kept):
        breaks.append(len(points))
        thin = _thinned(series, max(_MOST_POINTS // len(kept), 1))
        points += [
            Point(number + _GAP + (1 - 2 * _GAP) * (i + 0.5) / len(thin), middle * _MS, least * _MS, most * _MS)
            for i, (least, middle, most) in enumerate(thin)
        ]
    return tuple(points), tuple(breaks[1:])


def _thinned(series: Sequence[Moment], max_count: int) -> Sequence[Moment]:
    """Reduce to `max_count` moments: more than the dot columns of the widest screen only cost time."""
    count = len(series)
    if count <= max_count:
        return series
    parts = [series[i * count // max_count : (i + 1) * count // max_count] for i in range(max_count)]
    return [(min(p[0] for p in part), _middle([p[1] for p in part]), max(p[2] for p in part)) for part in parts]


def _middle(values: Sequence[float]) -> float:
    return sorted(values)[len(values) // 2]


def _share_out(counts: list[float], first: float, last: float, amount: float) -> None:
    """Spread an amount over the bins; the first and the last bin take everything on their side."""
    end = len(counts) - 1
    for place in range(min(max(math.floor(first + 1e-9), 0), end), min(max(math.ceil(last - 1e-9), 1), end + 1)):
        left, right = -math.inf if place == 0 else place, math.inf if place == end else place + 1
        inside = min(last, right) - max(first, left)
        counts[place] += amount * max(inside, 0.0) / (last - first)
