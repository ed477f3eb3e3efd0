"""A run's cells by coordinates: the line of a figure each belongs to, and its place on the line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from tuibench.core.cell import Asked, CellResult
from tuibench.core.engine import short_names
from tuibench.core.label import model_names, varying_axes
from tuibench.core.result import RunResult
from tuibench.core.scenario import find
from tuibench.core.text import show
from tuibench.present.plots.selection import AXES, MOST_SIDES, Choices, Selection, Side

_DIM = "dim "
_MAX_CHARS = 40


@dataclass(frozen=True, slots=True)
class Place:
    """One cell with its coordinates."""

    cell: CellResult
    side: str
    at: Mapping[str, int]
    """Keys are cores, batch and `dim NAME`."""


@dataclass(frozen=True, slots=True)
class Grid:
    """All cells of a run, with the settings and axes in which they differ."""

    places: tuple[Place, ...]
    sides: tuple[Side, ...]
    dims: tuple[str, ...]
    """Dims with several values that do not depend on another dim or the batch."""

    def values(self, key: str, sides: Sequence[str] = ()) -> tuple[int, ...]:
        """Return all values of an axis in ascending order; if sides are given, only theirs."""
        return tuple(sorted({p.at[key] for p in self.places if key in p.at and (not sides or p.side in sides)}))

    def axis_key(self, selection: Selection) -> str:
        """Return the coordinate key of the figure's axis."""
        return selection.axis if selection.axis != "shape" else dim_key(selection.dim)

    def axes(self) -> tuple[str, ...]:
        """Return the axes with more than one value."""
        many = [axis for axis in ("cores", "batch") if len(self.values(axis)) > 1]
        return (*many, "shape") if self.dims else tuple(many)


def dim_key(name: str) -> str:
    """Return the coordinate key of a symbolic dim; the prefix separates it from names such as cores."""
    return _DIM + name


def coordinate_name(key: str) -> str:
    """Return the display name of a coordinate, safe to print."""
    return show(key.removeprefix(_DIM), _MAX_CHARS)


def make_grid(run: RunResult) -> Grid:
    """Give each cell of a run its coordinates."""
    open_batches = _open_batches(run)
    places = []
    for cell in run.cells:
        asked = cell.asked
        batch = asked.batch if asked.batch is not None else open_batches.get(asked.model_sha256, cell.items)
        dims = {dim_key(name): size for name, size in asked.dims.items()}
        places.append(Place(cell, _side_of(run, asked).key, {"cores": asked.cores, "batch": batch, **dims}))
    return Grid(tuple(places), _sides(run), _free_dims(places))


def settle(grid: Grid, selection: Selection) -> Selection:
    """Fill every gap of the selection; replace choices that this run does not have."""
    axes = grid.axes()
    axis = selection.axis if selection.axis in AXES else (axes[0] if axes else "cores")
    dim = selection.dim if grid.values(dim_key(selection.dim)) else (grid.dims[0] if grid.dims else "")
    known = [side.key for side in grid.sides]
    sides = tuple(key for key in dict.fromkeys(selection.sides) if key in known)[:MOST_SIDES]
    settled = replace(selection, axis=axis, dim=dim, sides=sides or tuple(known[:MOST_SIDES]))
    return replace(settled, fixed=_hold(grid, settled))


def choices_of(grid: Grid, selection: Selection, metrics: tuple[str, ...], statistics: tuple[str, ...]) -> Choices:
    """Return the available alternatives to a selection."""
    fixed = {key: grid.values(key, selection.sides) for key in selection.fixed}
    return Choices(grid.axes(), grid.sides, fixed, metrics, statistics, grid.dims)


def _hold(grid: Grid, selection: Selection) -> dict[str, int]:
    """Return the fixed values of the other axes: as requested, else those with the most measured cells.

    Among equals prefer the most cores and the smallest batch and shape.
    """
    over = grid.axis_key(selection)
    every = ("cores", "batch", *map(dim_key, grid.dims))
    # An axis that changes together with the figure's axis cannot be fixed.
    keys = [key for key in every if key != over and not (key != "cores" and _tied(grid.places, key, over))]
    mine = [place for place in grid.places if place.side in selection.sides and over in place.at]
    counts: Counter[tuple[int | None, ...]] = Counter()
    for place in mine:
        counts[tuple(place.at.get(key) for key in keys)] += 1 + len(mine) * (place.cell.pooled is not None)

    def rank(combination: tuple[int | None, ...]) -> tuple[object, ...]:
        held = dict(zip(keys, combination, strict=True))
        asked = sum(held[key] == selection.fixed[key] for key in keys if key in selection.fixed)
        small = tuple(-(held[key] or 0) for key in keys if key != "cores")
        return asked, counts[combination], held.get("cores") or 0, small

    best = max(counts, key=rank, default=())
    return {key: value for key, value in zip(keys, best, strict=False) if value is not None}


def _open_batches(run: RunResult) -> dict[str, int]:
    """Return each model's own batch, for cells without a requested one; failed cells get it, too."""
    read = {c.asked.model_sha256: c.used.batch for c in run.cells if c.used is not None and c.used.batch is not None}
    measured = {c.asked.model_sha256: c.items for c in run.cells if c.pooled is not None}
    return {**measured, **read}


def _side_of(run: RunResult, asked: Asked) -> Asked:
    """Clear the figure's axes from a request; keep streams only if a number was requested."""
    streams = asked.streams if run.spec.streams is not None and find(asked.scenario).has_streams else 0
    return replace(asked, cores=0, batch=None, dims={}, streams=streams)


def _sides(run: RunResult) -> tuple[Side, ...]:
    every = {side.key: side for side in (_side_of(run, cell.asked) for cell in run.cells)}
    varying = set(varying_axes(every.values())) | {"engine"}
    if len({asked.version for asked in every.values()}) > 1:
        varying.add("version")
    names = dict(zip((model.sha256 for model in run.models), model_names(run.spec.models), strict=False))
    labels = {key: _label(asked, varying, names) for key, asked in every.items()}
    twice = {label for label, count in Counter(labels.values()).items() if count > 1}
    sides = []
    for key, label in labels.items():
        brief = _label(replace(every[key], engine=short_names([every[key].engine])), varying, names)
        end = f" {key[:4]}" if label in twice else ""
        sides.append(Side(key, label + end, every[key].scenario, brief + end))
    return tuple(sides)


def _label(asked: Asked, varying: set[str], names: Mapping[str, str]) -> str:
    model = names.get(asked.model_sha256, asked.model_sha256[:8])
    words = [model] if "model" in varying else []
    words += [show(getattr(asked, axis), _MAX_CHARS) for axis in ("engine", "version", "scenario") if axis in varying]
    words += [show(getattr(asked, axis), _MAX_CHARS) for axis in ("precision", "pin") if axis in varying]
    words += [show(f"{k}={v}", _MAX_CHARS) for k, v in asked.options.items() if "options" in varying]
    return " ".join(words)


def _free_dims(places: Sequence[Place]) -> tuple[str, ...]:
    """Return the dims with several values; of dims that change together keep the first."""
    names = dict.fromkeys(key for place in places for key in place.at if key.startswith(_DIM))
    free: list[str] = []
    for name in names:
        values = {place.at[name] for place in places if name in place.at}
        if len(values) > 1 and not any(_tied(places, name, other) for other in ("batch", *free)):
            free.append(name)
    return tuple(name.removeprefix(_DIM) for name in free)


def _tied(places: Sequence[Place], one: str, other: str) -> bool:
    """Return whether two axes correspond one to one and have several values."""
    pairs = {(place.at[one], place.at[other]) for place in places if one in place.at and other in place.at}
    return len(pairs) == len({a for a, _ in pairs}) == len({b for _, b in pairs}) > 1
