"""A run as CSV, one row per cell, failed ones included; its text fields are safe to open in a spreadsheet."""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Sequence

from tuibench.core import units
from tuibench.core.cell import CellResult, Estimate, p50_latency
from tuibench.core.result import RunResult
from tuibench.core.text import show
from tuibench.present.cells import batch_size, check_text, failure_text, missing_words, model_of, point_of
from tuibench.present.reason import reason_words

_FORMULA = ("=", "+", "-", "@", "\t", "\r", "＝", "＋", "－", "＠")
_MAX_CHARS = 4096

COLUMNS = (
    "key", "model", "engine", "engine_version", "version", "scenario", "num_cores", "batch_size", "dims", "num_streams",
    "stream_kind", "pin", "precision_asked", "precision_used", "io", "input_shapes", "status", "items_per_sec",
    "mean_ms", "median_ms", "std_ms", "iterations", "seconds_ran", "p50_ms", "p50_low_ms", "p50_high_ms", "p90_ms",
    "p95_ms", "p99_ms", "p99_9_ms", "floor_ms", "steady_items_per_sec", "steady_low", "steady_high",
    "items_per_cpu_sec", "load_ms", "first_ms", "peak_bytes", "executions", "grade", "grade_cause", "check",
    "stopped_by", "failure", "warmups_not_settled", "missing", "sittings", "measured_by", "supported",
)  # fmt: skip
"""The header, in order; scripts read by position, so a new column is the last."""


def dumps(run: RunResult) -> str:
    """Return the table as text: text fields cannot start a formula, numbers stay numbers."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    for cell in run.cells:
        row = {**_identity(run, cell), **_numbers(cell), **_words(cell)}
        row |= {"sittings": str(cell.sittings), "measured_by": safe_text(run.foreign or "tuibench")}
        writer.writerow([row[column] for column in COLUMNS])
    return out.getvalue()


def safe_text(text: object, limit: int = _MAX_CHARS) -> str:
    """Return a text field that no spreadsheet reads as a formula and no terminal as an escape sequence."""
    shown = show(text, limit)
    # Some spreadsheets skip leading blanks before they look for a formula.
    return f"'{shown}" if shown.lstrip().startswith(_FORMULA) or str(text).startswith(_FORMULA) else shown


def _identity(run: RunResult, cell: CellResult) -> dict[str, str]:
    asked, used = cell.asked, cell.used
    source, _ = model_of(run, cell)
    point = point_of(run, cell)
    shapes = " ".join(f"{fed.name}:{'x'.join(str(n) for n in fed.shape)}" for fed in point.inputs) if point else ""
    return {
        "key": safe_text(cell.key),
        "model": safe_text(source.asked if source else ""),
        "engine": safe_text(asked.engine),
        "engine_version": safe_text(used.engine_version if used else run.versions.get(asked.engine, "")),
        "version": safe_text(asked.version),
        "scenario": safe_text(asked.scenario),
        "num_cores": str(asked.cores),
        "batch_size": str(batch_size(run, cell)),
        "dims": safe_text(" ".join(f"{name}={size}" for name, size in asked.dims.items())),
        "num_streams": str(used.streams if used else asked.streams),
        "stream_kind": safe_text((used.stream_kind if used else None) or ""),
        "pin": safe_text(asked.pin),
        "precision_asked": safe_text(asked.precision),
        "precision_used": safe_text((used.precision if used else None) or ""),
        "io": safe_text(used.io if used else ""),
        "input_shapes": safe_text(shapes),
        "status": safe_text(cell.status),
    }


def _numbers(cell: CellResult) -> dict[str, str]:
    pooled, p50, known = cell.pooled, p50_latency(cell), cell.latency_ms
    tails = {f"{name}_ms": known.get(name, Estimate(None)).value for name in ("p90", "p95", "p99", "p99_9", "floor")}
    values: dict[str, float | None] = {
        "items_per_sec": pooled.items_per_sec if pooled else None,
        "mean_ms": pooled.mean if pooled else None,
        "median_ms": pooled.median if pooled else None,
        "std_ms": pooled.std if pooled else None,
        "seconds_ran": pooled.seconds_ran if pooled else None,
        "p50_ms": p50.value,
        "p50_low_ms": p50.low,
        "p50_high_ms": p50.high,
        **tails,
        "steady_items_per_sec": cell.items_per_sec.value,
        "steady_low": cell.items_per_sec.low,
        "steady_high": cell.items_per_sec.high,
        "items_per_cpu_sec": cell.items_per_cpu_sec.value,
        "load_ms": cell.load_ms,
        "first_ms": cell.first_ms,
        "supported": cell.used.supported if cell.used else None,
    }
    counts = {
        "iterations": pooled.iterations if pooled else "",
        "peak_bytes": cell.memory_bytes.get("peak", ""),
        "executions": len(cell.executions),
        "warmups_not_settled": sum(not execution.warmup.settled for execution in cell.executions),
    }
    return {name: number(value) for name, value in values.items()} | {name: str(n) for name, n in counts.items()}


def _words(cell: CellResult) -> dict[str, str]:
    return {
        "grade": safe_text(cell.grade.letter if cell.grade else ""),
        "grade_cause": safe_text(reason_words(cell.grade.cause) if cell.grade else ""),
        "check": safe_text(check_text(cell.check) if cell.pooled else ""),
        "stopped_by": safe_text(reason_words(cell.stopped_by)),
        "failure": safe_text(failure_text(cell)),
        "missing": safe_text(missing_words(cell) if cell.pooled else ""),
    }


def join_names(names: Sequence[str]) -> str:
    """Return all names, however many: programs look names up in this field."""
    return safe_text(" ".join(names), sys.maxsize)


def number(value: float | None) -> str:
    """Return a number for programs; '' for an unknown one."""
    return "" if value is None else units.number(value)


def count(value: int | None) -> str:
    """Return a count for programs; '' for an unknown one."""
    return "" if value is None else str(value)
