"""Names of cells among other cells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tuibench.core.cell import CellResult
from tuibench.core.label import name_cell, varying_axes
from tuibench.core.text import show

Names = Mapping[str, str]
"""Model names by sha256."""

_LONGEST_NAME = 60


def varying(cells: Sequence[CellResult]) -> tuple[str, ...]:
    """Return the axes in which the cells differ and which their names must include."""
    return varying_axes(c.asked for c in cells)


def describe(cell: CellResult, cells: Sequence[CellResult], names: Names) -> str:
    """Return the name of a cell among `cells`."""
    streams = cell.used.streams if cell.used else None
    return name_cell(cell.asked, varying(cells), model=model_name(cell, names), streams=streams)


def model_name(cell: CellResult, names: Names) -> str:
    """Return the name of a cell's model, safe to print; the start of its sha256 if it has none."""
    sha256 = cell.asked.model_sha256
    return show(names.get(sha256, sha256[:12]), _LONGEST_NAME)
