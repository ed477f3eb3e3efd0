"""How often what took how long: counts over bins as columns, with the percentiles marked below."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from tuibench.core.units import percent
from tuibench.core.width import fit, width_of
from tuibench.plots.scale import Scale, round_ticks, tick_labels
from tuibench.plots.styled import Row, Span, filled, message_rows

_BLOCKS = " ▁▂▃▄▅▆▇█"
_ASCII = " .:#"
_SHOWN = 0.995
"""The share of all that the columns must show: the slowest few would leave the rest a single column."""


@dataclass(frozen=True, slots=True)
class Histogram:
    """Counts between edges, ascending; `under` and `over` lie outside them."""

    edges: tuple[float, ...]
    counts: tuple[float, ...]
    under: float = 0
    over: float = 0
    unit: str = "ms"

    @property
    def total(self) -> float:
        """All that was counted."""
        return math.fsum(self.counts) + self.under + self.over


def draw_histogram(
    histogram: Histogram,
    width: int,
    height: int,
    *,
    marks: Sequence[tuple[str, float]] = (),
    ascii_only: bool = False,
) -> tuple[Row, ...]:
    """Exactly `height` rows of `width` columns; `marks` are (name, value), such as percentiles."""
    if width < 1 or height < 1:
        return ()
    if not any(histogram.counts):
        return message_rows("nothing measured", width, height)
    low, high = _range(histogram)
    with_axis, with_marks = height >= 3, height >= 5 and bool(marks)
    lines = height - 2 * with_axis - with_marks if height >= 4 else height - with_axis
    shares = _columns(histogram, low, high, width)
    most = max(shares) or 1.0
    rows = [filled([(_line(shares, most, lines, i, ascii_only), "series-1")], width) for i in range(lines)]
    scale = Scale(low, high, 0, width - 1)
    if height >= 4:
        rows.append(filled([("-" * width if ascii_only else "─" * width, "axis")], width))
    if with_marks:
        rows.append(filled(_marks(marks, scale, ascii_only), width))
    if with_axis:
        rows.append(filled(_ticks(histogram, scale, high), width))
    return tuple(rows)


def _range(histogram: Histogram) -> tuple[float, float]:
    """From the first count to where nearly all lie below."""
    filled_bins = [i for i, count in enumerate(histogram.counts) if count]
    sums = list(accumulate(histogram.counts))
    last = next(i for i, total in enumerate(sums) if total >= _SHOWN * sums[-1])
    return histogram.edges[filled_bins[0]], histogram.edges[last + 1]


def _columns(histogram: Histogram, low: float, high: float, width: int) -> list[float]:
    """The counts of equally wide columns; a bin that lies across a border is shared out by its width."""
    columns = [0.0] * width
    step = (high - low) / width
    for left, right, count in zip(histogram.edges, histogram.edges[1:], histogram.counts, strict=False):
        if not count or left >= high or right <= low or step <= 0:
            continue
        first, last = (left - low) / step, (min(right, high) - low) / step
        for column in range(max(int(first), 0), min(math.ceil(last), width)):
            inside = min(last, column + 1) - max(first, column)
            columns[column] += count * max(inside, 0.0) / max((right - left) / step, 1e-12)
    if step <= 0:
        columns[width // 2] = math.fsum(histogram.counts)
    return columns


def _line(shares: Sequence[float], most: float, lines: int, row: int, ascii_only: bool) -> str:
    levels = _ASCII if ascii_only else _BLOCKS
    floor = lines - 1 - row
    full = len(levels) - 1
    text = []
    for share in shares:
        level = round((share / most * lines - floor) * full)
        # The least count leaves a trace: a column without one says that nothing took so long.
        level = max(level, 1) if share > 0 and floor == 0 else level
        text.append(levels[max(0, min(level, full))])
    return "".join(text)


def _marks(marks: Sequence[tuple[str, float]], scale: Scale, ascii_only: bool) -> list[Span]:
    spans: list[Span] = []
    at, sign = 0, "^" if ascii_only else "▲"
    for name, value in sorted(marks, key=lambda mark: mark[1]):
        column = scale.place(value)
        if not at <= column <= scale.last:
            continue
        text = fit(f"{sign}{name} ", max(scale.last + 1 - column, 0))
        spans += [(" " * (column - at), "plain"), (text, "mark")]
        at = column + width_of(text)
    return spans


def _ticks(histogram: Histogram, scale: Scale, high: float) -> list[Span]:
    width = scale.last + 1
    beyond = histogram.over + math.fsum(
        count for left, count in zip(histogram.edges, histogram.counts, strict=False) if left >= high
    )
    end = f" {histogram.unit}"
    if beyond:
        end += f", {percent(beyond / histogram.total)} beyond"
    room = max(width - width_of(end), 0)
    spans: list[Span] = []
    at = 0
    ticks = round_ticks(scale.low, scale.high, max(2, width // 12))
    for tick, label in zip(ticks, tick_labels(ticks), strict=True):
        start = scale.place(tick) - (width_of(label) - 1) // 2
        if scale.low <= tick <= scale.high and at <= start and start + width_of(label) <= room:
            spans += [(" " * (start - at), "plain"), (label, "axis")]
            at = start + width_of(label) + 1
            spans.append((" ", "plain"))
    spans += [(" " * max(room - at, 0), "plain"), (end, "dim")]
    return spans
