"""Active runs that are finished early or extended: by commands, files and signals."""

from __future__ import annotations

import fcntl
import os
import signal
from collections.abc import Iterator
from dataclasses import replace

import pytest

from tests.build import make_spec
from tests.cli.running import SCRIPT, detach, end, run, runner_of, start, state
from tests.cli.shell import AS_STRANGER, Shell, as_shell, until
from tests.conftest import ROOT
from tests.refusal import refused
from tuibench.core.errors import UsageError
from tuibench.core.ids import short_id
from tuibench.core.reason import Reason, because
from tuibench.core.result import RunResult
from tuibench.core.spec import EFFORTS, BenchmarkSpec, Effort
from tuibench.present.error.words import hint_words
from tuibench.runs.directory import LOCK
from tuibench.runs.journal import read_events
from tuibench.services.api import Services
from tuibench.services.runs import RunOptions, Runs

NEVER = replace(EFFORTS["quick"], timed_s=0.05, warmup_s=0.05, max_executions=3, target=0.0, limit_s=600.0)
"""Three executions, because the target is out of reach."""


def spec(effort: Effort = NEVER) -> BenchmarkSpec:
    return make_spec(ROOT / "tuibench" / "data" / "samples" / "tiny.onnx", effort=effort, batches=(1, 2))


@pytest.fixture
def runs(keeper: Shell, monkeypatch: pytest.MonkeyPatch) -> Iterator[Runs]:
    """Runs of this process in the shell's temporary directory; at the end every started run has ended."""
    monkeypatch.setenv("TMPDIR", str(keeper.tmp))
    monkeypatch.setenv("TUIBENCH_FAKE", SCRIPT["TUIBENCH_FAKE"])
    yield Services().runs
    until(lambda: not keeper.processes(), "the end")


def result(run: str) -> RunResult:
    return Services().store.benchmarks.get(run).result


def test_finish_keeps_the_current_execution(keeper: Shell) -> None:
    short = detach(keeper)
    keeper.wait_for("progress", phase="timed", n=1)
    done = run(keeper, "finish", short)
    assert (done.code, "execution" in done.out) == (0, True), done.err
    asked = keeper.wait_for("finish_asked")
    until(lambda: state(short) == "finished", "the end")
    until(lambda: not keeper.processes(), "no process")
    kinds = [e["ev"] for e in keeper.events() if e["seq"] > asked["seq"] and e["ev"].startswith("execution")]
    assert kinds == ["execution_done"], "what went on was completed, and nothing was begun"
    (row,) = Services().store.benchmarks.rows()
    assert (row.status, row.measured) == ("finished", 1)
    (cell,) = result(row.id).cells
    count = len(cell.executions)
    assert (cell.status, cell.stopped_by) == ("ok", because("finished_on_request", executions=count))
    again = run(keeper, "finish", short)
    assert (again.code, "finished" in again.err) == (2, True)
    assert Services().runs.info(short).detail == Reason("finished_on_request")


def test_client_ends_when_its_run_is_finished_elsewhere(keeper: Shell) -> None:
    process = start(keeper)
    keeper.wait_for("execution_done")
    runs = Services().runs
    for _ in range(2):
        assert runs.finish("last").state == "running"
    _, err = process.communicate(timeout=30)
    assert as_shell(process.returncode) == 0
    assert err.count(b"finishing on request: the current execution is the last") == 1


def test_finishing_run_is_listed_as_such_and_cannot_be_extended(keeper: Shell, runs: Runs) -> None:
    run, _ = runs.launch(spec(), RunOptions())
    keeper.wait_for("execution_start")
    os.kill(runner_of(keeper), signal.SIGSTOP)
    assert runs.finish(run).state == "running"
    with refused(UsageError, "run_finishing", run=run):
        runs.extend(run)
    os.kill(runner_of(keeper), signal.SIGCONT)
    keeper.wait_for("finish_asked")
    until(lambda: runs.info(run).state == "finished", "the end")
    assert sorted((c.status, len(c.executions)) for c in result(run).cells) == [("ok", 1), ("skipped", 0)]


@pytest.mark.slow
def test_resumed_run_forgets_its_finish_request(keeper: Shell, runs: Runs) -> None:
    run_id, _ = runs.launch(spec(), RunOptions())
    keeper.wait_for("execution_done", n=1)
    os.kill(runner_of(keeper), signal.SIGSTOP)
    runs.finish(run_id)
    os.kill(runner_of(keeper), signal.SIGKILL)
    until(lambda: runs.info(run_id).state == "interrupted", "the break")
    runs.resume_detached(run_id, mixed=True)
    until(lambda: runs.info(run_id).state == "finished", "the end")
    assert [len(cell.executions) for cell in result(run_id).cells] == [3, 3]


@pytest.mark.slow
def test_waiting_run_can_be_extended_but_not_finished(keeper: Shell, runs: Runs) -> None:
    first = detach(keeper)
    second, _ = runs.launch(spec(), RunOptions())
    until(lambda: runs.info(second).state == "waiting", "a waiting run")
    done = run(keeper, "finish", second)
    assert done.code == 2
    assert f"tuibench cancel {short_id(second)}" in done.err
    assert runs.extend(second).state == "waiting"
    assert run(keeper, "cancel", first).code == 0
    until(lambda: runs.info(second).state == "finished", "the end")
    assert [len(cell.executions) for cell in result(second).cells] == [6, 6]


@pytest.mark.slow
def test_extension_adds_executions_and_is_shown_to_attached_clients(keeper: Shell, runs: Runs) -> None:
    run_id, _ = runs.launch(spec(), RunOptions())
    watcher = keeper.start("attach", run_id, env=SCRIPT)
    keeper.wait_for("execution_done", n=1)
    done = run(keeper, "extend", short_id(run_id), "--by", "200")
    assert (done.code, "3m20" in done.out) == (0, True), done.err
    runs.extend(run_id, 200.0)
    _, err = watcher.communicate(timeout=60)
    assert err.count(b"more time on request: 3m20 and up to 1 execution more per cell") == 2
    assert [len(cell.executions) for cell in result(run_id).cells] == [5, 5]
    assert sum(warning.code == "extended" for warning in result(run_id).warnings) == 2


@pytest.mark.slow
def test_extension_survives_the_death_of_the_runner(keeper: Shell, runs: Runs) -> None:
    run_id, _ = runs.launch(spec(), RunOptions())
    keeper.wait_for("execution_done", n=1)
    runs.extend(run_id)
    keeper.wait_for("extended")
    os.kill(runner_of(keeper), signal.SIGKILL)
    until(lambda: runs.info(run_id).state == "interrupted", "the break")
    with refused(UsageError, "run_in_state", run=run_id, state="interrupted", asked="extend") as caught:
        runs.extend(run_id)
    assert "resume" in hint_words(caught.value)
    runs.resume_detached(run_id, mixed=True)
    until(lambda: runs.info(run_id).state == "finished", "the end")
    assert [len(cell.executions) for cell in result(run_id).cells] == [6, 6]


@pytest.mark.slow
def test_request_without_a_signal_is_found_between_executions(
    keeper: Shell, runs: Runs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tuibench.services.control._knock", lambda *_: None)
    run_id, _ = runs.launch(spec(replace(NEVER, max_executions=100)), RunOptions())
    keeper.wait_for("execution_done", n=1)
    runs.extend(run_id)
    keeper.wait_for("extended")
    runs.finish(run_id)
    until(lambda: runs.info(run_id).state == "finished", "the end")
    assert len(keeper.events()) > 0 and keeper.wait_for("finish_asked")


def test_fixed_number_of_executions_cannot_be_extended(keeper: Shell) -> None:
    short = detach(keeper)
    done = run(keeper, "extend", short)
    assert done.code == 2
    assert f"tuibench rerun {short}" in done.err
    for amount in ("0", "-1", "nan", "soon"):
        assert run(keeper, "extend", short, f"--by={amount}").code == 2
    end(keeper, short)


def test_run_that_ends_meanwhile_is_reported_and_keeps_no_request(
    keeper: Shell, runs: Runs, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_id, _ = runs.launch(spec(replace(NEVER, max_executions=1)), RunOptions())
    until(lambda: runs.info(run_id).state == "finished", "the end")
    directory = runs.directory(run_id)
    lock = os.open(directory.path / LOCK, os.O_RDWR)
    fcntl.flock(lock, fcntl.LOCK_EX)
    monkeypatch.setattr("tuibench.services.control._knock", lambda *_: os.close(lock))
    with refused(UsageError, "ended_before_more", run=run_id):
        runs.extend(run_id, 1.0)
    assert os.listdir(directory.path / "wishes") == []
    lock = os.open(directory.path / LOCK, os.O_RDWR)
    fcntl.flock(lock, fcntl.LOCK_EX)
    assert runs.finish(run_id).state == "finished", "which is what was wished"
    with refused(UsageError, "run_in_state", run=run_id, state="finished", asked="finish"):
        runs.finish(run_id)
    assert len(list(read_events(directory.path))) > 0


@pytest.mark.slow
@pytest.mark.skipif(os.getuid() != 0, reason="only root can become somebody else")
def test_run_of_another_user_is_left_alone(keeper: Shell, runs: Runs) -> None:
    keeper.tmp.chmod(0o777)
    run_id, _ = runs.launch(spec(), RunOptions())
    keeper.wait_for("execution_done", n=1)
    for command in ("finish", "extend", "cancel"):
        done = run(keeper, command, run_id, wrap=AS_STRANGER)
        assert done.code == 2, done.err
    until(lambda: runs.info(run_id).state == "finished", "its own end")
    assert [len(cell.executions) for cell in result(run_id).cells] == [3, 3]
