"""Scaling of a benchmark over cores, batch or shape: the points, sentences and figure that screens and `show` share.

Efficiency is the reached share of perfect scaling, relative to the smallest value measured on the same side. Over cores
it is items/s(n) / (n / n0 × items/s(n0)). Over batches it is items/s(b) / items/s(b0): 100 % means that batching
neither gains nor costs. Over a dim it is items/s(s) × s / (s0 × items/s(s0)): 100 % means that time is proportional to
the dim.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from tuibench.core.cell import CellResult, Estimate
from tuibench.core.reason import failure_words
from tuibench.core.result import RunResult
from tuibench.core.scenario import find
from tuibench.core.text import show
from tuibench.core.units import count_of
from tuibench.present.plots import figure as figures
from tuibench.present.plots.grid import Grid, Place, choices_of, coordinate_name, make_grid, settle
from tuibench.present.plots.selection import (
    AXES,
    METRICS,
    UNITS,
    Choices,
    Line,
    ScalingPoint,
    Selection,
    Sentence,
    Side,
    quantity,
    relative,
    scaled,
    statistics_of,
)
from tuibench.present.plots.sentences import sentences
from tuibench.present.reason import reason_words

__all__ = [
    "AXES",
    "METRICS",
    "Line",
    "Scaling",
    "ScalingPoint",
    "Selection",
    "Sentence",
    "Side",
    "axes_of",
    "figure_of",
    "scaling",
]

_QUANTITIES = UNITS | {"efficiency": "efficiency %"}
_SPREAD_FOR_LOG2 = 4
"""Axes with a smaller range of values use even steps."""


@dataclass(frozen=True, slots=True)
class Scaling:
    """The content of a scaling page."""

    selection: Selection
    """The settled selection: complete and valid for this run."""
    choices: Choices
    lines: tuple[Line, ...]
    unit: str
    axis_name: str
    """cores, batch, or the name of the dim."""
    sentences: tuple[Sentence, ...]


def axes_of(run: RunResult) -> tuple[str, ...]:
    """Return the axes that have more than one value in this run."""
    return make_grid(run).axes()


def scaling(run: RunResult, selection: Selection | None = None) -> Scaling:
    """Return the lines for `selection`; fill in missing and invalid choices."""
    grid = make_grid(run)
    settled = settle(grid, selection or Selection())
    metric = settled.metric if settled.metric in METRICS else METRICS[1]
    scenarios = {side.scenario for side in grid.sides if side.key in settled.sides}
    statistics = statistics_of(metric, scenarios)
    statistic = settled.statistic if settled.statistic in statistics else statistics[0]
    settled = replace(settled, metric=metric, statistic=statistic)
    by_key = {side.key: side for side in grid.sides}
    lines = tuple(Line(by_key[key], _points(grid, settled, key)) for key in settled.sides)
    choices = choices_of(grid, settled, METRICS, statistics)
    name = coordinate_name(grid.axis_key(settled))
    said = sentences(lines, settled, run.comparisons)
    return Scaling(settled, choices, lines, UNITS[metric], name, said)


def figure_of(shown: Scaling) -> figures.Figure:
    """Return the figure; a cell without a value keeps its tick and gets a sign."""
    series = tuple(
        figures.Series(
            line.side.label,
            tuple(
                figures.Point(point.value, point.estimate.value, point.estimate.low, point.estimate.high)
                for point in line.points
                if point.estimate.value is not None
            ),
            missing=tuple(float(point.value) for point in line.points if point.estimate.value is None),
        )
        for line in shown.lines
    )
    values = sorted({point.value for line in shown.lines for point in line.points})
    ideal, name = _ideal(shown)
    return figures.Figure(
        series=series,
        x_ticks=tuple((float(value), str(value)) for value in values),
        x_name=shown.axis_name,
        y_name=f"{shown.selection.statistic} {_QUANTITIES[shown.selection.metric]}",
        log2_x=bool(values) and values[0] > 0 and values[-1] >= _SPREAD_FOR_LOG2 * values[0],
        ideal=ideal,
        ideal_name=name,
    )


def _points(grid: Grid, selection: Selection, side: str) -> tuple[ScalingPoint, ...]:
    over = grid.axis_key(selection)
    found: dict[int, Place] = {}
    for place in grid.places:
        held = all(place.at.get(key) == value for key, value in selection.fixed.items())
        if place.side == side and held and over in place.at:
            before = found.get(place.at[over])
            if before is None or before.cell.pooled is None:
                found[place.at[over]] = place
    points = [_point(place, value, grid, selection) for value, place in sorted(found.items())]
    base = next((point for point in points if point.throughput.value), None)
    return tuple(_with_efficiency(point, base, selection) for point in points)


def _point(place: Place, value: int, grid: Grid, selection: Selection) -> ScalingPoint:
    cell = place.cell
    rate = "mean" if find(cell.asked.scenario).has_streams else selection.statistic
    wrong, disturbed = _is_wrong(cell), cell.grade is not None and cell.grade.letter == "D"
    name = coordinate_name(grid.axis_key(selection))
    return ScalingPoint(
        value=value,
        label=count_of(value, "core") if selection.axis == "cores" else f"{name} {value}",
        cell_key=cell.key,
        estimate=quantity(cell, selection.metric, selection.statistic),
        throughput=quantity(cell, "throughput", rate),
        batch_time=quantity(cell, "batch-time", selection.statistic),
        efficiency=None,
        grade=show(cell.grade.letter, 4) if cell.grade is not None else "",
        status=cell.status,
        note="; ".join(_notes(cell)),
        is_clean=not wrong and not disturbed,
    )


def _is_wrong(cell: CellResult) -> bool:
    return cell.check is not None and cell.check.state == "differs"


def _notes(cell: CellResult) -> Iterator[str]:
    if cell.failure is not None:
        yield ("partial: " if cell.status == "partial" else "") + failure_words(cell.failure)
    elif cell.status != "ok":
        yield f"{show(cell.status, 40)}: {reason_words(cell.stopped_by, 200) or 'not reached'}"
    if _is_wrong(cell):
        yield "outputs differ"
    if cell.grade is not None and cell.grade.letter == "D":
        yield f"grade D: {reason_words(cell.grade.cause, 200)}"


def _with_efficiency(point: ScalingPoint, base: ScalingPoint | None, selection: Selection) -> ScalingPoint:
    if base is None or base.value < 1 or point.throughput.value is None:
        return replace(point, estimate=Estimate(None)) if selection.metric == "efficiency" else point
    factor = {"cores": base.value / point.value, "batch": 1.0}.get(selection.axis, point.value / base.value)
    share = Estimate(1.0, n=base.throughput.n) if point is base else relative(point.throughput, base.throughput, factor)
    point = replace(point, efficiency=share.value)
    return replace(point, estimate=scaled(share, 100.0)) if selection.metric == "efficiency" else point


def _ideal(shown: Scaling) -> tuple[tuple[figures.Point, ...], str]:
    """Return the first side's ideal line, extrapolated from its smallest value."""
    measured: Sequence[ScalingPoint] = shown.lines[0].measured if shown.lines else ()
    if len(measured) < 2 or measured[0].value < 1:
        return (), ""
    base, last = measured[0], measured[-1]
    start = base.estimate.value or 0.0
    axis, metric = shown.selection.axis, shown.selection.metric
    power = {"cores": 1, "batch": 0, "shape": -1}[axis]
    exponent = {"throughput": power, "latency": -power, "batch-time": -power + (axis == "batch"), "efficiency": 0}[
        metric
    ]
    steps = 33 if exponent < 0 else 2
    places = [base.value * (last.value / base.value) ** (i / (steps - 1)) for i in range(steps)]
    points = tuple(figures.Point(x, start * (x / base.value) ** exponent) for x in places)
    name = {"cores": "ideal", "batch": f"as at batch {base.value}"}.get(axis, f"in proportion to {shown.axis_name}")
    return points, name
