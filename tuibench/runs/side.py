"""One cell as an operand of a comparison: its metric, its times per execution, and reasons against a verdict."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from tuibench.core.cell import Asked, CellResult, Execution
from tuibench.core.scenario import LATENCY, find
from tuibench.stats.comparison import Side


def metric_of(cell: CellResult) -> str:
    """Return the metric of a cell: latency for one request at a time, throughput for streams."""
    return find(cell.asked.scenario).metric


def side_of(cell: CellResult, executions: Sequence[tuple[int, Execution]], name: str) -> Side:
    """Return the operand for `compare`, from executions with their rounds."""
    logs = [(number, _log_time(cell, execution)) for number, execution in executions]
    return Side(cell.key, name, [(number, value) for number, value in logs if value is not None])


def without_axis(asked: Asked, axis: str) -> str:
    """Return the identity of a request without one axis: equal for cells that differ only in that axis."""
    if axis == "engine":
        return replace(asked, engine="").key
    return replace(asked, model_sha256="", version="").key


def bars_between(base: CellResult, new: CellResult, axis: str) -> list[str]:
    """Return reasons against a verdict because of unequal work; `axis` is the requested difference."""
    bars = []
    if axis == "model":
        bars.append("the models differ, and their outputs were not held against each other")
    for cell in (base, new):
        check, engine = cell.check, cell.asked.engine
        if check is None or check.state == "unchecked":
            bars.append(f"outputs of {engine} were not checked")
        elif check.state == "differs":
            bars.append(f"outputs of {engine} differ from the reference")
    if base.used is not None and new.used is not None:
        for field, noun in (
            ("precision", "precision"),
            ("io", "I/O class"),
            ("batch", "batch"),
            ("streams", "streams"),
        ):
            sides = (getattr(base.used, field), getattr(new.used, field))
            if None not in sides and sides[0] != sides[1]:
                bars.append(f"{noun}: {sides[0]} against {sides[1]}")
    return list(dict.fromkeys(bars))


def _log_time(cell: CellResult, execution: Execution) -> float | None:
    """Return ln of the time by the cell's metric; None if the execution has none."""
    if metric_of(cell) == LATENCY:
        return math.log(execution.p50_ns) if execution.p50_ns > 0 else None
    per_second = execution.calls_per_s * cell.items
    return -math.log(per_second) if per_second > 0 else None
