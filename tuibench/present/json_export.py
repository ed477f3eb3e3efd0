"""JSON export of a run: the file of deepsparse.benchmark for one cell, with all further data under `tuibench`."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import Any

from tuibench.core.cell import CellResult, Estimate, Pooled
from tuibench.core.engine import with_version
from tuibench.core.errors import UsageError
from tuibench.core.record import to_plain
from tuibench.core.result import Comparison, RunResult, SideBySide
from tuibench.core.scenario import find
from tuibench.core.settings.command import again
from tuibench.present.cells import batch_size, first_cell, model_index, model_of
from tuibench.present.error.words import message_words
from tuibench.present.headline import conclusions, result_headline
from tuibench.present.profile.shown import shown_profile
from tuibench.present.reason import all_words, export_words
from tuibench.present.verdict import verdict_sentence

SCHEMA_FILE = "benchmark.schema.json"
"""Schema in tuibench/data; every export is valid against it."""

ESTIMATES = ("p50", "p90", "p95", "p99", "p99_9", "mean", "std", "floor")
PERCENTILES = ("25.0", "50.0", "75.0", "90.0", "95.0", "99.0", "99.9")


def document(run: RunResult, beside: SideBySide | None = None) -> dict[str, Any]:
    """Return the whole export as plain values; every number is finite, and missing values have a reason."""
    run = run if run.profile is None else replace(run, profile=shown_profile(run.profile))
    cell = first_cell(run)
    reasons: dict[str, str] = {}
    own = _own(run, cell, reasons) | ({} if beside is None else {"side_by_side": side_values(beside)})
    body = {**_compatible(run, cell, reasons), "tuibench": own}
    plain: dict[str, Any] = finite(body, "", reasons)
    plain["tuibench"]["reasons"] = reasons
    return plain


def dumps(run: RunResult, beside: SideBySide | None = None) -> str:
    """Return the document as ASCII text, which every terminal and codec accepts."""
    return _pretty(document(run, beside), "\n") + "\n"


def seconds_to_run(run: RunResult, cell: CellResult) -> int | float:
    """Return the requested measuring time in seconds: `-t`, or the time of the executions that a target needed."""
    effort = run.spec.effort
    count = effort.max_executions if effort.target is None else len(cell.executions) or effort.min_executions
    total = effort.timed_s * count
    # deepsparse.benchmark writes a whole number; dividing and multiplying must not change the typed value.
    return round(total) if abs(total - round(total)) < 1e-9 * max(total, 1) else total


def _compatible(run: RunResult, cell: CellResult | None, reasons: dict[str, str]) -> dict[str, Any]:
    """Return the top level: names, types and units as in deepsparse.benchmark's file."""
    if cell is None:
        made = run.spec.profile is not None
        reasons["benchmark_result"] = "it is a profile; see tuibench.profile" if made else "the run has no cells"
    source, _ = model_of(run, cell) if cell else (None, None)
    shapes = run.spec.inputs.shapes
    scenario = find(cell.asked.scenario).label if cell else None
    return {
        "engine": _engine_text(run, cell) if cell else None,
        "version": run.versions.get("tuibench", ""),
        "orig_model_path": source.asked if source else None,
        "model_path": source.path if source else None,
        "batch_size": batch_size(run, cell) if cell else None,
        "input_shapes": [list(shape) for shape in shapes] if shapes else None,
        "num_cores": _num_cores(cell) if cell else None,
        "scenario": scenario,
        "scheduler": find(cell.asked.scenario).scheduler if cell else None,
        "seconds_to_run": seconds_to_run(run, cell) if cell else None,
        "num_streams": (cell.used.streams if cell.used else cell.asked.streams) if cell else None,
        "fraction_of_supported_ops": _supported(cell) if cell is not None and cell.pooled is not None else None,
        "benchmark_result": _benchmark_result(cell, scenario, reasons),
    }


def _num_cores(cell: CellResult) -> int:
    return len(cell.used.cpus) if cell.used and cell.used.cpus else cell.asked.cores


def _supported(cell: CellResult) -> float:
    """Return the share of operators that the engine itself ran: all, unless it has another engine inside it."""
    # Imported cells, whose share is not kept, had 1.0 from the start.
    return 1.0 if cell.used is None or cell.used.supported is None else cell.used.supported


def _engine_text(run: RunResult, cell: CellResult) -> str:
    asked, used = cell.asked, cell.used
    source, _ = model_of(run, cell)
    version = used.engine_version if used else run.versions.get(asked.engine, "unknown")
    facts = {
        "onnx_file_path": source.path if source else "",
        "batch_size": batch_size(run, cell),
        "num_cores": _num_cores(cell),
        "num_streams": used.streams if used else asked.streams,
        "scheduler": find(asked.scenario).scheduler,
        "precision": (used.precision if used else None) or "unknown",
    }
    return "\n".join(
        [f"{with_version(asked.engine, version)}:", *(f"\t{name}: {value}" for name, value in facts.items())]
    )


def _benchmark_result(cell: CellResult | None, scenario: str | None, reasons: dict[str, str]) -> dict[str, Any]:
    pooled = cell.pooled if cell else None
    names = ("items_per_sec", "seconds_ran", "iterations", "median", "mean", "std")
    result: dict[str, Any] = {"scenario": scenario}
    result |= {name: getattr(pooled, name) if pooled else None for name in names}
    result |= {f"{name}%": _percentile(pooled, name) for name in PERCENTILES}
    if pooled is None:
        reasons.setdefault("benchmark_result", "the cell has no measured execution; see tuibench.cells[].failure")
        return result
    for name in PERCENTILES:
        if result[f"{name}%"] is None:
            reasons[f"benchmark_result.{name}%"] = _too_few(pooled)
    return result


def _too_few(pooled: Pooled) -> str:
    return f"{pooled.iterations} iterations are too few for it"


def _percentile(pooled: Pooled | None, name: str) -> float | None:
    if pooled is None:
        return None
    value = pooled.percentiles.get(name)
    return pooled.percentiles.get(f"{name}%") if value is None else value


def _own(run: RunResult, first: CellResult | None, reasons: dict[str, str]) -> dict[str, Any]:
    plain: dict[str, Any] = to_plain(run, export_words)
    index = model_index(run, first) if first else 0
    for place, pooled in enumerate(cell.pooled for cell in run.cells):
        for name, value in pooled.percentiles.items() if pooled else ():
            if pooled and value is None:
                reasons[f"tuibench.cells[{place}].pooled.percentiles.{name}"] = _too_few(pooled)
    for place, point in enumerate(run.points):
        if point.failure is not None:
            failure = plain["points"][place]["failure"]
            plain["points"][place]["failure"] = [failure[name] for name in ("kind", "phase", "message")]
        elif point.bundle is None:
            reasons[f"tuibench.points[{place}].bundle"] = (
                "the inputs were deleted with the run; its seed makes them again"
            )
    own = {
        "first": first.key if first else None,
        "headline": result_headline(run),
        "cells": [_cell(cell) for cell in run.cells],
        "model": plain["models"][index] if index < len(run.models) else None,
        "comparisons": list(map(comparison_values, run.comparisons)),
        "conclusions": [found.sentence for found in conclusions(run)],
        "again": _again(run, reasons),
        "reasons": reasons,
    }
    return {name: own[name] if name in own else plain[name] for name in _OWN}


_OWN = (
    *("schema", "id", "status", "first", "headline", "cells", "environment", "versions", "model", "models", "points"),
    *("spec", "comparisons", "conclusions", "warnings", "anchor", "host", "sittings", "waited_s", "shared_host"),
    *("foreign", "started_utc", "seconds", "again", "profile", "reasons"),
)
"""The fields under `tuibench`, in order."""


def _again(run: RunResult, reasons: dict[str, str]) -> str:
    """Return the command that repeats the run; '' for another tool's result or a setting of a newer version."""
    try:
        return "" if run.foreign else again(run.spec)
    except UsageError as error:
        reasons["tuibench.again"] = message_words(error)
        return ""


def side_values(beside: SideBySide) -> dict[str, Any]:
    """Return two results side by side as plain values, with names and sentences in words."""
    plain: dict[str, Any] = to_plain(beside, export_words)
    for said, pair in zip(plain["pairs"], beside.pairs, strict=True):
        del said["cell"]
        said["name"], said["reason"] = pair.name, export_words(pair.reason)
        if pair.comparison is not None:
            said["comparison"] = comparison_values(pair.comparison)
    return plain


def comparison_values(found: Comparison) -> dict[str, Any]:
    """Return a comparison as plain values, its facts in one object with the sentence."""
    verdict = to_plain(found.verdict)
    values = {name: verdict[name] for name in ("metric", "ratio", "low", "high", "n", "margin", "more_pairs", "more_s")}
    return values | {
        "base": found.base,
        "new": found.new,
        "interleaved": found.interleaved,
        "verdict": found.verdict.kind,
        "why_no_verdict": "; ".join(all_words(found.verdict.reasons)) or None,
        "base_name": found.verdict.base,
        "new_name": found.verdict.new,
        "sentence": verdict_sentence(found.verdict),
        "drift": to_plain(found.verdict.drift, export_words) if found.verdict.drift is not None else None,
    }


def _cell(cell: CellResult) -> dict[str, Any]:
    plain: dict[str, Any] = to_plain(cell, export_words)
    why = export_words(cell.failure.message) if cell.failure else plain["stopped_by"] or "not measured"
    missing = to_plain(Estimate(None)) | {"reason": why}
    plain["latency_ms"] = dict.fromkeys(ESTIMATES, missing) | plain["latency_ms"]
    for name in ("items_per_sec", "items_per_cpu_sec"):
        if plain[name]["value"] is None and plain[name]["reason"] is None:
            plain[name]["reason"] = why
    return plain


def _pretty(value: Any, line: str) -> str:
    """Return indented objects, but arrays of numbers on one line, because a run has thousands of them."""
    deeper = line + "  "
    if isinstance(value, dict) and value:
        parts = [f"{deeper}{_encode(name)}: {_pretty(part, deeper)}" for name, part in value.items()]
        return "{" + ",".join(parts) + line + "}"
    if isinstance(value, list) and any(isinstance(part, dict) for part in value):
        return "[" + ",".join(deeper + _pretty(part, deeper) for part in value) + line + "]"
    return _encode(value)


_encode = json.JSONEncoder(allow_nan=False).encode


def finite(value: Any, path: str, reasons: dict[str, str]) -> Any:
    """Replace values that JSON cannot represent with null, and record their path and value in `reasons`."""
    if isinstance(value, dict):
        return {name: finite(part, f"{path}.{name}" if path else name, reasons) for name, part in value.items()}
    if isinstance(value, list):
        if all(type(part) is float and math.isfinite(part) for part in value):
            return value
        return [finite(part, f"{path}[{i}]", reasons) for i, part in enumerate(value)]
    if isinstance(value, float) and not math.isfinite(value):
        reasons[path] = f"not finite: {value}"
        return None
    return value
