"""One cell by itself: how its calls spread, and how they went over time, all executions together."""

from __future__ import annotations

import math

from tuibench.core.cell import CellResult
from tuibench.plots.figure import Figure, Point, Series
from tuibench.plots.histogram import Histogram

_MS = 1e-6
_MOST_BINS = 512
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
    for number, execution in enumerate(e for e in cell.executions if e.series):
        breaks.append(len(points))
        size = len(execution.series)
        points += [
            Point(number + (i + 0.5) / size, middle * _MS, least * _MS, most * _MS)
            for i, (least, middle, most) in enumerate(execution.series)
        ]
    return tuple(points), tuple(breaks[1:])


def _share_out(counts: list[float], first: float, last: float, amount: float) -> None:
    for place in range(max(int(first + 1e-9), 0), min(math.ceil(last - 1e-9), len(counts))):
        inside = min(last, place + 1) - max(first, place)
        counts[place] += amount * max(inside, 0.0) / (last - first)
