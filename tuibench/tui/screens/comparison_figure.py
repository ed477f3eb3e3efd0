"""Figures of a comparison: which there are for two results, and each for the pair under the cursor."""

from __future__ import annotations

from dataclasses import dataclass

from tuibench.core.cell import CellResult
from tuibench.core.comparison import SideBySide
from tuibench.core.run import RunResult
from tuibench.plots.comparison import ratio_figure, samples_comparison, together
from tuibench.plots.figure import Figure
from tuibench.plots.grid import Grid, make_grid
from tuibench.plots.scaling import METRICS, Selection, axes_of, figure_of, scaling
from tuibench.tui.screens.comparison_pair import Pair

SAMPLES = "samples"
_RATIO = "ratio over "
_OVER = "over "


@dataclass(frozen=True, slots=True)
class Material:
    """Two results, or twice the same one whose own sides are compared."""

    old: RunResult
    new: RunResult
    pairs: tuple[Pair, ...]
    side: SideBySide | None = None
    """How two stored results compare; None for the sides of one."""

    @property
    def cells(self) -> dict[str, dict[str, CellResult]]:
        """Of each side of the pairs by its name: its cells by their keys."""
        old = {cell.key: cell for cell in self.old.cells}
        new = {cell.key: cell for cell in self.new.cells}
        found: dict[str, dict[str, CellResult]] = {}
        for pair in self.pairs:
            found.setdefault(pair.base.name, old)
            found.setdefault(pair.new.name, new)
        return found


def figures_of(material: Material) -> tuple[str, ...]:
    """The names of the figures that there are, the most telling first."""
    axes = axes_of(material.old)
    over = [_OVER + axis for axis in axes]
    ratios = [_RATIO + axis for axis in axes if axis in ("cores", "batch")] if material.side is not None else []
    return (*over, *ratios, SAMPLES)


def has_metric(name: str) -> bool:
    """Whether the metric of a figure can be chosen."""
    return name.startswith(_OVER)


def make_figure(material: Material, name: str, pair: Pair | None, metric: str, *, turned: bool = False) -> Figure:
    """One figure, held where the pair is; `turned` where the new side is the base."""
    if pair is None:
        return Figure((), None, "", "", empty="no pair of cells")
    if name.startswith(_RATIO) and material.side is not None:
        near = pair.base.key, pair.new.key
        return ratio_figure(material.old, material.side, name.removeprefix(_RATIO), near, turned=turned)
    if has_metric(name):
        return _over(material, name.removeprefix(_OVER), pair, metric)
    cells = material.cells
    both = cells[pair.base.name].get(pair.base.key), cells[pair.new.name].get(pair.new.key)
    if both[0] is None or both[1] is None:
        return Figure((), None, "", "", empty="not measured")
    return samples_comparison(both[0], both[1], (pair.base.name, pair.new.name))


def _over(material: Material, axis: str, pair: Pair, metric: str) -> Figure:
    """Both sides of the pair, the other axes held at its values."""
    metric = metric if metric in METRICS else METRICS[1]
    inside = material.side is None
    grids = make_grid(material.old), make_grid(material.new)
    keys = (pair.base.key, pair.new.key)
    sides = tuple(place.side for grid in grids for place in grid.places if place.cell.key in keys)
    selection = Selection(axis=axis, sides=tuple(dict.fromkeys(sides)), fixed=_held(grids[0], keys), metric=metric)
    return figure_of(scaling(material.old, selection) if inside else together(material.old, material.new, selection))


def _held(grid: Grid, keys: tuple[str, ...]) -> dict[str, int]:
    place = next((place for place in grid.places if place.cell.key in keys), None)
    return dict(place.at) if place is not None else {}
