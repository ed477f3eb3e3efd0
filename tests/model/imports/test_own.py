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
from tuibench.cli.arguments import parse
from tuibench.core.cell import CellResult, Samples
from tuibench.core.errors import UsageError
from tuibench.core.model import FedInput
from tuibench.core.reason import legacy_text
from tuibench.core.result import RunResult, RunSession
from tuibench.core.settings import benchmark as benchmark_setting
from tuibench.core.settings.command import command_words
from tuibench.core.settings.request import BenchmarkRequest
from tuibench.core.stored import Metadata, StoredBenchmark
from tuibench.core.text import show
from tuibench.model.imports.task import LARGEST, read_result
from tuibench.present.json_export import dumps
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


def refused(tmp_path: Path, change: Callable[[Any], Any]) -> UsageError:
    document = json.loads(dumps(build.default_run()))
    change(document)
    with pytest.raises(UsageError) as caught:
        read_result(write(tmp_path, json.dumps(document)))
    assert "\n" not in caught.value.message and show(caught.value.message, 10_000) == caught.value.message
    assert caught.value.message.startswith(str(tmp_path / "x.json"))
    return caught.value


@pytest.mark.parametrize("name", RUNS)
def test_exported_imported_and_exported_again_is_equal(name: str, tmp_path: Path) -> None:
    original = nameless(RUNS[name])
    again = taken(tmp_path, original)
    assert dumps(again) == dumps(original)
    assert replace(again, cells=(), comparisons=()) == replace(original, cells=(), comparisons=())


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

    assert "tuibench.cells[1].pooled.std" in refused(tmp_path, empty).message


def test_files_named_by_a_result_are_dropped(tmp_path: Path) -> None:
    samples = Samples(5, 5, "../../../etc/passwd")
    cell = build.ok_cell(samples=samples, executions=(build.execution(samples=samples),))
    point = build.point(bundle="/dev/zero")
    again = taken(tmp_path, build.run(cell, points=(point,)))
    assert again.cells[0].samples == again.cells[0].executions[0].samples == Samples(5, 5, None)
    assert again.points[0].bundle is None


@pytest.mark.parametrize(
    ("number", "version", "words"),
    [
        (4, "0.5.0", "has schema 4, written by tuibench 0.5.0; this version imports schemas up to 2"),
        (3, "0.2.0", "has schema 3, written by tuibench 0.2.0; this version imports schemas up to 2"),
        (0, "0.0.1\x1b[31m", "has schema 0, written by tuibench 0.0.1\\e[31m; this version imports schemas up to 2"),
        (9, None, "has schema 9, written by another version of tuibench; this version imports schemas up to 2"),
        ("1", "0.1.0", "tuibench.schema is missing"),
        (True, "0.1.0", "tuibench.schema is missing"),
    ],
)
def test_other_schema_is_refused_by_its_number(tmp_path: Path, number: Any, version: Any, words: str) -> None:
    def change(document: Any) -> None:
        document["tuibench"] = {"schema": number}
        document["version"] = version

    error = refused(tmp_path, change)
    assert words in error.message and error.hint


def _set(*path: Any) -> Callable[[Any], Any]:
    *steps, value = path

    def change(document: Any) -> None:
        holder = document["tuibench"]
        for step in steps[:-1]:
            holder = holder[step]
        holder[steps[-1]] = copy.deepcopy(holder[0]) if value == "first" else value

    return change


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda d: d.update(tuibench=[]), "'tuibench' in it is no object"),
        (_set("id", "../../x"), "tuibench.id is '../../x', which is no ULID"),
        (_set("id", "01J0000000000000000000K3F9\n"), "which is no ULID"),
        (_set("id", "01j0000000000000000000k3f9"), "which is no ULID"),
        (_set("id", "91J0000000000000000000K3F9"), "which is no ULID"),
        (_set("cells", 1, "first"), "tuibench.cells[1].key is that of a cell before it"),
        (_set("cells", 0, "latency_ms", "p50", "low", 99.0), "cells[0].latency_ms.p50: its interval ends before"),
        (_set("cells", 0, "latency_ms", "p50", "value", 0.1), "cells[0].latency_ms.p50: its value is outside"),
        (lambda d: d["tuibench"]["cells"][0]["latency_ms"].pop("p50"), "cells[0].latency_ms.p50 is missing"),
        (lambda d: d["tuibench"]["cells"][0].pop("items"), "tuibench.cells[0].items is missing"),
        (lambda d: d["tuibench"].pop("foreign"), "tuibench.foreign is missing"),
        (_set("cells", 0, "items_per_sec", "low", -1.0), "items_per_sec.low is -1.0; allowed is at least 0"),
        (_set("cells", 0, "pooled", "median", -1.0), "tuibench.cells[0].pooled.median is -1.0; allowed is at least 0"),
        (_set("cells", 0, "executions", 1, "p50_ns", -5), "executions[1].p50_ns is -5.0; allowed is at least 0"),
        (_set("cells", 0, "executions", 1, "iterations", 0), "tuibench.cells[0].executions[1].iterations is 0"),
        (_set("cells", 0, "executions", 1, "histogram", "ratio", 1e9), "cells[0].executions[1].histogram has bins"),
        (_set("cells", 0, "items", 0), "tuibench.cells[0].items is 0; allowed is at least 1"),
        (_set("cells", 0, "asked", "cores", 0), "tuibench.cells[0].asked.cores is 0"),
        (_set("cells", 0, "asked", "batch", 0), "tuibench.cells[0].asked.batch is 0"),
        (_set("points", 0, "model", -1), "tuibench.points[0].model is -1; allowed is at least 0"),
        (_set("seconds", -5.0), "tuibench.seconds is -5.0; allowed is at least 0"),
        (_set("cells", 0, "asked", "cores", 10**18), "asked.cores is 1000000000000000000; allowed is 1 to 65536"),
        (_set("cells", 0, "asked", "streams", -5), "cells[0].asked.streams is -5; allowed is 1 to 65536"),
        (_set("cells", 0, "used", "streams", -5), "cells[0].used.streams is -5; allowed is 1 to 65536"),
        (_set("cells", 0, "memory_bytes", {"peak": -5}), "memory_bytes.peak is -5; allowed is at least 0"),
        (_set("cells", 0, "latency_ms", "p50", "n", -5), "latency_ms.p50.n is -5; allowed is at least 0"),
        (_set("spec", "cores", [1, -1]), "tuibench.spec.cores[1] is -1; allowed is 1 to 65536"),
        (_set("spec", "dims", [["seq", [5, -7]]]), "tuibench.spec.dims[0][1][1] is -7; allowed is 0 to 2147483647"),
        (_set("spec", "dims", [["seq", []]]), "tuibench.spec.dims: seq has no size"),
        (_set("spec", "streams", 5000), "tuibench.spec.streams is 5000; allowed is 1 to 4096"),
        (_set("spec", "effort", "max_executions", 0), "effort.max_executions is 0; allowed is 1 to 1000"),
        (_set("spec", "effort", "target", 7.0), "spec.effort.target is 7.0; allowed is 0.0001 to 1"),
        (_set("spec", "inputs", "seed", -1), "spec.inputs.seed is -1; allowed is 0 to 9223372036854775807"),
        (_set("spec", "limits", "memory_bytes", -5), "limits.memory_bytes is -5; allowed is 1048576 to 1152921"),
        (_set("spec", "models", []), "tuibench.spec.models is empty"),
        (_set("started_utc", "x" * 100_001), "tuibench.started_utc is a text of 100001 characters"),
        (_set("cells", 0, "status", 5), "tuibench.cells[0].status is 5, not a text"),
        (lambda d: d["tuibench"].pop("spec"), "tuibench.spec is missing"),
        (_set("cells", [None]), "tuibench.cells[0] is null, not an object"),
        (_set("cells", None), "tuibench.cells is null, not a list"),
    ],
)  # fmt: skip
def test_impossible_value_is_refused_with_its_place(tmp_path: Path, change: Callable[[Any], Any], words: str) -> None:
    error = refused(tmp_path, change)
    assert words in error.message and error.hint


def test_json_of_another_kind_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is JSON, but no benchmark"):
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
        assert f"{block}.{name}" in refused(tmp_path, _set("spec", block, name, beyond)).message


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
