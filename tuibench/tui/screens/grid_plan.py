"""The cells of a run as a grid: a block per series, a line per core count, a column per batch and shape."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from tuibench.core.cell import Asked, CellResult
from tuibench.core.label import name_cell, varying_axes
from tuibench.core.scenario import find
from tuibench.core.text import show
from tuibench.core.units import count_of

Column = tuple[int | None, tuple[tuple[str, int], ...]]
"""Batch and dims."""
_OF_SIDES = ("model", "engine", "scenario", "precision", "pin", "options")


@dataclass(frozen=True, slots=True)
class GridLine:
    """One line of cells with the same core count: one key per column, '' if nothing is planned."""

    label: str
    keys: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Block:
    """One series: cells with equal settings except cores, batch and shape."""

    title: str
    """Includes the unit of its numbers."""
    lines: tuple[GridLine, ...]


@dataclass(frozen=True)
class GridPlan:
    """The position of each cell."""

    columns: tuple[str, ...]
    blocks: tuple[Block, ...]

    @cached_property
    def lines(self) -> tuple[GridLine, ...]:
        """The lines of all blocks, from the top."""
        return tuple(line for block in self.blocks for line in block.lines)


def plan_grid(cells: Sequence[CellResult], names: Mapping[str, str]) -> GridPlan:
    """Plan the grid; `names` are the models' names by sha256, and cells are in planned order."""
    columns = list(dict.fromkeys(_column(cell.asked) for cell in cells))
    columns.sort(key=lambda column: (column[0] or 0, column[1]))
    sides: dict[tuple[object, ...], dict[int, dict[Column, str]]] = {}
    first: dict[tuple[object, ...], Asked] = {}
    for cell in cells:
        side = _side(cell.asked)
        first.setdefault(side, cell.asked)
        sides.setdefault(side, {}).setdefault(cell.asked.cores, {})[_column(cell.asked)] = cell.key
    axes = tuple(axis for axis in varying_axes(cell.asked for cell in cells) if axis in _OF_SIDES)
    blocks = tuple(
        Block(
            _title(first[side], axes, names),
            tuple(
                GridLine(count_of(cores, "core"), tuple(line.get(column, "") for column in columns))
                for cores, line in sorted(lines.items())
            ),
        )
        for side, lines in sides.items()
    )
    several = len({dims for _, dims in columns}) > 1
    return GridPlan(tuple(_heading(column, several) for column in columns), _numbered(blocks))


def _numbered(blocks: tuple[Block, ...]) -> tuple[Block, ...]:
    """Number the blocks if there are several, because not all may be visible."""
    many = len(blocks)
    if many < 2:
        return blocks
    return tuple(replace(block, title=f"{block.title} ({n} of {many})") for n, block in enumerate(blocks, 1))


def _side(asked: Asked) -> tuple[object, ...]:
    options = tuple(sorted(asked.options.items()))
    return asked.engine, asked.model_sha256, asked.version, asked.scenario, asked.precision, asked.pin, options


def _column(asked: Asked) -> Column:
    return asked.batch, tuple(sorted(asked.dims.items()))


def _title(asked: Asked, axes: tuple[str, ...], names: Mapping[str, str]) -> str:
    """Return the distinguishing settings; always with the scenario, which determines the unit."""
    name = name_cell(asked, axes, model=names.get(asked.model_sha256, ""), sizes=False)
    return f"{name}, {'p50 ms/batch' if find(asked.scenario).is_latency else 'items/s'}"


def _heading(column: Column, several: bool) -> str:
    batch, dims = column
    words = [f"batch {batch}"] if batch is not None else ["no batch"]
    words += [f"{show(name, 12)}={size}" for name, size in dims] if several else []
    return " ".join(words)
