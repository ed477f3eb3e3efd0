"""What a schema cannot say: ids that are ids, intervals around their values, figures that something can be made of."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any

from tuibench.core.cell import CellResult, Estimate, Execution
from tuibench.core.run import RunResult
from tuibench.core.text import show

ULID = re.compile(r"[0-7][0-9A-HJKMNP-TV-Z]{25}\Z")
_MOST_BINS = 256
_WIDEST_BIN = 2.0
_ROUNDING = 1e-9
_EXECUTION = (
    *("timed_s", "seconds_ran", "p50_ns", "mean_ns", "std_ns", "floor_ns"),
    *("effective_n", "calls_per_s", "cpu_s"),
)


def find_nonsense(result: RunResult) -> str:
    """The first thing in a well-formed result that cannot be true; '' where nothing is."""
    return next(_problems(result), "")


def _problems(result: RunResult) -> Iterator[str]:
    if not ULID.match(result.id):
        yield f"tuibench.id is '{show(result.id, 60)}', which is no ULID"
    seen: set[str] = set()
    for i, cell in enumerate(result.cells):
        place = f"tuibench.cells[{i}]"
        if cell.key in seen:
            yield f"{place}.key is that of a cell before it"
        seen.add(cell.key)
        yield from _cell_problems(cell, place)
    for i, point in enumerate(result.points):
        if point.model < 0:
            yield f"tuibench.points[{i}].model is {point.model}"


def _cell_problems(cell: CellResult, place: str) -> Iterator[str]:
    estimates = {f"latency_ms.{show(name, 60)}": estimate for name, estimate in cell.latency_ms.items()}
    estimates |= {"items_per_sec": cell.items_per_sec, "items_per_cpu_sec": cell.items_per_cpu_sec}
    for name, estimate in estimates.items():
        yield from _estimate_problems(estimate, f"{place}.{name}")
    pooled = cell.pooled
    if pooled is not None:
        names = ("items_per_sec", "seconds_ran", "iterations", "median", "mean", "std")
        figures = {name: getattr(pooled, name) for name in names} | pooled.percentiles
        yield from _negative(figures, f"{place}.pooled")
    for name, count in (("cores", cell.asked.cores), ("batch", cell.asked.batch)):
        if count is not None and count < 1:
            yield f"{place}.asked.{name} is {count}"
    if cell.items < 1 or cell.sittings < 1:
        yield f"{place} has {cell.items} items per call from {cell.sittings} sittings"
    for n, execution in enumerate(cell.executions):
        yield from _execution_problems(execution, f"{place}.executions[{n}]")


def _estimate_problems(estimate: Estimate, place: str) -> Iterator[str]:
    bounds = (estimate.low, estimate.value, estimate.high)
    yield from _negative(dict(zip(("low", "value", "high"), bounds, strict=True)), place)
    known = [bound for bound in bounds if bound is not None and math.isfinite(bound)]
    if any(low > high * (1 + _ROUNDING) for low, high in pairwise(known)):
        yield f"{place}: its interval does not hold its value"


def _execution_problems(execution: Execution, place: str) -> Iterator[str]:
    yield from _negative({name: getattr(execution, name) for name in _EXECUTION} | execution.percentiles_ns, place)
    if execution.iterations < 1:
        yield f"{place}.iterations is {execution.iterations}"
    histogram = execution.histogram
    # Percentiles are taken from it by powers of the ratio.
    if len(histogram["counts"]) > _MOST_BINS or not 0 < histogram["ratio"] <= _WIDEST_BIN:
        yield f"{place}.histogram has bins that no execution has"


def _negative(figures: Mapping[str, Any], place: str) -> Iterator[str]:
    for name, value in figures.items():
        if value is not None and value < 0:
            yield f"{place}.{show(name, 60)} is below zero"
