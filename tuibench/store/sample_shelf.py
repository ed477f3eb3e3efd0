"""Sample files beside their record: moved durably before the record that names them is written."""

from __future__ import annotations

import os
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from tuibench.store.files import Files
from tuibench.store.moving import move_file
from tuibench.store.trouble import in_the_way

if TYPE_CHECKING:  # lists need no results, and importing their types takes 12 ms
    from tuibench.core.cell import CellResult, Samples
    from tuibench.core.run import RunResult


def move_samples(files: Files, source: str, target: str) -> frozenset[str]:
    """Move every file of a directory into another, by rename if possible; return the names in the target."""
    names = [name for name in files.names(source) if not name.startswith(".")]
    if names:
        files.make_directory(target)
    for name in names:
        path = os.path.join(source, name)
        if files.kind(path) != "file":
            raise in_the_way(path, "samples are plain files")
        files.take_in(path)
        move_file(files, path, os.path.join(target, name))
    if names:
        files.sync_directory(target)
    return frozenset(files.names(target))


def name_samples(result: RunResult, there: Collection[str]) -> RunResult:
    """Return the result with bare names of the present sample files, and None for missing ones."""
    return replace(result, cells=tuple(_name_in_cell(cell, there) for cell in result.cells))


def _name_in_cell(cell: CellResult, there: Collection[str]) -> CellResult:
    executions = tuple(replace(one, samples=_name(one.samples, there)) for one in cell.executions)
    return replace(cell, executions=executions, samples=_name(cell.samples, there) if cell.samples else None)


def _name(samples: Samples, there: Collection[str]) -> Samples:
    name = Path(samples.file).name if samples.file else None
    return replace(samples, file=name if name in there else None)
