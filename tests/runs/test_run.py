"""A whole run with a scripted executor: its journal, and the result rebuilt from it."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import onnx
import pytest
from onnx import TensorProto, helper

from tests.build import make_execution, make_spec
from tests.runs.child_task import call_here
from tuibench.core.cell import Execution
from tuibench.core.reason import Failure, Reason, because, error_text
from tuibench.core.record import to_plain
from tuibench.core.spec import EFFORTS, BenchmarkSpec, Limits, ModelSource
from tuibench.present.headline import conclusions
from tuibench.present.reason import reason_words
from tuibench.runs.base import Setup
from tuibench.runs.cpu_choice import CpuChoice
from tuibench.runs.journal import Journal, read_error, read_events
from tuibench.runs.replay import Replay, replay
from tuibench.runs.run import BenchmarkRun
from tuibench.runs.schedule import Schedule
from tuibench.runs.supervision import Bounds, OutOfTime
from tuibench.runs.task import Call, Cancelled, StopSwitch, call_child
from tuibench.runs.track import new_tracks
from tuibench.worker.job import Job

Script = Callable[[Job], Execution | Failure]
DEAD = Failure("signal", "timed", error_text("the worker died by SIGSEGV"), "SIGSEGV")


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """A model with a symbolic batch."""
    ports = [helper.make_tensor_value_info(n, TensorProto.FLOAT, ["batch", 2]) for n in "xy"]
    graph = helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "g", ports[:1], ports[1:])
    path = tmp_path / "model.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    return path


class Bench:
    """Runs a specification with a scripted executor and records the executor's jobs."""

    def __init__(self, run_dir: Path, call: Call = call_here) -> None:
        self.run_dir = run_dir
        self.call = call
        self.jobs: list[Job] = []

    def run(self, spec: BenchmarkSpec, script: Script, plan_only: bool = False) -> Replay:
        for name in ("logs", "inputs", "samples", "work"):
            (self.run_dir / name).mkdir(parents=True)
        journal = Journal(self.run_dir)
        journal.append("run_start", run="R", spec=to_plain(spec), host={}, versions={}, started_utc="now")
        stop = StopSwitch()

        def execute(
            job: Job, bounds: Bounds, stop: StopSwitch, listen: Callable[[Mapping[str, Any]], None], pad: int
        ) -> Execution | Failure:
            self.jobs.append(job)
            return script(job)

        setup = Setup(
            self.run_dir,
            journal,
            CpuChoice(lambda _: None),
            stop,
            lambda: 8 << 30,
            1,
            execute,
            plan_only,
            call=self.call,
        )
        BenchmarkRun(spec, setup).carry_out()
        journal.close()
        return replay(read_events(self.run_dir))


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    """A run directory of its own."""
    return Bench(tmp_path / "run")


def by_batch(times: Mapping[int, float]) -> Script:
    return lambda job: make_execution(times[job.cell.asked.batch or 0])


@pytest.mark.parametrize("call", [call_here, call_child])
def test_sweep_measures_every_cell_and_names_the_best(tmp_path: Path, model: Path, call: Call) -> None:
    result = Bench(tmp_path / "run", call).run(make_spec(model, batches=(1, 4)), by_batch({1: 1e6, 4: 2e6})).result()
    assert result.status == "finished"
    assert [(c.asked.batch, c.status) for c in result.cells] == [(1, "ok"), (4, "ok")]
    assert [c.latency_ms["p50"].value for c in result.cells] == pytest.approx([1.0, 2.0])
    assert [c.items_per_sec.value for c in result.cells] == pytest.approx([1000.0, 2000.0])
    assert any("batch 4" in found.text for found in conclusions(result))
    assert all(len(c.executions) == EFFORTS["quick"].min_executions for c in result.cells)


def test_worker_gets_the_inputs_of_its_point(bench: Bench, model: Path) -> None:
    from tuibench.worker.bundle import read_bundle

    bench.run(make_spec(model, batches=(1, 4)), by_batch({1: 1e6, 4: 2e6}))
    for job in bench.jobs:
        feeds = read_bundle(job.bundle)
        assert len(feeds) == 8
        assert feeds[0]["x"].shape == (job.cell.asked.batch, 2)
        assert len({f["x"].tobytes() for f in feeds}) == 8


def test_failing_cell_leaves_the_others_alone(bench: Bench, model: Path) -> None:
    def script(job: Job) -> Execution | Failure:
        return replace(DEAD, phase="load") if job.cell.asked.batch == 4 else make_execution()

    result = bench.run(make_spec(model, batches=(1, 4)), script).result()
    ok, failed = result.cells
    assert (ok.status, failed.status) == ("ok", "failed")
    assert failed.failure is not None
    assert failed.failure.signal == "SIGSEGV"
    assert failed.latency_ms["p50"].value is None


def test_second_crash_while_timing_leaves_a_partial_cell(bench: Bench, model: Path) -> None:
    answers: Iterator[Execution | Failure] = iter([make_execution(), DEAD, make_execution(), DEAD])
    result = bench.run(make_spec(model), lambda job: next(answers)).result()
    (cell,) = result.cells
    assert (cell.status, len(cell.executions)) == ("partial", 2)
    assert cell.failure == DEAD


def test_unsupported_batch_fails_its_cell_and_starts_no_worker(bench: Bench, tmp_path: Path) -> None:
    ports = [helper.make_tensor_value_info(n, TensorProto.FLOAT, [3, 2]) for n in "xy"]
    graph = helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "g", ports[:1], ports[1:])
    path = tmp_path / "fixed.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    result = bench.run(make_spec(path, batches=(1,)), lambda job: make_execution()).result()
    (cell,) = result.cells
    assert cell.status == "failed"
    assert cell.failure is not None
    assert cell.failure.phase == "inputs"
    assert not bench.jobs


def test_unreadable_one_of_two_models_fails_alone(bench: Bench, model: Path, tmp_path: Path) -> None:
    empty = tmp_path / "empty.onnx"
    empty.touch()
    spec = make_spec(model, models=(ModelSource("empty.onnx", str(empty)), ModelSource("model.onnx", str(model))))
    result = bench.run(spec, lambda job: make_execution()).result()
    assert [c.status for c in result.cells] == ["failed", "ok"]
    assert result.cells[0].failure is not None
    assert "empty" in reason_words(result.cells[0].failure.message)


def test_cancel_keeps_the_measurements(bench: Bench, model: Path) -> None:
    answers = iter([make_execution(), make_execution()])

    def script(job: Job) -> Execution | Failure:
        answer = next(answers, None)
        if answer is None:
            raise Cancelled(because("signal", signal="SIGTERM"))
        return answer

    result = bench.run(make_spec(model), script).result()
    assert result.status == "cancelled"
    (cell,) = result.cells
    assert (cell.status, len(cell.executions)) == ("partial", 2)
    assert cell.stopped_by is not None and cell.stopped_by.code == "cancelled"


def test_cells_beyond_the_time_limit_are_skipped(tmp_path: Path, model: Path) -> None:
    bench = Bench(tmp_path / "run", call_child)
    spec = make_spec(model, batches=(1, 2), limits=Limits(max_time_s=0.0, timeout_scale=1.0))
    state = bench.run(spec, lambda job: make_execution())
    assert state.end["status"] == "failed"
    assert state.end["error"]["exit_code"] == 5
    assert read_error(state.end["error"]).reason.code == "no_time_for_a_plan"
    assert not bench.jobs


def test_execution_cut_by_the_command_time_is_no_failure(bench: Bench, model: Path) -> None:
    answers = iter([make_execution(), make_execution(), None])

    def script(job: Job) -> Execution | Failure:
        answer = next(answers)
        if answer is None:
            raise OutOfTime
        return answer

    result = bench.run(make_spec(model, batches=(1, 2, 4)), script).result()
    assert sorted(c.status for c in result.cells) == ["partial", "partial", "skipped"]
    assert all(c.failure is None for c in result.cells)
    assert Reason("cells_skipped") in result.warnings


def test_system_error_is_one_failed_cell(bench: Bench, model: Path) -> None:
    def script(job: Job) -> Execution | Failure:
        if job.cell.asked.batch == 1:
            raise OSError(11, "Resource temporarily unavailable")
        return make_execution()

    result = bench.run(make_spec(model, batches=(1, 2)), script).result()
    assert [c.status for c in result.cells] == ["failed", "ok"]
    assert result.cells[0].failure is not None
    assert result.cells[0].failure.message == error_text("Resource temporarily unavailable")


def test_stream_kind_of_the_first_execution_is_used_for_all(bench: Bench, model: Path) -> None:
    def script(job: Job) -> Execution | Failure:
        execution = make_execution()
        kind = job.stream_kind or "processes"
        return replace(execution, used=replace(execution.used, stream_kind=kind))

    bench.run(make_spec(model, scenarios=("async",)), script)
    assert [job.stream_kind for job in bench.jobs] == [None, "processes", "processes"]


def test_cell_that_cannot_use_its_twins_io_class_keeps_its_own(bench: Bench, model: Path) -> None:
    def script(job: Job) -> Execution | Failure:
        fake = job.cell.asked.engine == "fake"
        if not fake and job.io == "call":
            return Failure("refused", "check", error_text("only bound"))
        execution = make_execution()
        return replace(execution, used=replace(execution.used, io="call" if fake else "bound"))

    result = bench.run(make_spec(model, engines=("onnxruntime", "fake")), script).result()
    assert [c.status for c in result.cells] == ["ok", "ok"]
    assert [{e.used.io for e in c.executions} for c in result.cells] == [{"bound"}, {"call"}]
    assert result.comparisons[0].verdict.kind is None


def test_plan_alone_measures_nothing(bench: Bench, model: Path) -> None:
    state = bench.run(make_spec(model, batches=(1, 4)), lambda job: make_execution(), plan_only=True)
    assert [c.asked.batch for c in state.cells] == [1, 4]
    assert not bench.jobs


def test_compared_cells_use_one_io_class(bench: Bench, model: Path) -> None:
    def script(job: Job) -> Execution | Failure:
        io = job.io or ("call" if job.cell.asked.engine == "fake" else "bound")
        execution = make_execution()
        return replace(execution, used=replace(execution.used, io=io))

    result = bench.run(make_spec(model, engines=("onnxruntime", "fake")), script).result()
    assert {e.used.io for c in result.cells for e in c.executions} == {"call"}
    assert all(len(c.executions) >= 3 for c in result.cells)
    (comparison,) = result.comparisons
    assert comparison.interleaved


def test_journal_alone_yields_the_same_result(bench: Bench, model: Path) -> None:
    state = bench.run(make_spec(model, batches=(1, 2, 4)), by_batch({1: 1e6, 2: 1.5e6, 4: 2e6}))
    again = Replay()
    for event in read_events(bench.run_dir):
        again.take(event)
    result = state.result()
    assert again.result() == result
    assert all(point.bundle and point.reference.file for point in state.points)
    assert not any(point.bundle or point.reference.file for point in result.points), "they are deleted with the run"
    for path in bench.run_dir.iterdir():
        if path.is_dir():
            shutil.rmtree(path)
    assert replay(read_events(bench.run_dir)).result() == result


def test_anchor_executions_show_drift_and_count_for_no_cell(bench: Bench, model: Path) -> None:
    result = bench.run(make_spec(model, batches=(1, 2, 4)), lambda job: make_execution()).result()
    assert all(len(c.executions) == EFFORTS["quick"].min_executions for c in result.cells)
    assert result.anchor["drift"] == pytest.approx(0.0)
    assert len(bench.jobs) == 3 * EFFORTS["quick"].min_executions + result.anchor["executions"]


def test_dry_run_order_is_the_order_of_the_first_round(bench: Bench, model: Path) -> None:
    spec = make_spec(model, batches=(1, 2, 4, 8))
    state = bench.run(spec, lambda job: make_execution())
    planned = Schedule(new_tracks(state.cells), spec.effort, random.Random(1)).next_round()
    assert [job.cell.key for job in bench.jobs[:4]] == [turn.cell.key for turn in planned]


def test_call_longer_than_a_second_is_noted_with_three_executions(bench: Bench, model: Path) -> None:
    spec = make_spec(model, effort=EFFORTS["default"])
    result = bench.run(spec, lambda job: make_execution(1.5e9)).result()
    assert len(result.cells[0].executions) == 3
    (warning,) = result.warnings
    assert (warning.code, warning.fields["call_s"]) == ("slow_calls", 1.5)


@pytest.mark.parametrize("most", [5, 60, 400])
def test_cell_of_many_executions_stays_bounded(bench: Bench, model: Path, most: int) -> None:
    spec = make_spec(model)
    effort = replace(spec.effort, min_executions=1, max_executions=most)
    bench.run(replace(spec, effort=effort), by_batch({1: 1e6}))
    job = bench.jobs[0]
    assert job.histogram_bins <= max(48, 2250 // most) and job.series_points <= max(6, 450 // most)
