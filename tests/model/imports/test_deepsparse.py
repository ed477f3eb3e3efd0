from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from tests.model.imports.test_schema import SCHEMA_PATH
from tests.present.build import HOSTILE
from tuibench.core.errors import UsageError
from tuibench.core.reason import because
from tuibench.core.result import RunResult
from tuibench.core.text import show
from tuibench.model.imports.deepsparse import TOOL
from tuibench.model.imports.task import read_result
from tuibench.present.headline import result_headline
from tuibench.present.json_export import document
from tuibench.present.summary import summary

FILES = Path(__file__).resolve().parents[2] / "fixtures" / "import"
NEW, OLD, ORT = (FILES / f"deepsparse-{name}.json" for name in ("1.8.0", "0.10.0", "1.8.0-onnxruntime"))


def changed(tmp_path: Path, **changes: Any) -> str:
    plain = json.loads(NEW.read_text())
    figures = changes.pop("figures", {})
    plain.update(changes)
    if isinstance(plain["benchmark_result"], dict):
        plain["benchmark_result"].update(figures)
    (tmp_path / "x.json").write_text(json.dumps(plain))
    return str(tmp_path / "x.json")


def refused(path: str) -> str:
    with pytest.raises(UsageError) as caught:
        read_result(path)
    assert "0.10" in caught.value.hint and "1.8" in caught.value.hint
    return caught.value.message.partition(": ")[2]


def test_file_of_1_8_becomes_one_ungraded_cell_with_its_numbers() -> None:
    result = read_result(str(NEW))
    (cell,) = result.cells
    assert (result.foreign, result.id, result.status) == (f"{TOOL} 1.8.0", "", "finished")
    assert result.versions == {"deepsparse": "1.8.0"}
    asked = cell.asked
    assert (asked.engine, asked.scenario, asked.cores, asked.batch, asked.streams) == ("deepsparse", "sync", 16, 1, 1)
    assert (asked.precision, asked.pin, asked.model_sha256) == ("unknown", "unknown", "")
    assert cell.pooled is not None
    assert (cell.pooled.items_per_sec, cell.pooled.iterations, cell.pooled.std) == (246.8125, 2468, 0.125)
    assert cell.pooled.percentiles["99.9"] == 5.75
    p50 = cell.latency_ms["p50"]
    assert (p50.value, p50.low, p50.high) == (4.03125, None, None)
    assert p50.reason == because("no_executions_kept", tool=f"{TOOL} 1.8.0")
    assert (cell.grade, cell.check, cell.used, cell.executions, cell.samples) == (None, None, None, (), None)
    assert result.spec.models[0].asked.startswith("zoo:bert-base")
    assert result.spec.inputs.shapes == ((1, 128),) * 3
    assert (
        result_headline(result)
        == "4.03 ms (sync, 16 cores, batch 1) · deepsparse.benchmark 1.8.0, no grade, no interval"
    )


def test_missing_values_are_not_invented() -> None:
    result = read_result(str(NEW))
    cell = result.cells[0]
    assert (result.started_utc, result.environment, result.models, result.host) == ("", {}, (), "")
    for name in ("floor",):
        assert (cell.latency_ms[name].value, cell.latency_ms[name].reason) == (
            None, because("untold", tool="deepsparse.benchmark 1.8.0"),
        )  # fmt: skip
    assert cell.items_per_sec.value is None and "drain" in str(cell.items_per_sec.reason)
    assert cell.items_per_cpu_sec.value is None and cell.load_ms is None and cell.memory_bytes == {}


def test_file_of_0_10_has_fewer_keys() -> None:
    result = read_result(str(OLD))
    asked = result.cells[0].asked
    assert result.foreign == f"{TOOL} 0.10.0"
    assert (asked.scenario, asked.cores, asked.batch, asked.streams) == ("async", 24, 64, 12)
    assert result.cells[0].items == 64
    assert result.spec.models[0].asked == "/home/jo/.cache/sparsezoo/1f9d/model.onnx"
    assert result_headline(result).startswith("1821 items/s (async, 24 cores, batch 64, 12 streams) · ")


def test_other_engine_has_fewer_values_and_missing_ones_stay_missing() -> None:
    result = read_result(str(ORT))
    cell = result.cells[0]
    assert (cell.asked.engine, cell.asked.scenario, cell.asked.streams) == ("onnxruntime", "elastic", 2)
    # Taken from the engine's description, because the key is null.
    assert cell.asked.cores == 4
    assert cell.asked.dims == {"sequence_length": 512, "input_ids_length": 1}
    assert cell.latency_ms["p99"].value is None and cell.pooled is not None
    assert cell.pooled.percentiles["99.0"] is None


@pytest.mark.parametrize("path", [NEW, OLD, ORT], ids=lambda path: path.name)
def test_imported_file_can_be_exported_and_imported_again(path: Path, tmp_path: Path) -> None:
    from dataclasses import replace

    result = replace(read_result(str(path)), id="01J0000000000000000000K3F9")
    exported = document(result)
    assert not list(Draft202012Validator(json.loads(SCHEMA_PATH.read_text("utf-8"))).iter_errors(exported))
    (tmp_path / "again.json").write_text(json.dumps(exported))
    again = read_result(str(tmp_path / "again.json"))
    assert document(again) == exported


@pytest.mark.parametrize(
    ("changes", "what"),
    [
        ({"scenario": "server"}, "scenario is none of singlestream, multistream, elastic"),
        ({"scenario": 3}, "scenario is not a text"),
        ({"num_cores": "16"}, "num_cores is not a whole number"),
        ({"num_cores": 0}, "num_cores is 0; allowed is 1 to 65536"),
        ({"num_cores": 10**18}, "num_cores is 1000000000000000000; allowed is 1 to 65536"),
        ({"num_streams": -5, "scenario": "multistream"}, "num_streams is -5; allowed is 1 to 65536"),
        ({"input_shapes": [[1, -3]]}, "input_shapes[0][1] is -3; allowed is 0 to 2147483647"),
        ({"seconds_to_run": 1e9}, "seconds_to_run is 1000000000.0; allowed is 0 to 10000000"),
        ({"num_cores": None, "engine": "Mine:\n"}, "num_cores is missing"),
        ({"batch_size": 1.5}, "batch_size is not a whole number"),
        ({"batch_size": True}, "batch_size is not a whole number"),
        ({"input_shapes": [[1, "x"]]}, "input_shapes is not a list of shapes"),
        ({"input_shapes": {"x": 1}}, "input_shapes is not a list of shapes"),
        ({"benchmark_result": []}, "benchmark_result is not an object"),
        ({"figures": {"median": None}}, "benchmark_result.median is missing"),
        ({"figures": {"mean": "4"}}, "benchmark_result.mean is not a number"),
        ({"figures": {"std": -1}}, "benchmark_result.std is -1.0; allowed is at least 0"),
        ({"figures": {"iterations": 0}}, "benchmark_result.iterations is missing"),
        ({"figures": {"99.0%": []}}, "benchmark_result.99.0% is not a number"),
    ],
)
def test_invalid_value_is_refused_with_its_key(tmp_path: Path, changes: dict[str, Any], what: str) -> None:
    assert refused(changed(tmp_path, **changes)) == what


def test_batch_below_one_is_the_models_own(tmp_path: Path) -> None:
    cell = read_result(changed(tmp_path, batch_size=-1)).cells[0]
    assert (cell.asked.batch, cell.items) == (None, 1)


@pytest.mark.parametrize(
    ("description", "engine"),
    [("", "unknown"), ("deepsparse.engine.Engine:\n\tx: 1", "deepsparse"), ("ORTEngine:\n", "onnxruntime"),
     ("my.module.TorchScriptEngine:\n", "TorchScriptEngine"), ("\n\n  ", "unknown")],
)  # fmt: skip
def test_engine_is_the_class_of_its_description(tmp_path: Path, description: str, engine: str) -> None:
    assert read_result(changed(tmp_path, engine=description)).cells[0].asked.engine == engine


def test_hostile_names_are_stored_raw_and_shown_safe(tmp_path: Path) -> None:
    path = changed(tmp_path, engine=HOSTILE, version=HOSTILE, orig_model_path=HOSTILE, model_path="/dev/zero")
    result: RunResult = read_result(path)
    assert result.spec.models[0].asked == HOSTILE
    assert result.foreign == f"{TOOL} {HOSTILE}"
    for line in summary(result).splitlines():
        assert show(line, 100_000) == line
