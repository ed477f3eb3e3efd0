"""Figures of a comparison: lists those available for two results, and draws one for the pair under the cursor."""

from __future__ import annotations

from dataclasses import dataclass

from tuibench.core.cell import CellResult
from tuibench.core.result import RunResult, SideBySide
from tuibench.present.plots.comparison import ratio_figure, samples_comparison, together
from tuibench.present.plots.figure import Figure
from tuibench.present.plots.grid import Grid, make_grid
from tuibench.present.plots.scaling import METRICS, Selection, axes_of, figure_of, scaling
from tuibench.tui.screens.comparison.pair import Pair

SAMPLES = "samples"
_RATIO = "ratio over "
_OVER = "over "


@dataclass(frozen=True, slots=True)
class ComparisonData:
    """Two results to compare, or the same one twice to compare its own sides."""

    old: RunResult
    new: RunResult
    pairs: tuple[Pair, ...]
    side: SideBySide | None = None
    """The comparison of two stored results; None for the sides of one."""

    @property
    def cells(self) -> dict[str, dict[str, CellResult]]:
        """Cells by side name, then by cell key."""
        old = {cell.key: cell for cell in self.old.cells}
        new = {cell.key: cell for cell in self.new.cells}
        found: dict[str, dict[str, CellResult]] = {}
        for pair in self.pairs:
            found.setdefault(pair.base.name, old)
            found.setdefault(pair.new.name, new)
        return found


def figures_of(material: ComparisonData) -> tuple[str, ...]:
    """Return the names of the available figures, the most informative first."""
    axes = axes_of(material.old)
    over = [_OVER + axis for axis in axes]
    ratios = [_RATIO + axis for axis in axes if axis in ("cores", "batch")] if material.side is not None else []
    return (*over, *ratios, SAMPLES)


def has_metric(name: str) -> bool:
    """Return whether the figure's metric can be chosen."""
    return name.startswith(_OVER)


def make_figure(material: ComparisonData, name: str, pair: Pair | None, metric: str, *, turned: bool = False) -> Figure:
    """Make one figure at the values of the pair; `turned` makes the new side the baseline."""
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


def _over(material: ComparisonData, axis: str, pair: Pair, metric: str) -> Figure:
    """Return a figure of both sides over an axis, with the other axes fixed at the pair's values."""
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
