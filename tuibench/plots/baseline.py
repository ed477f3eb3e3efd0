"""One cell by itself: how its calls spread, and how they went over time, all executions together."""

from __future__ import annotations

import math
from collections.abc import Sequence

from tuibench.core.cell import CellResult
from tuibench.plots.figure import Figure, Point, Series
from tuibench.plots.histogram import Histogram

Moment = tuple[float, float, float]
"""(min, p50, max) in ns."""

_MS = 1e-6
_MOST_BINS = 512
_MOST_POINTS = 1024
_GAP = 0.02
"""What stays free on both sides of each execution."""
_MARKS = (("p50", "p50"), ("p90", "p90"), ("p99", "p99"), ("p99_9", "p99.9"))


def merged_histogram(cell: CellResult) -> Histogram | None:
    """The histograms of all executions as one in ms; None where none was kept.

    Each was binned by itself, in equal ratios: their counts are shared out over common bins of the finest ratio.
    """
    kept = [e.histogram for e in cell.executions if e.histogram.get("counts")]
    kept = [stored for stored in kept if float(stored["low_ns"]) > 0 and float(stored["ratio"]) > 1]
    if not kept:
        return None
    low = min(math.log(float(stored["low_ns"])) for stored in kept)
    high = max(math.log(float(s["low_ns"])) + len(s["counts"]) * math.log(float(s["ratio"])) for s in kept)
    finest = min(math.log(float(stored["ratio"])) for stored in kept)
    count = min(max(math.ceil((high - low) / finest - 1e-9), 1), _MOST_BINS)
    step = (high - low) / count
    counts = [0.0] * count
    for stored in kept:
        start, width = math.log(float(stored["low_ns"])) - low, math.log(float(stored["ratio"]))
        for i, amount in enumerate(stored["counts"]):
            if amount:
                _share_out(counts, (start + i * width) / step, (start + (i + 1) * width) / step, float(amount))
    edges = tuple(math.exp(low + step * i) * _MS for i in range(count + 1))
    under, over = (math.fsum(float(stored.get(name, 0)) for stored in kept) for name in ("under", "over"))
    return Histogram(edges, tuple(counts), under, over)


def marks_of(cell: CellResult) -> tuple[tuple[str, float], ...]:
    """The percentiles that are known, as marks below the histogram."""
    known = [(label, cell.latency_ms[name].value) for name, label in _MARKS if name in cell.latency_ms]
    return tuple((label, value) for label, value in known if value is not None)


def samples_figure(cell: CellResult, name: str = "p50") -> Figure | None:
    """ms/batch over time: the median of each moment within its least and most, one execution after the other."""
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
        bar_name="least to most",
    )


def samples_of(cell: CellResult) -> tuple[tuple[Point, ...], tuple[int, ...]]:
    """The series of all executions, each one wide, and the numbers of the points at which a new one begins."""
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
    """At most so many moments: more than the widest screen has columns of dots only costs time."""
    count = len(series)
    if count <= most:
        return series
    parts = [series[i * count // most : (i + 1) * count // most] for i in range(most)]
    return [(min(p[0] for p in part), _middle([p[1] for p in part]), max(p[2] for p in part)) for part in parts]


def _middle(values: Sequence[float]) -> float:
    return sorted(values)[len(values) // 2]


def _share_out(counts: list[float], first: float, last: float, amount: float) -> None:
    for place in range(max(int(first + 1e-9), 0), min(math.ceil(last - 1e-9), len(counts))):
        inside = min(last, place + 1) - max(first, place)
        counts[place] += amount * max(inside, 0.0) / (last - first)
