"""Names of cells in logs, tables, sentences and headlines: only as long as needed to distinguish them."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from tuibench.core.engine import short_names
from tuibench.core.scenario import find
from tuibench.core.text import show
from tuibench.core.units import count_of
from tuibench.core.value import dataclass

if TYPE_CHECKING:  # listing needs no results, and importing their types takes 12 ms
    from tuibench.core.cell import Asked, CellResult
    from tuibench.core.headline import HeadlineNumber
    from tuibench.core.result import RunResult
    from tuibench.core.spec import ModelSource

Names = Mapping[str, str]
"""Model names by sha256."""

_FIELDS = {"model": "model_sha256"}
_AXES = ("model", "engine", "scenario", "cores", "batch", "dims", "streams", "precision", "pin", "options")
_MAX_CHARS = 60


def varying_axes(cells: Iterable[Asked]) -> tuple[str, ...]:
    """Return the axes in which the requests differ, which a cell's name must include."""
    every = list(cells)
    return tuple(axis for axis in _AXES if any(_value(asked, axis) != _value(every[0], axis) for asked in every))


def name_cell(
    asked: Asked | HeadlineNumber,
    axes: Collection[str],
    *,
    model: str = "",
    streams: int | None = None,
    brief: bool = False,
    narrow: bool = False,
    scenario: bool = True,
    sizes: bool = True,
    was: Asked | None = None,
    was_streams: int | None = None,
) -> str:
    """Return the name of a cell: scenario, cores, batch and streams always, other settings if they are in `axes`.

    `scenario` False omits the scenario, where all cells have the same. `sizes` False omits cores, batch and streams
    and separates by blanks, for a title beside them. `model` is the model's name, `streams` the number really used.
    `brief`, for the headline, omits cores and batch of streams unless they vary. `narrow` is for columns: ov sync
    16c b32. `was` is the compared cell, which may have other cores or streams, and `was_streams` the number it
    really used.
    """
    alone = find(asked.scenario).is_single_request
    words = [show(model, _MAX_CHARS)] if "model" in axes and model else []
    engine = short_names([asked.engine]) if narrow else asked.engine
    words += [show(engine, _MAX_CHARS)] if "engine" in axes else []
    words += [show(asked.scenario, _MAX_CHARS)] if scenario else []
    if sizes and (alone or not brief or "cores" in axes):
        arrow = _from(was.cores if was is not None else None, asked.cores)
        words.append(f"{arrow}{asked.cores}c" if narrow else arrow + count_of(asked.cores, "core"))
    if sizes and asked.batch is not None and (alone or not brief or "batch" in axes):
        words.append(f"b{asked.batch}" if narrow else f"batch {asked.batch}")
    shown = asked.streams if streams is None else streams
    before = was.streams if was is not None and was_streams is None else was_streams
    if sizes and not alone:
        arrow = _from(before, shown)
        words.append(f"s{arrow}{shown}" if narrow else arrow + count_of(shown, "stream"))
    words += [f"{show(name, _MAX_CHARS)}={size}" for name, size in asked.dims.items() if "dims" in axes]
    words += [show(getattr(asked, axis), _MAX_CHARS) for axis in ("precision", "pin") if axis in axes]
    words += [show(f"{name}={value}", _MAX_CHARS) for name, value in asked.options.items() if "options" in axes]
    return (" " if narrow or not sizes else ", ").join(words)


@dataclass(frozen=True, slots=True)
class CellName:
    """The facts for the name of a pair of cells."""

    asked: Asked
    axes: tuple[str, ...]
    model: str
    streams: int | None
    """Number of streams really used."""
    was: Asked | None = None
    """The other operand."""
    was_streams: int | None = None

    def words(self, *, narrow: bool = False, scenario: bool = True) -> str:
        """Return the name."""
        return name_cell(
            self.asked,
            self.axes,
            model=self.model,
            streams=self.streams,
            narrow=narrow,
            scenario=scenario,
            was=self.was,
            was_streams=self.was_streams,
        )

    def turned(self) -> CellName:
        """Return the name with the operands exchanged."""
        if self.was is None:
            return self
        return replace(self, asked=self.was, was=self.asked, streams=self.was_streams, was_streams=self.streams)


def _from(before: int | None, now: int) -> str:
    return f"{before}→" if before and before != now else ""


def model_names(sources: Sequence[ModelSource]) -> list[str]:
    """Return short names of models, safe to print: file names if they are unique, else as the user gave them."""
    names = [os.path.basename(os.path.normpath(source.asked)) for source in sources]
    whole = len(set(names)) < len(names)
    return [show(source.asked if whole else name, 100) for source, name in zip(sources, names, strict=True)]


def names_by_sha256(run: RunResult) -> dict[str, str]:
    """Return the model names of a result; of two files with the same content the first name."""
    names: dict[str, str] = {}
    # Results of other tools have no inspected models.
    hashes = [model.sha256 for model in run.models] or [cell.asked.model_sha256 for cell in run.cells[:1]]
    for sha256, name in zip(hashes, model_names(run.spec.models), strict=False):
        names.setdefault(sha256, name)
    return names


def describe(cell: CellResult, cells: Sequence[CellResult], names: Names) -> str:
    """Return the name of a cell among `cells`."""
    streams = cell.used.streams if cell.used else None
    axes = varying_axes(one.asked for one in cells)
    return name_cell(cell.asked, axes, model=model_name(cell, names), streams=streams)


def model_name(cell: CellResult, names: Names) -> str:
    """Return the name of a cell's model, safe to print; the start of its sha256 if it has none."""
    sha256 = cell.asked.model_sha256
    return show(names.get(sha256, sha256[:12]), _MAX_CHARS)


def _value(asked: Asked, axis: str) -> object:
    return getattr(asked, _FIELDS.get(axis, axis))
