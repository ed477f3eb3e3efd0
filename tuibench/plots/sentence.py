"""What a scaling figure shows, in short sentences: best and worst, where cores stop paying, which side is faster."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

from tuibench.core.cell import Estimate
from tuibench.core.run import Comparison
from tuibench.core.text import show
from tuibench.core.units import percent, short
from tuibench.plots.line import Line, ScalingPoint, Sentence
from tuibench.plots.quantity import LESS_IS_BETTER, amount, overlap, relative
from tuibench.plots.selection import Selection

_STILL_PAYS = 0.5
"""A core that gives less than this share of what the first ones gave does not pay any more."""
_ENOUGH = 0.95
_SURE = 0.2
"""Values less sure than this say nothing about the form of a line."""
_FAR = 0.1
"""How far a point may lie from the law of Amdahl before the law is no explanation."""
_LONGEST = 500


def sentences(lines: Sequence[Line], selection: Selection, comparisons: Sequence[Comparison]) -> tuple[Sentence, ...]:
    """All that can be said of the first side, then how the others compare, then what has no value."""
    return tuple(_sentences(lines, selection, comparisons))


def point_words(point: ScalingPoint, metric: str) -> str:
    """All of one point in a line, what is shown first: for below a figure whose cursor stands there."""
    words = [amount(point.estimate, metric)] if point.estimate.value is not None else []
    others = (("throughput", point.throughput), ("batch-time", point.batch_time))
    words += [amount(estimate, name) for name, estimate in others if name != metric and estimate.value is not None]
    if point.efficiency is not None and metric != "efficiency":
        words.append(f"efficiency {percent(point.efficiency)}")
    # A note of the grade says it with its cause.
    words += [f"grade {point.grade}"] if point.grade and f"grade {point.grade}" not in point.note else []
    return f"{point.label}: {', '.join([*words, *filter(None, [point.note])])}"


def _sentences(lines: Sequence[Line], selection: Selection, comparisons: Sequence[Comparison]) -> Iterator[Sentence]:
    if lines:
        yield from _extremes(lines[0], selection.metric)
        yield from _shape_of(lines[0], selection)
        yield from _last_step(lines[0], selection.axis)
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
    yield Sentence("best", f"{best.label}  {amount(best.estimate, metric)}{_ties(best, line)}")
    if worst is not best:
        yield Sentence("worst", f"{worst.label}  {amount(worst.estimate, metric)}")


def _ties(best: ScalingPoint, line: Line) -> str:
    """Those that the intervals cannot tell from the best."""
    rivals = [point for point in _able(line) if point is not best]
    tied = [str(point.value) for point in rivals if overlap(point.estimate, best.estimate)]
    return f", tied with {', '.join(tied)}" if tied else ""


def best_of(line: Line, metric: str) -> ScalingPoint | None:
    """The best point that may be called so."""
    return _extreme(_able(line), metric, best=True)


def _able(line: Line) -> Sequence[ScalingPoint]:
    """The points that may win: wrong outputs and grade D only where there is nothing else."""
    return [point for point in line.measured if point.is_clean] or line.measured


def _extreme(points: Sequence[ScalingPoint], metric: str, *, best: bool) -> ScalingPoint | None:
    least = (metric in LESS_IS_BETTER) == best
    return (min if least else max)(points, key=lambda point: point.estimate.value or 0.0, default=None)


def _shape_of(line: Line, selection: Selection) -> Iterator[Sentence]:
    """What the form of the line says, on each axis another thing, from items/s whatever is shown."""
    # A dim may be empty, yet nothing is measured on no core.
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
    """The last point before a step whose cores each give less than half of what one gave at first."""
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
    """The share of the work that would have to be serial to explain the line by Amdahl's law, by least squares."""
    middle = serial_share([_speedup(point, points[0], "value") for point in points])
    # The law is read the other way: where the speedups are at their lowest, the serial part is at its greatest.
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
    """The point that the law is furthest from, if that is far: then something else than serial work slows it."""
    off = {}
    for point in points[1:]:
        m, speedup = _speedup(point, points[0], "value")
        off[point.label] = speedup * (serial + (1 - serial) / m) - 1
    label = max(off, key=lambda name: abs(off[name]))
    return "" if abs(off[label]) < _FAR else f", yet {label} give {abs(off[label]) * 100:.0f} % {_less(off[label])}"


def _less(difference: float) -> str:
    return "less" if difference < 0 else "more"


def serial_share(speedups: Sequence[tuple[float, float]]) -> float | None:
    """The s for which 1 / speedup = s + (1 - s) / m fits (m times the cores, speedup) best; None without two points."""
    rows = [(1 - 1 / m, 1 / speedup - 1 / m) for m, speedup in speedups if m > 1 and speedup > 0]
    total = math.fsum(x * x for x, _ in rows)
    return math.fsum(x * y for x, y in rows) / total if total > 0 else None


def of_the_work(share: float, cores: int) -> float:
    """The serial share of the work, from that of the time which it takes on so many cores: there it weighs more."""
    return share if share >= 1 else share / (cores * (1 - share) + share)


def _speedup(point: ScalingPoint, base: ScalingPoint, end: str) -> tuple[float, float]:
    ratio = relative(point.throughput, base.throughput)
    read: dict[str, float | None] = {"value": ratio.value, "low": ratio.low, "high": ratio.high}
    return point.value / base.value, read[end] or ratio.value or 0.0


def _enough(points: Sequence[ScalingPoint]) -> Iterator[Sentence]:
    """The smallest batch that gives nearly all of the most items/s; among those that may be called best."""
    clean = [point for point in points if point.is_clean] or points
    most = max(point.throughput.value or 0.0 for point in clean)
    first = next(point for point in clean if (point.throughput.value or 0.0) >= _ENOUGH * most)
    yield Sentence("enough", f"{first.label}  {percent((first.throughput.value or 0.0) / most)} of the most items/s")


def _growth(points: Sequence[ScalingPoint]) -> Iterator[Sentence]:
    """By which power of the dim time grows, from the smallest to the greatest."""
    first, last = points[0], points[-1]
    slower = (first.throughput.value or 0.0) / (last.throughput.value or math.inf)
    if first.value < 1 or slower <= 0:
        return
    power = math.log(slower) / math.log(last.value / first.value)
    yield Sentence("growth", f"time grows as {_name(last)}^{power:.2f}, {first.value} to {last.value}")


def _last_step(line: Line, axis: str) -> Iterator[Sentence]:
    """What the last step brought: in items/s, over shapes in time."""
    known = [point for point in line.points if point.throughput.value]
    if len(known) < 2:
        return
    before, last = known[-2:]
    if axis == "shape":
        change = f"time {_change(relative(before.throughput, last.throughput))}"
    else:
        change = f"items/s {_change(relative(last.throughput, before.throughput))}"
    between = f"{before.value} → {last.value}"
    yield Sentence("step", f"{between} cores: {change}" if axis == "cores" else f"{_name(last)} {between}: {change}")


def _name(point: ScalingPoint) -> str:
    """What a label says beside the value."""
    return point.label.removesuffix(f" {point.value}")


def _change(ratio: Estimate) -> str:
    if ratio.value is None:
        return "-"
    text = f"{_signed(ratio.value)} %"
    return text if ratio.low is None or ratio.high is None else f"{text} [{_signed(ratio.low)}, {_signed(ratio.high)}]"


def _signed(ratio: float) -> str:
    rounded = round((ratio - 1) * 100)
    return f"{rounded:+d}" if rounded else "±0"


def _ratio(first: Line, other: Line, selection: Selection, comparisons: Sequence[Comparison]) -> Iterator[Sentence]:
    """Both sides at the best point that they share; the verdict of an interleaved comparison where there is one."""
    twins = {point.value: point for point in other.measured}
    best = best_of(replace(first, points=tuple(p for p in first.points if p.value in twins)), selection.metric)
    if best is None:
        return
    twin = twins[best.value]
    for comparison in comparisons:
        if {comparison.base, comparison.new} == {best.cell_key, twin.cell_key}:
            yield Sentence("ratio", f"{best.label}: {show(comparison.sentence, _LONGEST)}")
            return
    ratio = relative(twin.estimate, best.estimate)
    if ratio.value is not None:
        between = "" if ratio.low is None or ratio.high is None else f" [{short(ratio.low)}, {short(ratio.high)}]"
        side = f"{other.side.label} {amount(twin.estimate, selection.metric)}"
        yield Sentence("ratio", f"{best.label}: {side}, {short(ratio.value)}{between} × {first.side.label}")


def _share(efficiency: float | None) -> str:
    return "-" if efficiency is None else percent(efficiency)
