from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from tests.model.imports.test_schema import SCHEMA_PATH
from tests.present.build import HOSTILE
from tuibench.core.errors import UsageError
from tuibench.core.reason import Reason, because
from tuibench.core.result import RunResult
from tuibench.core.text import show
from tuibench.model.imports.deepsparse import TOOL
from tuibench.model.imports.task import read_result
from tuibench.present.headline import result_headline
from tuibench.present.json_export import document
from tuibench.present.reason import reason_hint
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


def refusal(path: str) -> Reason:
    with pytest.raises(UsageError) as caught:
        read_result(path)
    hint = reason_hint(caught.value.reason)
    assert "0.10" in hint and "1.8" in hint
    fields = dict(caught.value.reason.fields)
    assert fields.pop("subject") == f"{path}:"
    return Reason(caught.value.reason.code, fields)


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
        (
            {"scenario": "server"},
            because("foreign_scenario_unknown", place="scenario", names=["singlestream", "multistream", "elastic"]),
        ),
        ({"scenario": 3}, because("foreign_value_of_other_type", place="scenario", expected="text")),
        ({"num_cores": "16"}, because("foreign_value_of_other_type", place="num_cores", expected="whole_number")),
        ({"num_cores": 0}, because("foreign_number_out_of_range", place="num_cores", given=0, low=1, high=65536)),
        (
            {"num_cores": 10**18},
            because("foreign_number_out_of_range", place="num_cores", given=1000000000000000000, low=1, high=65536),
        ),
        (
            {"num_streams": -5, "scenario": "multistream"},
            because("foreign_number_out_of_range", place="num_streams", given=-5, low=1, high=65536),
        ),
        (
            {"input_shapes": [[1, -3]]},
            because("foreign_number_out_of_range", place="input_shapes[0][1]", given=-3, low=0, high=2147483647),
        ),
        (
            {"seconds_to_run": 1e9},
            because("foreign_number_out_of_range", place="seconds_to_run", given=1000000000.0, low=0, high=10000000.0),
        ),
        ({"num_cores": None, "engine": "Mine:\n"}, because("foreign_field_missing", place="num_cores")),
        ({"batch_size": 1.5}, because("foreign_value_of_other_type", place="batch_size", expected="whole_number")),
        ({"batch_size": True}, because("foreign_value_of_other_type", place="batch_size", expected="whole_number")),
        ({"input_shapes": [[1, "x"]]}, because("foreign_value_of_other_type", place="input_shapes", expected="shapes")),
        ({"input_shapes": {"x": 1}}, because("foreign_value_of_other_type", place="input_shapes", expected="shapes")),
        ({"benchmark_result": []}, because("foreign_value_of_other_type", place="benchmark_result", expected="object")),
        ({"figures": {"median": None}}, because("foreign_field_missing", place="benchmark_result.median")),
        (
            {"figures": {"mean": "4"}},
            because("foreign_value_of_other_type", place="benchmark_result.mean", expected="number"),
        ),
        (
            {"figures": {"std": -1}},
            because("foreign_number_out_of_range", place="benchmark_result.std", given=-1.0, low=0.0, high=None),
        ),
        ({"figures": {"iterations": 0}}, because("foreign_field_missing", place="benchmark_result.iterations")),
        (
            {"figures": {"99.0%": []}},
            because("foreign_value_of_other_type", place="benchmark_result.99.0%", expected="number"),
        ),
    ],
)
def test_invalid_value_is_refused_with_its_key(tmp_path: Path, changes: dict[str, Any], what: Reason) -> None:
    assert refusal(changed(tmp_path, **changes)) == what


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
