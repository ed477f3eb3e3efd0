"""Sentences about a scaling figure: best and worst, where cores stop paying, and ratios between sides."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

from tuibench.core.cell import Estimate, eligible
from tuibench.core.result import Comparison
from tuibench.core.text import show
from tuibench.core.units import percent, short
from tuibench.present.amount import amount
from tuibench.present.plots.selection import (
    LESS_IS_BETTER,
    UNITS,
    Line,
    ScalingPoint,
    Selection,
    Sentence,
    overlap,
    relative,
)
from tuibench.present.verdict import verdict_sentence

_STILL_PAYS = 0.5
"""A further core pays if it gives at least this share of a first core's rate."""
_ENOUGH = 0.95
_SURE = 0.2
"""Values with a wider half-width say nothing about a line's shape."""
_FAR = 0.1
"""Amdahl's law explains a line only if every point is within this share."""
_MAX_CHARS = 500


def sentences(lines: Sequence[Line], selection: Selection, comparisons: Sequence[Comparison]) -> tuple[Sentence, ...]:
    """Return the sentences on the first side, its ratios to the others, then the missing values."""
    return tuple(_sentences(lines, selection, comparisons))


def point_words(point: ScalingPoint, metric: str, *, brief: bool = False) -> str:
    """Describe one point in a line of text, for the cursor; the shown metric comes first."""
    words = [amount(point.estimate, UNITS[metric])] if point.estimate.value is not None else []
    others = (("throughput", point.throughput), ("batch-time", point.batch_time))
    words += [
        amount(estimate, UNITS[name]) for name, estimate in others if name != metric and estimate.value is not None
    ]
    if point.efficiency is not None and metric != "efficiency":
        words.append(f"{'eff' if brief else 'efficiency'} {percent(point.efficiency)}")
    # A note on the grade already names it.
    if point.grade and f"grade {point.grade}" not in point.note:
        words.append(point.grade if brief else f"grade {point.grade}")
    text = f"{point.label}: {', '.join([*words, *filter(None, [point.note])])}"
    return text.replace(" %", "%") if brief else text


def _sentences(lines: Sequence[Line], selection: Selection, comparisons: Sequence[Comparison]) -> Iterator[Sentence]:
    if lines:
        yield from _extremes(lines[0], selection.metric)
        yield from _shape_of(lines[0], selection)
        yield from _last_step(lines[0], selection)
    for other in lines[1:]:
        yield from _ratio(lines[0], other, selection, comparisons)
    for line in lines:
        name = f"{line.side.label}, " if len(lines) > 1 else ""
        yield from (
            Sentence("missing" if point.estimate.value is None else "note", f"{name}{point.label}: {point.note}")
            for point in line.points
            if point.note
        )


def _extremes(line: Line, metric: str) -> Iterator[Sentence]:
    best, worst = best_of(line, metric), _extreme(line.measured, metric, best=False)
    if best is None or worst is None or len(line.measured) < 2:
        return
    yield Sentence("best", f"{best.label}  {amount(best.estimate, UNITS[metric])}{_ties(best, line)}")
    if worst is not best:
        yield Sentence("worst", f"{worst.label}  {amount(worst.estimate, UNITS[metric])}")


def _ties(best: ScalingPoint, line: Line) -> str:
    """Return the points whose intervals overlap the best one's."""
    rivals = [point for point in _able(line) if point is not best]
    tied = [str(point.value) for point in rivals if overlap(point.estimate, best.estimate)]
    return f", tied with {', '.join(tied)}" if tied else ""


def best_of(line: Line, metric: str) -> ScalingPoint | None:
    """Return the best point among those that may win."""
    return _extreme(_able(line), metric, best=True)


def _able(line: Line) -> Sequence[ScalingPoint]:
    """Return the points that may win."""
    return eligible(line.measured, lambda point: point.cell)


def _extreme(points: Sequence[ScalingPoint], metric: str, *, best: bool) -> ScalingPoint | None:
    least = (metric in LESS_IS_BETTER) == best
    return (min if least else max)(points, key=lambda point: point.estimate.value or 0.0, default=None)


def _shape_of(line: Line, selection: Selection) -> Iterator[Sentence]:
    """Describe the line's shape by its axis, always from items/s."""
    # A dim may be 0; a core count may not.
    counted = [point for point in line.points if point.value >= 1 or selection.axis == "shape"]
    known = [point for point in counted if point.throughput.value and _is_sure(point.throughput)]
    if len(known) < 2:
        return
    if selection.axis == "cores":
        yield from _knee(known)
        yield from _amdahl(known)
    elif selection.axis == "batch":
        yield from _enough(known)
    else:
        yield from _growth(known)


def _is_sure(estimate: Estimate) -> bool:
    return estimate.half_width is None or estimate.half_width <= _SURE


def _knee(points: Sequence[ScalingPoint]) -> Iterator[Sentence]:
    """Find the last point before cores give less than half of a first core's rate."""
    if len(points) < 3:
        return
    rates = [point.throughput.value or 0.0 for point in points]
    first = rates[0] / points[0].value
    for i in range(1, len(points)):
        gained = (rates[i] - rates[i - 1]) / (points[i].value - points[i - 1].value)
        if gained < _STILL_PAYS * first:
            at = points[i - 1]
            yield Sentence("knee", f"{at.label}  efficiency {_share(at.efficiency)}")
            return


def _amdahl(points: Sequence[ScalingPoint]) -> Iterator[Sentence]:
    """Fit the serial share of Amdahl's law by least squares."""
    middle = serial_share([_speedup(point, points[0], "value") for point in points])
    # The ends swap: the lowest speedups give the greatest serial share.
    ends = [serial_share([_speedup(p, points[0], end) for p in points]) for end in ("high", "low")]
    if middle is None:
        return
    if middle <= 0:
        yield Sentence("Amdahl", "no serial part: at least in proportion to the cores")
        return
    if middle >= 1:
        yield Sentence("Amdahl", "does not apply: more cores are no faster")
        return
    low, high = ends
    between = ""
    if low is not None and high is not None and all(point.throughput.low is not None for point in points):
        low, high = (of_the_work(share, points[0].value) for share in _clamped(low, high))
        between = f" [{low * 100:.1f}, {high * 100:.1f}]"
    serial = of_the_work(middle, points[0].value)
    yield Sentence("Amdahl", f"{percent(serial)} serial part{between}{_misfit(points, middle)}")


def _clamped(*shares: float) -> tuple[float, ...]:
    return tuple(min(max(share, 0.0), 1.0) for share in shares)


def _misfit(points: Sequence[ScalingPoint], serial: float) -> str:
    """Name the point furthest from the law if it is far: serial work alone does not explain it."""
    off = {}
    for point in points[1:]:
        m, speedup = _speedup(point, points[0], "value")
        off[point.label] = speedup * (serial + (1 - serial) / m) - 1
    label = max(off, key=lambda name: abs(off[name]))
    return "" if abs(off[label]) < _FAR else f", yet {label} give {abs(off[label]) * 100:.0f} % {_less(off[label])}"


def _less(difference: float) -> str:
    return "less" if difference < 0 else "more"


def serial_share(speedups: Sequence[tuple[float, float]]) -> float | None:
    """Fit s in 1 / speedup = s + (1 - s) / m to pairs (m times the cores, speedup); return None without two points."""
    rows = [(1 - 1 / m, 1 / speedup - 1 / m) for m, speedup in speedups if m > 1 and speedup > 0]
    total = math.fsum(x * x for x, _ in rows)
    return math.fsum(x * y for x, y in rows) / total if total > 0 else None


def of_the_work(share: float, cores: int) -> float:
    """Convert the serial share of the time on `cores` cores to the share of the work, which is smaller."""
    return share if share >= 1 else share / (cores * (1 - share) + share)


def _speedup(point: ScalingPoint, base: ScalingPoint, end: str) -> tuple[float, float]:
    ratio = relative(point.throughput, base.throughput)
    read: dict[str, float | None] = {"value": ratio.value, "low": ratio.low, "high": ratio.high}
    return point.value / base.value, read[end] or ratio.value or 0.0


def _enough(points: Sequence[ScalingPoint]) -> Iterator[Sentence]:
    """Find the smallest batch with nearly the highest items/s among points that may win."""
    able = eligible(points, lambda point: point.cell)
    most = max(point.throughput.value or 0.0 for point in able)
    first = next(point for point in able if (point.throughput.value or 0.0) >= _ENOUGH * most)
    yield Sentence("enough", f"{first.label}  {percent((first.throughput.value or 0.0) / most)} of the highest items/s")


def _growth(points: Sequence[ScalingPoint]) -> Iterator[Sentence]:
    """Give the power of the dim by which time grows, from the smallest to the greatest value."""
    first, last = points[0], points[-1]
    slower = (first.throughput.value or 0.0) / (last.throughput.value or math.inf)
    if first.value < 1 or slower <= 0:
        return
    power = math.log(slower) / math.log(last.value / first.value)
    yield Sentence("growth", f"time grows as {last.name}^{power:.2f}, {first.value} to {last.value}")


def _last_step(line: Line, selection: Selection) -> Iterator[Sentence]:
    """Give the change of the last step: in items/s, or in the time that is shown over shapes."""
    known = [point for point in line.points if point.throughput.value]
    if len(known) < 2:
        return
    axis, (before, last) = selection.axis, known[-2:]
    if axis == "shape" and selection.metric in LESS_IS_BETTER:
        what, ratio = "time", relative(last.estimate, before.estimate)
    elif axis == "shape":
        what, ratio = "time", relative(before.throughput, last.throughput)
    else:
        what, ratio = "items/s", relative(last.throughput, before.throughput)
    between = f"{before.value} → {last.value}"
    step = f"{between} cores: {what}" if axis == "cores" else f"{last.name} {between}: {what}"
    brief = f"{step} {_change(replace(ratio, low=None, high=None))}"
    yield Sentence("step", f"{step} {_change(ratio)}", brief)


def _change(ratio: Estimate) -> str:
    if ratio.value is None:
        return "-"
    text = f"{_signed(ratio.value)} %"
    return text if ratio.low is None or ratio.high is None else f"{text} [{_signed(ratio.low)}, {_signed(ratio.high)}]"


def _signed(ratio: float) -> str:
    rounded = round((ratio - 1) * 100)
    return f"{rounded:+d}" if rounded else "±0"


def _ratio(first: Line, other: Line, selection: Selection, comparisons: Sequence[Comparison]) -> Iterator[Sentence]:
    """Compare both sides at their best shared point; use the verdict of an interleaved comparison if there is one."""
    twins = {point.value: point for point in other.measured}
    best = best_of(replace(first, points=tuple(p for p in first.points if p.value in twins)), selection.metric)
    if best is None:
        return
    twin = twins[best.value]
    for comparison in comparisons:
        if {comparison.base, comparison.new} == {best.cell.key, twin.cell.key}:
            yield Sentence("ratio", f"{best.label}: {show(verdict_sentence(comparison.verdict), _MAX_CHARS)}")
            return
    ratio = relative(twin.estimate, best.estimate)
    if ratio.value is not None:
        between = "" if ratio.low is None or ratio.high is None else f" [{short(ratio.low)}, {short(ratio.high)}]"
        side = f"{other.side.label} {amount(twin.estimate, UNITS[selection.metric])}"
        yield Sentence("ratio", f"{best.label}: {side}, {short(ratio.value)}{between} × {first.side.label}")


def _share(efficiency: float | None) -> str:
    return "-" if efficiency is None else percent(efficiency)
