"""One cell alone: the distribution of its calls and their course over time, over all executions."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tuibench.core.cell import CellResult
from tuibench.plots.figure import Figure, Point, Series
from tuibench.plots.histogram import Histogram

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
    low, high = _told(kept)
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


def _told(kept: Sequence[_Kept]) -> tuple[float, float]:
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


def _thinned(series: Sequence[Moment], most: int) -> Sequence[Moment]:
    """Reduce to `most` moments: more than the dot columns of the widest screen only cost time."""
    count = len(series)
    if count <= most:
        return series
    parts = [series[i * count // most : (i + 1) * count // most] for i in range(most)]
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
