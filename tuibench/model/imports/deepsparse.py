"""Converts a file of deepsparse.benchmark -x to a result of one cell, without adding data."""

from __future__ import annotations

import math
import re
from typing import Any, TypeVar

from tuibench.core.cell import Asked, CellResult, Estimate, Pooled
from tuibench.core.reason import because
from tuibench.core.result import RunResult
from tuibench.core.scenario import REGISTRY, find
from tuibench.core.schema import AMOUNT, CORES, LENGTH, MAX_S, SIZE, Range
from tuibench.core.spec import BenchmarkSpec, Effort, InputSettings, Limits, ModelSource
from tuibench.model.imports.checks import InvalidImport, outside

KEY = "benchmark_result"
"""Key of the figures in the file."""
TOOL = "deepsparse.benchmark"

_LABELLED = [one for one in REGISTRY.values() if one.label]
_SCENARIOS = {one.label: one.name for one in _LABELLED} | {one.name: one.name for one in _LABELLED}
_LATENCIES = {"p50": "50.0", "p90": "90.0", "p95": "95.0", "p99": "99.0", "p99_9": "99.9"}
_PERCENTILES = ("25.0", "50.0", "75.0", "90.0", "95.0", "99.0", "99.9")
_LENGTHS = ("sequence_length", "input_ids_length")
_UNKNOWN = "unknown"
T = TypeVar("T")


def read_deepsparse(document: dict[str, Any]) -> RunResult:
    """Return the file's numbers unchanged, without grade and intervals; id and start time stay empty."""
    file = _File(document)
    version = file.text("version")
    tool = f"{TOOL} {version}".rstrip()
    asked = _asked(file)
    pooled = _pooled(file.block(KEY))
    source = ModelSource(file.text("orig_model_path") or file.text("model_path"), file.text("model_path"))
    cell = CellResult(
        key=asked.key, asked=asked, status="ok", latency_ms=_latencies(pooled, tool), pooled=pooled,
        items_per_sec=Estimate(None, n=1, reason=because("drain_counted", tool=tool)),
        items_per_cpu_sec=Estimate(None, n=1, reason=because("cpu_time_untold", tool=tool)), items=asked.batch or 1,
    )  # fmt: skip
    return RunResult(
        id="", status="finished", spec=_spec(file, asked, source), models=(), points=(), cells=(cell,), environment={},
        versions={"deepsparse": version} if version else {}, started_utc="", seconds=pooled.seconds_ran,
        foreign=tool,
    )  # fmt: skip


class _File:
    """Typed access to a JSON object; null and absent are equal, because versions differ in which they write."""

    def __init__(self, block: dict[str, Any], place: str = "") -> None:
        self._block = block
        self._place = place

    def text(self, name: str) -> str:
        value = self._block.get(name)
        if value is not None and not isinstance(value, str):
            raise self._wrong(name, "text")
        return value or ""

    def count(self, name: str, allowed: Range = AMOUNT) -> int | None:
        value = self._block.get(name)
        if value is not None and (isinstance(value, bool) or not isinstance(value, int)):
            raise self._wrong(name, "whole_number")
        return self._within(name, value, allowed)

    def number(self, name: str, allowed: Range = AMOUNT) -> float | None:
        value = self._block.get(name)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise self._wrong(name, "number")
        return self._within(name, float(value), allowed)

    def needed(self, name: str) -> float:
        value = self.number(name)
        if value is None:
            raise InvalidImport("foreign_field_missing", place=f"{self._place}{name}")
        return value

    def block(self, name: str) -> _File:
        value = self._block.get(name)
        if not isinstance(value, dict):
            raise self._wrong(name, "object")
        return _File(value, f"{self._place}{name}.")

    def shapes(self, name: str) -> tuple[tuple[int, ...], ...]:
        value: Any = self._block.get(name) or []
        fits = isinstance(value, list) and all(isinstance(row, list) for row in value)
        if not fits or not all(type(size) is int for row in value for size in row):
            raise self._wrong(name, "shapes")
        return self._within(name, tuple(tuple(row) for row in value), SIZE)

    def _within(self, name: str, value: T, allowed: Range) -> T:
        """Return `value`; raise InvalidImport if any of its numbers is outside the range."""
        problem = next(outside(value, allowed, f"{self._place}{name}"), None)
        if problem is not None:
            raise InvalidImport("foreign_number_out_of_range", **problem.fields)
        return value

    def _wrong(self, name: str, wanted: str) -> InvalidImport:
        return InvalidImport("foreign_value_of_other_type", place=f"{self._place}{name}", expected=wanted)


def _asked(file: _File) -> Asked:
    written = file.text("scenario") or file.block(KEY).text("scenario")
    scenario = _SCENARIOS.get(written)
    if scenario is None:
        raise InvalidImport("foreign_scenario_unknown", place="scenario", names=[one.label for one in _LABELLED])
    batch = file.count("batch_size", (-math.inf, LENGTH[1]))
    streams = _required_count(file, "num_streams") if find(scenario).has_streams else 1
    lengths = {name: length for name in _LENGTHS for length in [file.count(name, SIZE)] if length is not None}
    return Asked(
        engine=_engine(file.text("engine")), model_sha256="", version="original", scenario=scenario,
        cores=_required_count(file, "num_cores"),
        # A batch below one means the model's own.
        batch=batch if batch is not None and batch > 0 else None,
        dims=lengths, streams=streams, pin=_UNKNOWN, precision=_UNKNOWN, options={},
    )  # fmt: skip


def _required_count(file: _File, name: str) -> int:
    """Return a count from its key, or from its line in the description of the engine."""
    value = file.count(name, CORES)
    if value is None:
        line = re.search(rf"^\s*{name}: ([0-9]{{1,6}})\s*$", file.text("engine"), re.MULTILINE)
        value = int(line[1]) if line else None
    if value is None or value < 1:
        raise InvalidImport("foreign_field_missing", place=name)
    return value


def _engine(description: str) -> str:
    """Return an engine's name from its description, whose first line is a class name."""
    first = description.strip().splitlines()[0].strip().rstrip(":") if description.strip() else ""
    last = first.rpartition(".")[2]
    if last.lower().startswith(("ort", "onnxruntime")):
        return "onnxruntime"
    return "deepsparse" if last == "Engine" or first.startswith("deepsparse") else last or _UNKNOWN


def _pooled(figures: _File) -> Pooled:
    iterations = figures.count("iterations")
    if iterations is None or iterations < 1:
        raise InvalidImport("foreign_field_missing", place=f"{KEY}.iterations")
    return Pooled(
        items_per_sec=figures.needed("items_per_sec"), seconds_ran=figures.needed("seconds_ran"),
        iterations=iterations, median=figures.needed("median"), mean=figures.needed("mean"), std=figures.needed("std"),
        percentiles={name: figures.number(f"{name}%") for name in _PERCENTILES},
    )  # fmt: skip


def _latencies(pooled: Pooled, tool: str) -> dict[str, Estimate]:
    values = {name: pooled.percentiles[label] for name, label in _LATENCIES.items()}
    values["p50"] = pooled.median
    values |= {"mean": pooled.mean, "std": pooled.std, "floor": None}
    bare, absent = because("no_executions_kept", tool=tool), because("untold", tool=tool)
    return {name: Estimate(value, n=1, reason=absent if value is None else bare) for name, value in values.items()}


def _spec(file: _File, asked: Asked, source: ModelSource) -> BenchmarkSpec:
    seconds = file.number("seconds_to_run", (0, MAX_S)) or 0.0
    return BenchmarkSpec(
        models=(source,), engines=(asked.engine,), scenarios=(asked.scenario,), cores=(asked.cores,),
        batches=() if asked.batch is None else (asked.batch,),
        dims=tuple((name, (length,)) for name, length in asked.dims.items()), sequence_lengths=(),
        streams=asked.streams, stream_kind=None, pin=asked.pin, precision=asked.precision, io=None,
        effort=Effort(TOOL, 1, 1, seconds, 0.0, None, seconds), limits=Limits(), check=False,
        inputs=InputSettings(shapes=file.shapes("input_shapes")),
    )  # fmt: skip
