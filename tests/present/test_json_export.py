from __future__ import annotations

import dataclasses
import json
import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

import tuibench
from tests.present import build
from tuibench.core import cell as cells
from tuibench.core import model, spec
from tuibench.core.reason import Failure, error_text
from tuibench.core.record import from_plain
from tuibench.core.result import RunResult
from tuibench.present.json_export import SCHEMA_FILE, document, dumps

SCHEMA = json.loads((Path(tuibench.__file__).parent / "data" / SCHEMA_FILE).read_text("utf-8"))
VALIDATOR = Draft202012Validator(SCHEMA)
RUNS = {
    "default": build.default_run(), "sweep": build.sweep_run(), "hostile": build.hostile_run(),
    "lone": build.run(build.lone_cell()), "failed": build.run(build.failed_cell()), "empty": build.run(models=()),
    "skipped": build.run(build.skipped_cell(batch=None), build.unchecked_cell()),
}  # fmt: skip
THEIRS = [
    "engine", "version", "orig_model_path", "model_path", "batch_size", "input_shapes", "num_cores", "scenario",
    "scheduler", "seconds_to_run", "num_streams", "fraction_of_supported_ops", "benchmark_result",
]  # fmt: skip
THEIR_RESULT = [
    "scenario", "items_per_sec", "seconds_ran", "iterations", "median", "mean", "std", "25.0%", "50.0%", "75.0%",
    "90.0%", "95.0%", "99.0%", "99.9%",
]  # fmt: skip


def export(result: RunResult) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads(dumps(result))
    return loaded


def problems(loaded: Any) -> list[str]:
    return [f"{list(e.absolute_path)}: {e.message[:200]}" for e in VALIDATOR.iter_errors(loaded)]


def test_schema_is_a_valid_json_schema() -> None:
    Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize("name", RUNS)
def test_every_export_is_valid(name: str) -> None:
    assert problems(export(RUNS[name])) == []


@pytest.mark.parametrize(
    "path", [(), ("benchmark_result",), ("tuibench",), ("tuibench", "cells", 0), ("tuibench", "cells", 0, "latency_ms"),
             ("tuibench", "cells", 0, "used"), ("tuibench", "cells", 0, "executions", 0), ("tuibench", "models", 0),
             ("tuibench", "cells", 0, "latency_ms", "p50"), ("tuibench", "points", 0), ("tuibench", "spec")]
)  # fmt: skip
def test_schema_requires_every_key(path: tuple[str | int, ...]) -> None:
    names = list(_at(export(build.default_run()), path))
    assert names
    for name in names:
        broken = export(build.default_run())
        del _at(broken, path)[name]
        assert problems(broken), f"{name} is not required"


@pytest.mark.parametrize(
    "kind", [cells.CellResult, cells.Execution, cells.Used, cells.Asked, Failure, cells.Noise, cells.Grade,
             cells.Check, model.ModelSummary, model.Point, model.Port, spec.BenchmarkSpec, spec.Effort]
)  # fmt: skip
def test_schema_declares_every_field_of_the_vocabulary(kind: Any) -> None:
    entry = SCHEMA["$defs"][kind.__name__]
    names = {field.name for field in dataclasses.fields(kind)}
    written = {field.name for field in dataclasses.fields(kind) if not field.metadata.get("sparse")}
    assert (names, written) == (set(entry["properties"]), set(entry["required"]))


def test_top_level_equals_a_deepsparse_benchmark_file() -> None:
    loaded = export(build.default_run())
    assert list(loaded) == [*THEIRS, "tuibench"]
    result = loaded["benchmark_result"]
    assert list(result) == THEIR_RESULT
    types = {name: type(loaded[name]) for name in THEIRS}
    text = ("engine", "version", "orig_model_path", "model_path", "scenario", "scheduler")
    whole = ("batch_size", "num_cores", "seconds_to_run", "num_streams")
    rest = {"input_shapes": type(None), "fraction_of_supported_ops": float, "benchmark_result": dict}
    assert types == dict.fromkeys(text, str) | dict.fromkeys(whole, int) | rest
    assert "\n" in loaded["engine"] and loaded["fraction_of_supported_ops"] == 1.0
    assert (loaded["scenario"], loaded["scheduler"]) == ("multistream", "Scheduler.multi_stream")
    assert (loaded["batch_size"], loaded["num_cores"], loaded["num_streams"]) == (1, 2, 2)
    assert (result["scenario"], result["iterations"], result["items_per_sec"]) == ("multistream", 2500, 511.98765)
    assert all(isinstance(result[name], float) for name in THEIR_RESULT if name not in ("scenario", "iterations"))


def test_several_cells_repeat_the_first_at_the_top() -> None:
    loaded = export(build.sweep_run())
    assert len(loaded["tuibench"]["cells"]) == 10
    assert loaded["tuibench"]["first"] == loaded["tuibench"]["cells"][0]["key"]
    assert loaded["scenario"] == "singlestream"


def test_requested_shapes_are_lists() -> None:
    shaped = build.run(build.ok_cell(), spec=build.spec(inputs=spec.InputSettings(shapes=((1, 3), ()))))
    assert export(shaped)["input_shapes"] == [[1, 3], []]


def test_seconds_to_run_is_the_requested_time() -> None:
    fixed = dataclasses.replace(spec.EFFORTS["default"], max_executions=3, timed_s=10 / 3, target=None)
    assert export(build.run(build.ok_cell(), spec=build.spec(effort=fixed)))["seconds_to_run"] == 10
    half = dataclasses.replace(fixed, max_executions=1, timed_s=0.5)
    assert export(build.run(build.ok_cell(), spec=build.spec(effort=half)))["seconds_to_run"] == 0.5
    assert export(build.run(build.ok_cell()))["seconds_to_run"] == 3  # three executions of a second


def test_unavailable_value_is_null_with_a_reason() -> None:
    loaded = export(build.run(build.lone_cell()))
    assert loaded["benchmark_result"]["99.9%"] is None
    assert loaded["tuibench"]["reasons"] == {
        "benchmark_result.99.9%": "500 iterations are too few for it",
        "tuibench.cells[0].pooled.percentiles.99.9": "500 iterations are too few for it",
        "tuibench.points[0].bundle": "the inputs were deleted with the run; its seed makes them again",
    }
    p50 = loaded["tuibench"]["cells"][0]["latency_ms"]["p50"]
    assert (p50["value"], p50["low"], p50["reason"]) == (2.0, None, "no interval: 1 of at least 3 executions")
    failed = export(build.run(build.failed_cell()))
    assert failed["benchmark_result"]["items_per_sec"] is None
    assert "benchmark_result" in failed["tuibench"]["reasons"]
    assert failed["tuibench"]["cells"][0]["latency_ms"]["p50"]["reason"] == "the worker died"


def test_number_unsupported_by_json_is_null_and_reported() -> None:
    strange = build.ok_cell(pooled=build.pooled(std=math.nan), load_ms=math.inf)
    loaded = export(build.run(strange, points=()))
    assert loaded["benchmark_result"]["std"] is None
    assert loaded["tuibench"]["reasons"] == {
        "benchmark_result.std": "not finite: nan",
        "tuibench.cells[0].load_ms": "not finite: inf",
        "tuibench.cells[0].pooled.std": "not finite: nan",
    }
    assert problems(loaded) == []


def test_text_is_ascii_and_number_arrays_take_one_line() -> None:
    text = dumps(build.hostile_run())
    assert text.isascii()
    series = build.execution(series=tuple((float(i), 2.0, 3.0) for i in range(512)))
    assert len(dumps(build.run(build.ok_cell(executions=(series,)))).splitlines()) < 500


def test_cell_reads_back_equal() -> None:
    result = build.sweep_run()
    read = [from_plain(cells.CellResult, plain) for plain in export(result)["tuibench"]["cells"]]
    assert read[:3] == list(result.cells[:3])
    assert [cell.failure for cell in read] == [cell.failure for cell in result.cells]


# Python decodes bytes that are not UTF-8 to these surrogates; high surrogates never occur.
FOREIGN_BYTES = st.characters(min_codepoint=0xDC80, max_codepoint=0xDCFF, categories=["Cs"])
ANY_TEXT = st.text(st.characters() | FOREIGN_BYTES, max_size=20)


@settings(deadline=None, max_examples=60)
@given(ANY_TEXT, ANY_TEXT)
def test_any_text_reads_back_equal(name: str, message: str) -> None:
    failure = Failure("exception", "load", error_text(message))
    result = build.run(build.failed_cell({"dims": {name: 1}}, failure=failure), environment={"host": name})
    loaded = export(result)
    assert loaded["tuibench"]["cells"][0]["asked"]["dims"] == {name: 1}
    assert loaded["tuibench"]["cells"][0]["failure"]["message"] == message
    assert loaded["tuibench"]["environment"] == {"host": name}
    assert loaded == document(result)


def _at(loaded: Any, path: tuple[str | int, ...]) -> Any:
    for step in path:
        loaded = loaded[step]
    return loaded
