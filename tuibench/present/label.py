"""Cell names: short, but unique among the cells of a run, and safe to print."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tuibench.core.cell import CellResult, Estimate
from tuibench.core.label import CellName, model_names
from tuibench.core.model import ModelSummary, Point
from tuibench.core.reason import failure_words
from tuibench.core.result import RunResult
from tuibench.core.spec import ModelSource
from tuibench.core.text import show
from tuibench.core.units import count_of, percent
from tuibench.present.reason import reason_words

AXES = ("model", "engine", "scenario", "cores", "batch", "dims", "streams", "precision")
"""Columns of tables from left to right; only varying ones are printed."""


def first_cell(run: RunResult) -> CellResult | None:
    """Return the cell whose numbers represent the run: of the first requested scenario, measured if possible."""
    for scenario in run.spec.scenarios:
        cells = [cell for cell in run.cells if cell.asked.scenario == scenario and cell.pooled is not None]
        if cells:
            return cells[0]
    return run.cells[0] if run.cells else None


def model_index(run: RunResult, cell: CellResult) -> int:
    """Return the index of the cell's model; the first of several with the same content."""
    return next((i for i, model in enumerate(run.models) if model.sha256 == cell.asked.model_sha256), 0)


def model_of(run: RunResult, cell: CellResult) -> tuple[ModelSource | None, ModelSummary | None]:
    """Return the model as the user named it and as inspected; None for parts that an interrupted run lacks."""
    index = model_index(run, cell)
    source = run.spec.models[index] if index < len(run.spec.models) else None
    return source, run.models[index] if index < len(run.models) else None


def point_of(run: RunResult, cell: CellResult) -> Point | None:
    """Return the inputs of the cell."""
    index = model_index(run, cell)
    for point in run.points:
        same_dims = all(point.dims.get(name) == size for name, size in cell.asked.dims.items())
        if point.model == index and same_dims and cell.asked.batch in (None, point.batch):
            return point
    return None


def axis_value(run: RunResult, cell: CellResult, axis: str) -> str:
    """Return one coordinate of a cell as text."""
    asked = cell.asked
    if axis == "model":
        names = model_names(run.spec.models)
        index = model_index(run, cell)
        return names[index] if index < len(names) else "-"
    if axis == "batch":
        return _batch(run, cell)
    if axis == "dims":
        shown = {name: size for name, size in asked.dims.items() if _varies(run, name)} or asked.dims
        return " ".join(f"{show(name, 40)}={size}" for name, size in shown.items()) or "-"
    return show(getattr(asked, axis), 40)


def _batch(run: RunResult, cell: CellResult) -> str:
    """Return the batch; if it was left open, that of the inputs, so that failed cells are labelled like the others."""
    batch = cell.asked.batch
    if batch is None and cell.used is not None:
        batch = cell.used.batch
    if batch is None and (point := point_of(run, cell)) is not None:
        batch = point.batch
    return "-" if batch is None else str(batch)


def varying(run: RunResult) -> list[str]:
    """Return the axes in which the cells of a run differ; streams only if scenario and cores do not vary."""
    axes = [axis for axis in AXES if len({axis_value(run, cell, axis) for cell in run.cells}) > 1]
    implied = {"scenario", "cores"} & set(axes)
    return [axis for axis in axes if axis != "streams" or not implied]


def describe(run: RunResult, cell: CellResult, axes: Sequence[str] | None = None) -> str:
    """Return the name of a cell; pass `axes` to avoid computing them for each cell."""
    return cell_name(run, cell, axes).words()


def cell_name(run: RunResult, cell: CellResult, axes: Sequence[str] | None = None) -> CellName:
    """Return the facts of a cell's name; pass `axes` to avoid computing them for each cell."""
    axes = varying(run) if axes is None else axes
    batch = axis_value(run, cell, "batch")
    asked = replace(cell.asked, batch=int(batch) if batch != "-" else None)
    streams = cell.used.streams if cell.used else None
    return CellName(asked, tuple(axes), axis_value(run, cell, "model"), streams)


def plus_minus(estimate: Estimate) -> str:
    """Return the interval as ±; '' without one."""
    half = estimate.half_width
    return "" if half is None else f"±{percent(half)}"


def failure_text(cell: CellResult) -> str:
    """Return the reason why a cell is not `ok`, in one line; '' if it is."""
    if cell.status == "ok":
        return ""
    if cell.failure is None:
        return f"{cell.status}: {reason_words(cell.stopped_by, 200) or 'not reached'}"
    words = failure_words(cell.failure)
    return (
        f"partial after {count_of(len(cell.executions), 'execution')}: {words}" if cell.status == "partial" else words
    )


def _varies(run: RunResult, dim: str) -> bool:
    """Return whether the cells differ in a dim, so that a row must name it."""
    return len({cell.asked.dims.get(dim) for cell in run.cells}) > 1


TAILS = {"p90": "p90", "p95": "p95", "p99": "p99", "p99.9": "p99_9"}
"""Display names of percentiles, and their names in a result."""


def reason_of(estimate: Estimate) -> str:
    """Return the reason for a missing interval or value; '' if nothing is missing."""
    if estimate.value is not None and estimate.low is not None and estimate.high is not None:
        return ""
    return reason_words(estimate.reason, 200) or "too few executions"


def missing_numbers(cell: CellResult) -> dict[str, list[str]]:
    """Return the names of the numbers by reason, in the order in which they are shown."""
    numbers = {"p50": "p50"} | TAILS
    found = [(name, cell.latency_ms[key]) for name, key in numbers.items() if key in cell.latency_ms]
    found += [("items/s", cell.items_per_sec)] if cell.pooled else []
    reasons: dict[str, list[str]] = {}
    for name, estimate in found:
        if reason := reason_of(estimate):
            reasons.setdefault(reason, []).append(name)
    return reasons


def missing_words(cell: CellResult) -> str:
    """Return all missing numbers of a cell in one line; '' if every number has its interval."""
    return "; ".join(f"{', '.join(names)}: {reason}" for reason, names in missing_numbers(cell).items())


def no_interval_notes(run: RunResult, shown: Sequence[str] = ("p50", "items/s")) -> list[str]:
    """Return a line for each reason why numbers shown in a table have no ±."""
    counts: dict[str, int] = {}
    for cell in run.cells:
        for reason, names in missing_numbers(cell).items() if cell.pooled else ():
            counts[reason] = counts.get(reason, 0) + bool(set(names) & set(shown))
    total = count_of(len(run.cells), "cell")
    return [f"No interval: {reason} ({count} of {total})" for reason, count in counts.items() if count]
