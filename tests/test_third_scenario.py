"""A scenario declared once goes through plan, worker, journal, record, list, figures, comparison and exports."""

from __future__ import annotations

import csv
import io
import json
import os
import time
from dataclasses import replace
from pathlib import Path

import pytest

from tests.build import make_spec
from tests.scripted_scenario import PAIRS
from tests.store.build import make_store
from tuibench.core.record import to_plain
from tuibench.core.result import RunResult
from tuibench.core.scenario import REGISTRY
from tuibench.core.settings.model_token import resolve_model
from tuibench.core.spec import ModelSource
from tuibench.core.stored import Metadata
from tuibench.core.units import short
from tuibench.present import csv_export, json_export, markdown_export
from tuibench.present.listing import listing
from tuibench.present.plots.scaling import axes_of, scaling
from tuibench.present.plots.selection import Selection
from tuibench.present.summary import summary
from tuibench.runs.base import Setup
from tuibench.runs.comparison import compare_results
from tuibench.runs.cpu_choice import CpuChoice
from tuibench.runs.journal import Journal, read_events
from tuibench.runs.replay import replay
from tuibench.runs.run import BenchmarkRun
from tuibench.runs.task import StopSwitch

ULID = "01HXXXXXXXXXXXXXXXXXXXXX{:02d}"


@pytest.fixture(autouse=True)
def declared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(REGISTRY, PAIRS.name, PAIRS)


def measure(directory: Path, number: int) -> RunResult:
    """Run in this process; its workers are real processes."""
    for name in ("logs", "inputs", "samples", "work"):
        (directory / name).mkdir(parents=True)
    path = Path(resolve_model("sample:tiny").path)
    spec = make_spec(path, batches=(1, 2), scenarios=("pairs",), models=(ModelSource("sample:tiny", str(path)),))
    effort = replace(spec.effort, min_executions=3, max_executions=3, timed_s=0.02, warmup_s=0.02)
    spec = replace(spec, effort=effort, cores=(1,), streams=2)
    journal = Journal(directory)
    head = {"run": ULID.format(number), "spec": to_plain(spec), "host": {}, "versions": {}}
    journal.append("run_start", **head, started_utc="2026-11-19T10:00:00Z")
    setup = Setup(directory, journal, CpuChoice(lambda _: None), StopSwitch(), lambda: 8 << 30, 1)
    BenchmarkRun(spec, setup).carry_out()
    journal.append("run_end", status="finished")
    journal.close()
    return replay(read_events(directory)).result()


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> tuple[RunResult, RunResult]:
    """Two runs of the same two cells."""
    before = os.environ.get("TUIBENCH_FAKE")
    os.environ["TUIBENCH_FAKE"] = json.dumps({"default": {"latency_us": 200}})
    REGISTRY[PAIRS.name] = PAIRS
    try:
        return tuple(measure(tmp_path_factory.mktemp("run") / "r", number) for number in (1, 2))  # type: ignore[return-value]
    finally:
        del REGISTRY[PAIRS.name]
        if before is None:
            del os.environ["TUIBENCH_FAKE"]
        else:
            os.environ["TUIBENCH_FAKE"] = before


def test_worker_imports_the_drive_and_its_numbers_reach_the_result(pair: tuple[RunResult, RunResult]) -> None:
    for cell in pair[0].cells:
        assert (cell.status, cell.asked.scenario, cell.asked.streams) == ("ok", "pairs", 2)
        assert cell.used is not None and (cell.used.streams, cell.used.stream_kind) == (2, "scripted")
        assert cell.items_per_sec.value is not None and cell.items_per_sec.value > 0


def test_store_and_lists_show_the_scenario(pair: tuple[RunResult, RunResult], tmp_path: Path) -> None:
    store = make_store(tmp_path)
    row = store.benchmarks.add(pair[0], Metadata())
    assert (row.scenarios, row.measured) == ("pairs", 2)
    assert to_plain(store.benchmarks.get(row.id).result.cells[0].asked)["scenario"] == "pairs"
    assert "pairs" in listing([row], time.time(), width=None)


def test_headline_is_the_throughput_of_the_scenario(pair: tuple[RunResult, RunResult]) -> None:
    best = max(cell.items_per_sec.value or 0 for cell in pair[0].cells)
    assert summary(pair[0]).splitlines()[-1].startswith(f"{short(best)} items/s")


def test_figures_use_the_batches_of_the_scenario(pair: tuple[RunResult, RunResult]) -> None:
    assert "batch" in axes_of(pair[0])
    shown = scaling(pair[0], Selection(axis="batch", metric="throughput"))
    assert [point.value for line in shown.lines for point in line.points] == [1, 2]


def test_results_of_the_scenario_pair_by_throughput(pair: tuple[RunResult, RunResult]) -> None:
    side = compare_results(*pair)
    assert len(side.pairs) == 2
    assert {one.unit for one in side.pairs} == {"items/s"}
    assert all(one.comparison is not None and one.comparison.verdict.ratio > 0 for one in side.pairs)


def test_exports_name_the_scenario(pair: tuple[RunResult, RunResult]) -> None:
    plain = json.loads(json_export.dumps(pair[0]))
    assert plain["scenario"] == "pairs"
    assert {cell["asked"]["scenario"] for cell in plain["tuibench"]["cells"]} == {"pairs"}
    rows = list(csv.DictReader(io.StringIO(csv_export.dumps(pair[0]))))
    assert [row["scenario"] for row in rows] == ["pairs", "pairs"]
    assert "pairs" in markdown_export.dumps(pair[0])


def test_unknown_scenario_of_a_newer_version_has_streams(pair: tuple[RunResult, RunResult]) -> None:
    del REGISTRY[PAIRS.name]
    assert "items/s" in summary(pair[0]).splitlines()[-1].split(" · ")[0]
