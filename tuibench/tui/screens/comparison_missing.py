"""Explains why no cells of two results match, and how to measure cells that do."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tuibench.core.cell import CellResult
from tuibench.core.short_id import short_id
from tuibench.core.text import show
from tuibench.report.label import axis_value
from tuibench.tui.screens.comparison_figure import Material

_WORDS = {
    "engine": "engines", "scenario": "scenarios", "cores": "core counts", "batch": "batches", "shapes": "shapes",
    "precision": "precisions",
}  # fmt: skip
_MOST = 5
"""Largest number of values listed for each operand."""


def missing_lines(material: Material, rerun: str) -> tuple[str, ...]:
    """Return the lines in place of the pairs; `rerun` is the key of a re-run with changes."""
    first = "No cells pair: none of one side was asked for what one of the other was."
    if material.side is None:
        return (first,)
    apart = [axis for axis in _WORDS if not _values(material, axis, 0).keys() & _values(material, axis, 1)]
    names = short_id(material.side.old_id), short_id(material.side.new_id)
    lines = [f"{_WORDS[axis]}: {'; '.join(_side(material, axis, names))}" for axis in apart]
    models = [run.models[0].sha256[:8] for run in (material.old, material.new) if run.models]
    if len(set(models)) > 1:
        told = "; ".join(f"{sha256} in {name}" for sha256, name in zip(models, names, strict=False))
        lines.insert(0, f"model: another content, {told}")
    what = " and ".join(_WORDS[axis] for axis in apart) or "cells"
    doing = f"In the list or on its page, {rerun} measures one of them again:"
    return (first, *lines, doing, f"give it {what} that the other one has.")


def _side(material: Material, axis: str, names: Sequence[str]) -> Iterator[str]:
    for number, name in enumerate(names):
        values = list(_values(material, axis, number))
        more = f" and {len(values) - _MOST} more" if len(values) > _MOST else ""
        yield f"{', '.join(values[:_MOST])}{more} in {name}"


def _values(material: Material, axis: str, number: int) -> dict[str, None]:
    """Return the distinct values in the order measured."""
    run = (material.old, material.new)[number]
    return {_shapes(cell) if axis == "shapes" else axis_value(run, cell, axis): None for cell in run.cells}


def _shapes(cell: CellResult) -> str:
    """Return all requested dims, even those that do not vary in the result."""
    return " ".join(f"{show(name, 40)}={size}" for name, size in sorted(cell.asked.dims.items())) or "the model's own"
