"""Figures of two results: both over cores, batches or shapes, their ratio, or their samples over time."""

from __future__ import annotations

from dataclasses import replace

from tuibench.core.cell import CellResult
from tuibench.core.ids import short_id
from tuibench.core.result import Comparison, RunResult, SideBySide
from tuibench.core.text import show
from tuibench.present.plots.figure import MOST_SERIES, Figure, Point, Series
from tuibench.present.plots.grid import coordinate_name, dim_key, make_grid
from tuibench.present.plots.histogram import samples_of
from tuibench.present.plots.scaling import Scaling, figure_of, scaling
from tuibench.present.plots.selection import Line, Selection, Sentence
from tuibench.present.plots.sentences import sentences

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
    on_it = {point.cell_key for line in shown.lines[:1] for point in line.points}
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


def comparison_figure(old: RunResult, new: RunResult, selection: Selection | None = None) -> Figure:
    """Return a figure of both results over cores, batches or shapes."""
    return figure_of(together(old, new, selection))


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
