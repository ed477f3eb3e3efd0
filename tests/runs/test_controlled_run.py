"""Runs that are finished early or extended while they measure, with a scripted executor."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from itertools import cycle
from pathlib import Path
from typing import Any

import pytest

from tests.build import make_execution, make_spec
from tests.runs.test_run import DEAD, Bench, Script, bench, model
from tuibench.core.cell import Execution
from tuibench.core.reason import Failure, Reason, because
from tuibench.core.record import to_plain
from tuibench.core.result import RunResult
from tuibench.core.spec import EFFORTS, BenchmarkSpec, Limits
from tuibench.present.headline import result_headline
from tuibench.runs.base import Setup
from tuibench.runs.control import ControlRequests
from tuibench.runs.cpu_choice import CpuChoice
from tuibench.runs.journal import Journal, cut_tail, read_events, read_history
from tuibench.runs.replay import Replay, replay
from tuibench.runs.result import exit_code
from tuibench.runs.run import BenchmarkRun
from tuibench.runs.supervision import Bounds, OutOfTime
from tuibench.runs.task import StopSwitch
from tuibench.worker.job import Job

__all__ = ["bench", "model"]

FIRST, SECOND = "01M7QJXH866DK1S3FNRAFAA4P6", "01M7QJXH866DK1S3FNRAFAA4P7"
ROUGH = replace(EFFORTS["quick"], target=0.02)
"""A target that executions differing by a factor of two miss, but not by enough to abandon the cell."""


def rough(wishes: Mapping[int, Callable[[], None]]) -> Script:
    """Return executions that vary too much, with an action during the n-th of all."""
    values, count = cycle([1e6, 2e6]), iter(range(1, 10_000))

    def script(job: Job) -> Execution | Failure:
        wishes.get(next(count), lambda: None)()
        return make_execution(next(values))

    return script


def events(bench: Bench, ev: str) -> list[dict[str, Any]]:
    return [event for event in read_events(bench.run_dir) if event["ev"] == ev]


def counts(result: RunResult) -> list[tuple[str, int, str]]:
    return [
        (cell.status, len(cell.executions), cell.stopped_by.code if cell.stopped_by else "") for cell in result.cells
    ]


def test_finish_makes_the_current_execution_the_last(bench: Bench, model: Path) -> None:
    box = ControlRequests(bench.run_dir)
    state = bench.run(make_spec(model, batches=(1, 2, 4), effort=ROUGH), rough({2: box.ask_to_finish}))
    result = state.result()
    assert len(bench.jobs) == 2
    assert result.status == "finished" and state.end["reason"] == Reason("finished_on_request")
    assert sorted(counts(result)) == [
        ("ok", 1, "finished_on_request"),
        ("ok", 1, "finished_on_request"),
        ("skipped", 0, "finished_on_request"),
    ]
    assert result_headline(result).endswith("1 of 3 cells skipped")
    assert (state.end["cells_done"], state.end["executions"]) == (2, 2)
    assert exit_code(result.cells) == 1
    for cell in result.cells:
        assert (cell.pooled is not None) == bool(cell.executions)


def test_finish_after_all_cells_were_measured_is_no_failure(bench: Bench, model: Path) -> None:
    box = ControlRequests(bench.run_dir)
    result = bench.run(make_spec(model, batches=(1, 2), effort=ROUGH), rough({4: box.ask_to_finish})).result()
    assert counts(result) == [("ok", 2, "finished_on_request")] * 2
    assert exit_code(result.cells) == 0
    assert replay(read_events(bench.run_dir)).result() == result


def test_run_without_results_measures_once_before_it_finishes(bench: Bench, model: Path) -> None:
    bench.run_dir.mkdir()
    ControlRequests(bench.run_dir).ask_to_finish()
    result = bench.run(make_spec(model, effort=ROUGH), rough({})).result()
    assert counts(result) == [("ok", 1, "finished_on_request")]


def test_failed_cell_stays_failed_when_its_run_is_finished(bench: Bench, model: Path) -> None:
    def script(job: Job) -> Execution | Failure:
        ControlRequests(bench.run_dir).ask_to_finish()
        return replace(DEAD, phase="load")

    result = bench.run(make_spec(model, batches=(1, 2)), script).result()
    assert sorted(c.status for c in result.cells) == ["failed", "skipped"]


def test_finish_request_during_the_last_execution_changes_nothing(bench: Bench, model: Path) -> None:
    state = bench.run(make_spec(model, effort=ROUGH), rough({6: ControlRequests(bench.run_dir).ask_to_finish}))
    assert state.end["status"] == "finished" and state.end["reason"] is None
    stopped = state.result().cells[0].stopped_by
    assert stopped is not None and stopped.code == "maximum"


def test_extension_adds_executions_to_cells_without_their_target(bench: Bench, model: Path) -> None:
    box = ControlRequests(bench.run_dir)
    steady = by_batch_steady(2, rough({5: lambda: box.ask_for_time(FIRST, 10.0)}))
    state = bench.run(make_spec(model, batches=(1, 2), effort=ROUGH), steady)
    one, two = state.result().cells
    assert (len(one.executions), len(two.executions)) == (12, 3)
    assert two.stopped_by is not None and two.stopped_by.code == "target"
    (event,) = events(bench, "extended")
    assert (event["limit_s"], event["executions"], list(event["cells"])) == (10.0, 6, [one.key])
    assert state.result().warnings == (because("extended", limit_s=10.0, executions=6),)
    assert {job.series_points for job in bench.jobs} == {450 // 6, 450 // 12}, "what is kept has to fit"


def by_batch_steady(batch: int, otherwise: Script) -> Script:
    return lambda job: make_execution() if job.cell.asked.batch == batch else otherwise(job)


def test_extended_finished_cell_continues_and_matches_the_journal(bench: Bench, model: Path) -> None:
    box = ControlRequests(bench.run_dir)

    def late() -> None:
        box.ask_for_time(FIRST, 5.0)
        box.ask_for_time(SECOND, 5.0)

    state = bench.run(make_spec(model, effort=ROUGH), rough({6: late}))
    (cell,) = state.result().cells
    assert len(cell.executions) == 12, "6, and twice 3"
    assert len(events(bench, "extended")) == 2
    kinds = [event["ev"] for event in read_events(bench.run_dir)]
    assert kinds.index("cell_done") < kinds.index("extended"), "it was done already"
    assert kinds.count("cell_done") == 2
    assert cell.pooled is not None and cell.pooled.iterations == 12_000
    again = replay(read_events(bench.run_dir))
    assert again.result() == state.result()


def test_extension_moves_the_end_of_the_whole_command(bench: Bench, model: Path) -> None:
    seen: list[float | None] = []

    def execute(job: Job, bounds: Bounds, *_: Any) -> Execution | Failure:
        seen.append(bounds.deadline)
        ControlRequests(bench.run_dir).ask_for_time(FIRST, 100.0)
        if len(seen) == 3:
            raise OutOfTime
        return make_execution()

    spec = make_spec(model, effort=ROUGH, limits=Limits(max_time_s=500.0))
    sit(bench, spec, execute)
    first, second, third = [deadline for deadline in seen if deadline is not None]
    assert second == third == first + 100.0


def sit(bench: Bench, spec: BenchmarkSpec, execute: Any, earlier: Replay | None = None, seq: int = 0) -> Replay:
    """Run one session in a directory that may have had replayed ones."""
    for name in ("logs", "inputs", "samples", "work"):
        (bench.run_dir / name).mkdir(parents=True, exist_ok=True)
    journal = Journal(bench.run_dir, seq)
    fields = {"run": "R", "spec": to_plain(spec), "host": {}, "versions": {}, "started_utc": "now"}
    journal.append("sitting" if earlier else "run_start", **fields)
    setup = Setup(
        bench.run_dir,
        journal,
        CpuChoice(lambda _: None),
        StopSwitch(),
        lambda: 8 << 30,
        1,
        execute,
        earlier=earlier,
        mixed=True,
        call=bench.call,
    )
    BenchmarkRun(spec, setup).carry_out()
    journal.close()
    return replay(read_events(bench.run_dir))


class Killed(Exception):
    """Stands for the end of the runner's process."""


def test_resumed_run_keeps_its_extension_and_forgets_finish(bench: Bench, model: Path) -> None:
    spec = make_spec(model, effort=ROUGH, limits=Limits(max_time_s=500.0))
    box, deadlines = ControlRequests(bench.run_dir), []
    values: Iterator[float] = cycle([1e6, 2e6])
    kill_at = {7}

    def execute(job: Job, bounds: Bounds, *_: Any) -> Execution | Failure:
        deadlines.append(bounds.deadline)
        if len(deadlines) == 5:
            box.ask_for_time(FIRST, 100.0)
        if len(deadlines) in kill_at:
            box.ask_to_finish()
            raise Killed
        return make_execution(next(values))

    with pytest.raises(Killed):
        sit(bench, spec, execute)
    # The state after a crash, as tuibench resume finds it.
    box.ask_for_time(FIRST, 100.0)
    box.forget_finish()
    history = read_history(bench.run_dir)
    cut_tail(bench.run_dir, history)
    replayed = replay(history.events)
    assert (replayed.granted, replayed.extended_s, replayed.finishing) == ({FIRST}, 100.0, False)
    state = sit(bench, spec, execute, replayed, history.next_seq)
    (cell,) = state.result().cells
    assert len(cell.executions) == 66, "6, and 60 that go with 100 s"
    assert len(events(bench, "extended")) == 1 and box.more_time() == ()
    assert cell.stopped_by is not None and cell.stopped_by.code == "maximum"
    assert cell.sittings == 2
    before, after = deadlines[0], deadlines[-1]
    assert before is not None and after is not None and after > before + 100.0
