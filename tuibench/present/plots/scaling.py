"""Scaling of a benchmark over cores, batch or shape: the points, sentences and figure that screens and `show` share.

Efficiency is the reached share of perfect scaling, relative to the smallest value measured on the same side. Over cores
it is items/s(n) / (n / n0 × items/s(n0)). Over batches it is items/s(b) / items/s(b0): 100 % means that batching
neither gains nor costs. Over a dim it is items/s(s) × s / (s0 × items/s(s0)): 100 % means that time is proportional to
the dim.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from tuibench.core.cell import CellResult, Estimate, ran_elsewhere
from tuibench.core.ids import short_id
from tuibench.core.result import Comparison, RunResult, SideBySide
from tuibench.core.scenario import find
from tuibench.core.text import show
from tuibench.core.units import count_of
from tuibench.present.amount import elsewhere_words
from tuibench.present.plots import figure as figures
from tuibench.present.plots.figure import MOST_SERIES, Figure, Point, Series
from tuibench.present.plots.grid import Grid, Place, choices_of, coordinate_name, dim_key, make_grid, settle
from tuibench.present.plots.histogram import samples_of
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
from tuibench.present.reason import failure_words, reason_words

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
    # Another statistic than the measured rate only where it was chosen for the rate itself.
    chosen = selection.metric in ("throughput", "efficiency") and not find(cell.asked.scenario).has_streams
    rate = selection.statistic if chosen else "mean"
    name = coordinate_name(grid.axis_key(selection))
    return ScalingPoint(
        value=value,
        name=name,
        label=count_of(value, "core") if selection.axis == "cores" else f"{name} {value}",
        cell=cell,
        estimate=quantity(cell, selection.metric, selection.statistic),
        throughput=quantity(cell, "throughput", rate),
        batch_time=quantity(cell, "batch-time", selection.statistic),
        efficiency=None,
        grade=show(cell.grade.letter, 4) if cell.grade is not None else "",
        status=cell.status,
        note="; ".join(_notes(cell)),
    )


def _notes(cell: CellResult) -> Iterator[str]:
    if cell.failure is not None:
        yield ("partial: " if cell.status == "partial" else "") + failure_words(cell.failure)
    elif cell.status != "ok":
        yield f"{show(cell.status, 40)}: {reason_words(cell.stopped_by, 200) or 'not reached'}"
    if cell.check is not None and cell.check.state == "differs":
        yield "outputs differ"
    if ran_elsewhere(cell):
        yield elsewhere_words(cell.asked.engine)
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


_Rest = tuple[tuple[str, str], ...]
"""All settings of a cell except the figure's axis, as (setting, text)."""


def together(old: RunResult, new: RunResult, selection: Selection | None = None) -> Scaling:
    """Draw one side of each result over the same axis at the same fixed values; label the sides by result.

    Take the first of `selection.sides` that each result has. A result not measured at those values has no line, and a
    sentence reports it.
    """
    wanted = selection or Selection()
    first = scaling(old, _one_side(old, wanted))
    place = _coordinates(old, first)
    settled = replace(first.selection, sides=(*wanted.sides, *first.selection.sides), fixed=place)
    second = scaling(new, _one_side(new, settled))
    if second.selection.statistic != first.selection.statistic:
        # Both results must use a statistic that streams have, too.
        first = scaling(old, replace(first.selection, statistic=second.selection.statistic))
    lacking = _lacking(first, second, _agree(place, _coordinates(new, second)))
    lines = (*_named(first.lines[:1], old), *(() if lacking else _named(second.lines[:1], new)))
    said = sentences(lines, first.selection, ())
    if lacking:
        said += (Sentence("missing", f"{show(short_id(new.id), 10)}: not measured {lacking}"),)
    return replace(first, lines=lines, sentences=said)


def _lacking(first: Scaling, second: Scaling, agree: bool) -> str:
    """Return the axis or values that the second result lacks; '' if both lines are comparable."""
    if _over(second) != _over(first) or not any(line.points for line in second.lines[:1]):
        return f"over {first.axis_name}" if first.axis_name else "over the same dim"
    return "" if agree else _held(first.selection)


def _coordinates(run: RunResult, shown: Scaling) -> dict[str, int]:
    """Return every coordinate that all cells of the first line share, chosen or not."""
    on_it = {point.cell.key for line in shown.lines[:1] for point in line.points}
    places = [place for place in make_grid(run).places if place.cell.key in on_it]
    values = {key: {place.at.get(key) for place in places} for place in places for key in place.at}
    held = {key: found for key, found in values.items() if len(found) == 1 and key != _over(shown)}
    return {key: value for key, found in held.items() for value in found if value}


def _over(shown: Scaling) -> str:
    return shown.selection.axis if shown.selection.axis != "shape" else dim_key(shown.selection.dim)


def _agree(old: dict[str, int], new: dict[str, int]) -> bool:
    return all(new.get(key, value) == value for key, value in old.items())


def _held(selection: Selection) -> str:
    return "at " + ", ".join(f"{coordinate_name(key)} {value}" for key, value in selection.fixed.items())


def ratio_figure(
    old: RunResult, side: SideBySide, axis: str, near: tuple[str, str] = ("", ""), *, turned: bool = False
) -> Figure:
    """Return a figure of the time ratio new / old over an axis of the old result.

    The axis is cores, batch or `dim NAME`; each combination of the other settings has a line. If there are
    too many lines, that of the pair with the cell keys `near` comes first. `turned` is old / new.
    """
    grid = make_grid(old)
    at = {place.cell.key: place for place in grid.places}
    groups: dict[_Rest, list[Point]] = {}
    labels = {each.key: each.label for each in grid.sides}
    nearest: _Rest = ()
    for pair in side.pairs:
        place = at.get(pair.old.key)
        if place is None or axis not in place.at:
            continue
        held = [(key, f"{coordinate_name(key)} {place.at[key]}") for key in sorted(place.at) if key != axis]
        rest = (("side", labels[place.side]), *held)
        nearest = rest if {pair.old.key, pair.new.key} == set(near) else nearest
        point = _ratio_point(place.at[axis], pair.comparison, turned)
        if point is not None:
            groups.setdefault(rest, []).append(point)
    rests = sorted(groups, key=lambda rest: len(groups) > MOST_SERIES and rest != nearest)
    lines = [tuple(sorted(groups[rest], key=lambda p: p.x)) for rest in rests]
    values = sorted({point.x for points in lines for point in points})
    return Figure(
        series=tuple(Series(name, points) for name, points in zip(_names(rests), lines, strict=True)),
        x_ticks=tuple((x, f"{x:.0f}") for x in values), x_name=coordinate_name(axis),
        y_name="old / new in time" if turned else "new / old in time",
        from_zero=False, ideal=(Point(values[0], 1.0), Point(values[-1], 1.0)) if values else (), ideal_name="equal",
        empty="no pair has a ratio",
    )  # fmt: skip


def _ratio_point(x: int, comparison: Comparison | None, turned: bool) -> Point | None:
    found = comparison.verdict if comparison is not None else None
    if found is None or (turned and not found.ratio):
        return None
    if turned:
        return Point(x, 1 / found.ratio, _inverse(found.high), _inverse(found.low))
    return Point(x, found.ratio, found.low, found.high)


def _inverse(value: float | None) -> float | None:
    return 1 / value if value else None


def _names(rests: list[_Rest]) -> list[str]:
    """Name each line by the settings in which the lines differ; a single line by its side."""
    seen = [set(rest) for rest in rests]
    shared = set.intersection(*seen) if len(seen) > 1 else set()
    alone = len(rests) == 1
    return [
        " ".join(text for key, text in rest if (key, text) not in shared and (not alone or key == "side"))
        for rest in rests
    ]


def samples_comparison(old: CellResult, new: CellResult, names: tuple[str, str] = ("old", "new")) -> Figure:
    """Return a figure of ms/batch over time of two cells, execution by execution."""
    sides = [(name, *samples_of(cell)) for name, cell in zip(names, (old, new), strict=True)]
    series = tuple(Series(name, tuple(replace(p, low=None, high=None) for p in ps), bs) for name, ps, bs in sides if ps)
    count = max((sum(bool(e.series) for e in cell.executions) for cell in (old, new)), default=0)
    ticks = tuple((number + 0.5, str(number + 1)) for number in range(count))
    return Figure(series, ticks, "execution", "ms/batch", from_zero=False)


def _one_side(run: RunResult, selection: Selection) -> Selection:
    known = {side.key for side in make_grid(run).sides}
    mine = [key for key in selection.sides if key in known] or [side.key for side in make_grid(run).sides]
    return replace(selection, sides=tuple(mine[:1]))


def _named(lines: tuple[Line, ...], run: RunResult) -> tuple[Line, ...]:
    name = show(short_id(run.id), 10)
    sides = (replace(s, label=f"{name} {s.label}", brief=f"{name} {s.brief}") for s in (line.side for line in lines))
    return tuple(replace(line, side=side) for line, side in zip(lines, sides, strict=True))
