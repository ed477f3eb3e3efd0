from __future__ import annotations

import copy
import json
import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from tests.core.settings.test_repeat import models, requests, spec_of
from tests.present import build
from tests.present.test_listing import row
from tests.refusal import refused, require_shown
from tuibench.cli.arguments import parse
from tuibench.core.cell import CellResult, Samples
from tuibench.core.errors import UsageError
from tuibench.core.model import FedInput
from tuibench.core.reason import Failure, Reason, because, error_text, legacy_text
from tuibench.core.result import RunResult, RunSession
from tuibench.core.settings import benchmark as benchmark_setting
from tuibench.core.settings.command import command_words
from tuibench.core.settings.request import BenchmarkRequest
from tuibench.core.stored import Metadata, StoredBenchmark
from tuibench.model.imports.task import LARGEST, read_result
from tuibench.present.json_export import dumps
from tuibench.present.reason import reason_words
from tuibench.present.summary import stored_page, summary
from tuibench.store.benchmark_file import summarize

__all__ = ["models"]


def nameless(result: RunResult) -> RunResult:
    """Return the result without the names of sample files, which an export leaves behind."""

    def strip(cell: CellResult) -> CellResult:
        samples = replace(cell.samples, file=None) if cell.samples else None
        executions = tuple(replace(e, samples=replace(e.samples, file=None)) for e in cell.executions)
        return replace(cell, samples=samples, executions=executions)

    return replace(result, cells=tuple(strip(cell) for cell in result.cells))


RUNS = {
    "default": build.default_run(), "sweep": build.sweep_run(), "hostile": build.hostile_run(),
    "lone": build.run(build.lone_cell()), "empty": build.run(models=(), status="interrupted"),
    "resumed": build.run(build.ok_cell(sittings=2), host="ab", waited_s=3.0, shared_host=True,
                         sittings=(RunSession("2026-01-02T03:04:05Z", "b", 3, (legacy_text("kernel: 1 → 2"),)),)),
    "foreign": build.run(build.ok_cell(executions=(), grade=None), foreign="deepsparse.benchmark 1.8.0"),
}  # fmt: skip


def write(tmp_path: Path, text: str) -> str:
    (tmp_path / "x.json").write_text(text)
    return str(tmp_path / "x.json")


def taken(tmp_path: Path, result: RunResult) -> RunResult:
    return read_result(write(tmp_path, dumps(result)))


def refusal(tmp_path: Path, change: Callable[[Any], Any]) -> Reason:
    document = json.loads(dumps(build.default_run()))
    change(document)
    with pytest.raises(UsageError) as caught:
        read_result(write(tmp_path, json.dumps(document)))
    found = require_shown(caught.value.reason)
    assert reason_words(found).startswith(f"{tmp_path / 'x.json'}: ")
    fields = dict(found.fields)
    assert fields.pop("subject") == f"{tmp_path / 'x.json'}:"
    return Reason(found.code, fields)


@pytest.mark.parametrize("name", RUNS)
def test_exported_imported_and_exported_again_is_equal(name: str, tmp_path: Path) -> None:
    original = nameless(RUNS[name])
    again = taken(tmp_path, original)
    assert dumps(again) == dumps(original)
    assert replace(again, cells=(), comparisons=()) == replace(original, cells=(), comparisons=())


def test_failed_point_is_exported_as_three_texts_and_read_back(tmp_path: Path) -> None:
    failed = build.point(inputs=(), bundle=None, failure=Failure("inputs", "inputs", error_text("no room")))
    again = taken(tmp_path, build.run(build.ok_cell(), points=(failed,)))
    assert again.points[0].failure == failed.failure
    document = json.loads(dumps(again))
    assert document["tuibench"]["points"][0]["failure"] == ["inputs", "inputs", "no room"]
    for wrong in (["inputs", "inputs"], ["inputs", "inputs", "no", "room"], ["inputs", "inputs", 5]):

        def change(document: Any, wrong: list[Any] = wrong) -> None:
            document["tuibench"]["points"][0]["failure"] = wrong

        found = refusal(tmp_path, change)
        assert found.fields["place"].startswith("tuibench.points[0].failure")


def test_failure_of_a_cell_is_an_object_only(tmp_path: Path) -> None:
    def change(document: Any) -> None:
        document["tuibench"]["cells"][0]["failure"] = ["inputs", "inputs", "no room"]

    assert refusal(tmp_path, change).fields["place"] == "tuibench.cells[0].failure"


def test_numbers_unsupported_by_json_are_restored(tmp_path: Path) -> None:
    cell = build.ok_cell(load_ms=math.inf, pooled=build.pooled(std=math.nan, mean=math.inf), executions=())
    again = taken(tmp_path, build.run(cell))
    found = again.cells[0]
    assert found.load_ms == math.inf and found.pooled is not None
    assert math.isnan(found.pooled.std)
    assert dumps(again) == dumps(build.run(cell))


def test_null_without_such_a_reason_is_refused(tmp_path: Path) -> None:
    def empty(document: Any) -> None:
        document["tuibench"]["cells"][1]["pooled"]["std"] = None
        document["tuibench"]["reasons"]["tuibench.cells[1].pooled.std"] = "no reason at all"

    assert refusal(tmp_path, empty) == because("null_without_reason", place="tuibench.cells[1].pooled.std")


def test_files_named_by_a_result_are_dropped(tmp_path: Path) -> None:
    samples = Samples(5, 5, "../../../etc/passwd")
    cell = build.ok_cell(samples=samples, executions=(build.execution(samples=samples),))
    point = build.point(bundle="/dev/zero")
    again = taken(tmp_path, build.run(cell, points=(point,)))
    assert again.cells[0].samples == again.cells[0].executions[0].samples == Samples(5, 5, None)
    assert again.points[0].bundle is None


@pytest.mark.parametrize(
    ("number", "version", "reason"),
    [
        (4, "0.5.0", because("import_of_other_schema", schema=4, version="0.5.0", newest=2)),
        (3, "0.2.0", because("import_of_other_schema", schema=3, version="0.2.0", newest=2)),
        (0, "0.0.1\x1b[31m", because("import_of_other_schema", schema=0, version="0.0.1\x1b[31m", newest=2)),
        (9, None, because("import_of_other_schema", schema=9, version=None, newest=2)),
        ("1", "0.1.0", because("field_missing", place="tuibench.schema")),
        (True, "0.1.0", because("field_missing", place="tuibench.schema")),
    ],
)
def test_other_schema_is_refused_by_its_number(tmp_path: Path, number: Any, version: Any, reason: Reason) -> None:
    def change(document: Any) -> None:
        document["tuibench"] = {"schema": number}
        document["version"] = version

    assert refusal(tmp_path, change) == reason


def _set(*path: Any) -> Callable[[Any], Any]:
    *steps, value = path

    def change(document: Any) -> None:
        holder = document["tuibench"]
        for step in steps[:-1]:
            holder = holder[step]
        holder[steps[-1]] = copy.deepcopy(holder[0]) if value == "first" else value

    return change


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda d: d.update(tuibench=[]), because("import_key_without_object", name="tuibench")),
        (_set("id", "../../x"), because("id_no_ulid", place="tuibench.id", given="../../x")),
        (
            _set("id", "01J0000000000000000000K3F9\n"),
            because("id_no_ulid", place="tuibench.id", given="01J0000000000000000000K3F9\n"),
        ),
        (
            _set("id", "01j0000000000000000000k3f9"),
            because("id_no_ulid", place="tuibench.id", given="01j0000000000000000000k3f9"),
        ),
        (
            _set("id", "91J0000000000000000000K3F9"),
            because("id_no_ulid", place="tuibench.id", given="91J0000000000000000000K3F9"),
        ),
        (_set("cells", 1, "first"), because("cell_key_repeated", place="tuibench.cells[1].key")),
        (
            _set("cells", 0, "latency_ms", "p50", "low", 99.0),
            because("interval_reversed", place="tuibench.cells[0].latency_ms.p50"),
        ),
        (
            _set("cells", 0, "latency_ms", "p50", "value", 0.1),
            because("value_outside_interval", place="tuibench.cells[0].latency_ms.p50"),
        ),
        (
            lambda d: d["tuibench"]["cells"][0]["latency_ms"].pop("p50"),
            because("field_missing", place="tuibench.cells[0].latency_ms.p50"),
        ),
        (lambda d: d["tuibench"]["cells"][0].pop("items"), because("field_missing", place="tuibench.cells[0].items")),
        (lambda d: d["tuibench"].pop("foreign"), because("field_missing", place="tuibench.foreign")),
        (
            _set("cells", 0, "items_per_sec", "low", -1.0),
            because("number_out_of_range", place="tuibench.cells[0].items_per_sec.low", given=-1.0, low=0.0, high=None),
        ),
        (
            _set("cells", 0, "pooled", "median", -1.0),
            because("number_out_of_range", place="tuibench.cells[0].pooled.median", given=-1.0, low=0.0, high=None),
        ),
        (
            _set("cells", 0, "executions", 1, "p50_ns", -5),
            because(
                "number_out_of_range", place="tuibench.cells[0].executions[1].p50_ns", given=-5.0, low=0.0, high=None
            ),
        ),
        (
            _set("cells", 0, "executions", 1, "iterations", 0),
            because(
                "number_out_of_range", place="tuibench.cells[0].executions[1].iterations", given=0, low=1.0, high=None
            ),
        ),
        (
            _set("cells", 0, "executions", 1, "histogram", "ratio", 1e9),
            because("impossible_bins", place="tuibench.cells[0].executions[1].histogram"),
        ),
        (
            _set("cells", 0, "items", 0),
            because("number_out_of_range", place="tuibench.cells[0].items", given=0, low=1.0, high=None),
        ),
        (
            _set("cells", 0, "asked", "cores", 0),
            because("number_out_of_range", place="tuibench.cells[0].asked.cores", given=0, low=1, high=65536),
        ),
        (
            _set("cells", 0, "asked", "batch", 0),
            because("number_out_of_range", place="tuibench.cells[0].asked.batch", given=0, low=1, high=2147483647),
        ),
        (
            _set("points", 0, "model", -1),
            because("number_out_of_range", place="tuibench.points[0].model", given=-1, low=0.0, high=None),
        ),
        (
            _set("seconds", -5.0),
            because("number_out_of_range", place="tuibench.seconds", given=-5.0, low=0.0, high=None),
        ),
        (
            _set("cells", 0, "asked", "cores", 10**18),
            because(
                "number_out_of_range",
                place="tuibench.cells[0].asked.cores",
                given=1000000000000000000,
                low=1,
                high=65536,
            ),
        ),
        (
            _set("cells", 0, "asked", "streams", -5),
            because("number_out_of_range", place="tuibench.cells[0].asked.streams", given=-5, low=1, high=65536),
        ),
        (
            _set("cells", 0, "used", "streams", -5),
            because("number_out_of_range", place="tuibench.cells[0].used.streams", given=-5, low=1, high=65536),
        ),
        (
            _set("cells", 0, "memory_bytes", {"peak": -5}),
            because("number_out_of_range", place="tuibench.cells[0].memory_bytes.peak", given=-5, low=0.0, high=None),
        ),
        (
            _set("cells", 0, "latency_ms", "p50", "n", -5),
            because("number_out_of_range", place="tuibench.cells[0].latency_ms.p50.n", given=-5, low=0.0, high=None),
        ),
        (
            _set("spec", "cores", [1, -1]),
            because("number_out_of_range", place="tuibench.spec.cores[1]", given=-1, low=1, high=65536),
        ),
        (
            _set("spec", "dims", [["seq", [5, -7]]]),
            because("number_out_of_range", place="tuibench.spec.dims[0][1][1]", given=-7, low=0, high=2147483647),
        ),
        (_set("spec", "dims", [["seq", []]]), because("dim_without_size", place="tuibench.spec.dims", name="seq")),
        (
            _set("spec", "streams", 5000),
            because("number_out_of_range", place="tuibench.spec.streams", given=5000, low=1, high=4096),
        ),
        (
            _set("spec", "effort", "max_executions", 0),
            because("number_out_of_range", place="tuibench.spec.effort.max_executions", given=0, low=1, high=1000),
        ),
        (
            _set("spec", "effort", "target", 7.0),
            because("number_out_of_range", place="tuibench.spec.effort.target", given=7.0, low=0.0001, high=1.0),
        ),
        (
            _set("spec", "inputs", "seed", -1),
            because(
                "number_out_of_range", place="tuibench.spec.inputs.seed", given=-1, low=0, high=9223372036854775807
            ),
        ),
        (
            _set("spec", "limits", "memory_bytes", -5),
            because(
                "number_out_of_range",
                place="tuibench.spec.limits.memory_bytes",
                given=-5,
                low=1048576,
                high=1152921504606846976,
            ),
        ),
        (_set("spec", "models", []), because("list_empty", place="tuibench.spec.models")),
        (
            _set("started_utc", "x" * 100_001),
            because("text_too_long", place="tuibench.started_utc", chars=100001, most=100000),
        ),
        (
            _set("cells", 0, "status", 5),
            because("value_of_other_type", place="tuibench.cells[0].status", expected="text", given=5, type=None),
        ),
        (lambda d: d["tuibench"].pop("spec"), because("field_missing", place="tuibench.spec")),
        (
            _set("cells", [None]),
            because("value_of_other_type", place="tuibench.cells[0]", expected="object", given=None, type=None),
        ),
        (
            _set("cells", None),
            because("value_of_other_type", place="tuibench.cells", expected="list", given=None, type=None),
        ),
    ],
)
def test_impossible_value_is_refused_with_its_place(
    tmp_path: Path, change: Callable[[Any], Any], reason: Reason
) -> None:
    assert refusal(tmp_path, change) == reason


def test_json_of_another_kind_is_refused(tmp_path: Path) -> None:
    with refused(UsageError, "import_without_benchmark", own="tuibench", foreign="benchmark_result"):
        read_result(write(tmp_path, '{"name": "package", "version": "1.0"}'))


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(requests())
def test_settings_survive_export_import_and_the_command(tmp_path: Path, request: BenchmarkRequest) -> None:
    spec = spec_of(request)
    found = taken(tmp_path, build.run(build.ok_cell(), spec=spec)).spec
    assert found == spec
    assert spec_of(parse(command_words(found, [source.asked for source in found.models])[1:])) == spec


@pytest.mark.parametrize("name", ["distinct", "seed", "timeout_scale", "warmup_s", "max_time_s"])
def test_flag_readers_and_imports_share_their_ranges(tmp_path: Path, name: str) -> None:
    setting = benchmark_setting.by_name()[name]
    block = setting.at.partition(".")[0]
    low, high = setting.kind.bounds or (0, 0)
    assert [setting.kind("-x", _plain(end)) for end in (low, high)] == [low, high]
    beyond = high * 2 + 1
    with pytest.raises(UsageError):
        setting.kind("-x", _plain(beyond))
    if beyond < LARGEST:
        found = refusal(tmp_path, _set("spec", block, name, beyond))
        assert (found.code, found.fields["place"]) == ("number_out_of_range", f"tuibench.spec.{block}.{name}")


def _plain(value: float) -> str:
    return str(int(value)) if value == int(value) else str(value)


@pytest.mark.timeout(60)
def test_export_with_names_of_a_megabyte_is_importable_and_shown_cut(tmp_path: Path) -> None:
    name = "n" * 1_000_000
    cells = [build.ok_cell(asks={"dims": {name: size}}) for size in (8, 16)]
    port = replace(build.model().inputs[0], name=name, shape=(name, 3))
    point = build.point(dims={name: 8}, chosen={name: 8}, inputs=(FedInput(name, "float32", (1, 3), "random"),))
    run = build.run(
        *cells, spec=build.spec(dims=((name, (8, 16)),)), points=(point,), warnings=(legacy_text(name),),
        models=(build.model(inputs=(port,), operators={name: 1}, zero_tensors=((name, 4, 0),)),),
    )  # fmt: skip
    found = taken(tmp_path, run)
    assert found.spec == run.spec and found.models == run.models and found.points == run.points
    stored = StoredBenchmark(row(), Metadata(), found)
    for text in (summary(found), stored_page(stored, 0.0, figures=80), json.dumps(summarize(found))):
        assert max(map(len, text.splitlines())) < 5000
