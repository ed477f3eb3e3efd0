"""Launched runs, as the dashboard starts them, outlive their client."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.build import make_spec
from tests.cli.running import SCRIPT, detach, end, runner_of, state, stored
from tests.cli.shell import Shell, until
from tests.conftest import ROOT
from tests.refusal import refused
from tuibench.core.errors import HostBusy, TuibenchError, UsageError, WriteError
from tuibench.core.spec import EFFORTS, BenchmarkSpec
from tuibench.present.error.words import message_words
from tuibench.runs.host_queue import find_holder, find_tickets
from tuibench.services import detached_runner
from tuibench.services.api import Services
from tuibench.services.detached_runner import start_detached_runner
from tuibench.services.runs import RunOptions, Runs

CLIENT = """
import os, signal, sys
from tests.cli.test_end_to_end_launch import brief
from tuibench.services import detached_runner
from tuibench.services.api import Services
from tuibench.services.runs import RunOptions

def send_and_die(lifeline, line, send=detached_runner.send_request):
    send(lifeline, line)
    os.kill(os.getpid(), signal.SIGKILL)

when, token = sys.argv[1:]
if when == "sent":
    detached_runner.send_request = send_and_die
runs = Services().runs
runs.resume_detached(token) if token else runs.launch(brief(), RunOptions())
os.kill(os.getpid(), signal.SIGKILL)
"""


def brief() -> BenchmarkSpec:
    """Return a specification of three short executions of the scripted engine."""
    effort = replace(EFFORTS["quick"], timed_s=0.05, warmup_s=0.05, max_executions=3)
    return make_spec(ROOT / "tuibench" / "data" / "samples" / "tiny.onnx", effort=effort)


def killed_client(shell: Shell, when: str, token: str = "") -> None:
    """Start or resume a run in a process that is killed right after its request or right after the answer."""
    command = [sys.executable, "-c", CLIENT, when, token]
    client = subprocess.run(command, cwd=ROOT, env=shell.environment(SCRIPT), check=False, timeout=60)
    assert client.returncode == -signal.SIGKILL


@pytest.fixture
def runs(keeper: Shell, monkeypatch: pytest.MonkeyPatch) -> Iterator[Runs]:
    """Runs of this process in the shell's temporary directory; at the end every started run has ended."""
    monkeypatch.setenv("TMPDIR", str(keeper.tmp))
    monkeypatch.setenv("TUIBENCH_FAKE", SCRIPT["TUIBENCH_FAKE"])
    yield Services().runs
    until(lambda: not keeper.processes(), "the end")


@pytest.mark.parametrize("when", ["sent", "answered"])
def test_launched_run_survives_a_client_killed_at_once(keeper: Shell, when: str) -> None:
    killed_client(keeper, when)
    until(lambda: stored() and state("last") == "finished", "the end")
    until(lambda: not keeper.processes(), "no process")
    (row,) = Services().store.benchmarks.rows()
    assert (row.status, row.measured) == ("finished", 1)


@pytest.mark.parametrize("when", ["sent", pytest.param("answered", marks=pytest.mark.slow)])
def test_resumed_run_survives_a_client_killed_at_once(keeper: Shell, when: str) -> None:
    short = detach(keeper)
    keeper.wait_for("execution_done")
    os.kill(runner_of(keeper), signal.SIGKILL)
    until(lambda: state(short) == "interrupted", "the break")
    killed_client(keeper, when, short)
    keeper.wait_for("execution_done", n=3)
    end(keeper, short)
    (row,) = Services().store.benchmarks.rows()
    assert row.status == "cancelled"


def test_launched_run_is_listed_at_once_and_its_runner_is_reaped(keeper: Shell, runs: Runs) -> None:
    run, notes = runs.launch(brief(), RunOptions())
    assert (notes, runs.info(run).id, runs.info(run).state) == ((), run, "running")
    runner = runner_of(keeper)
    until(lambda: runs.info(run).state == "finished", "the end")
    until(lambda: not Path(f"/proc/{runner}").exists(), "nothing of the runner, no zombie either")


def test_launched_run_queues_at_once_before_the_next_one(keeper: Shell, runs: Runs) -> None:
    effort = replace(EFFORTS["quick"], timed_s=60, max_executions=1)
    run, _ = runs.launch(replace(brief(), effort=effort), RunOptions())
    name = Services().settings.host_lock
    # The run draws its ticket before it is announced, and leaves the queue after it is admitted.
    is_in_line, holder = run in find_tickets(name), find_holder(name)
    assert is_in_line or holder is not None
    runs.cancel(run)


def test_run_directory_that_cannot_be_made_is_reported(keeper: Shell, runs: Runs) -> None:
    root = keeper.run_root
    (root / "taken").mkdir(parents=True)
    with refused(WriteError, "no_run_directory", where=str(root)):
        start_detached_runner(root / "taken", {"spec": {}})


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ("echo last words >&2; exit 3", "the runner ended with code 3 before the run began (last words)"),
        ("kill -9 $$", "the runner died by SIGKILL before the run began"),
        ("kill -40 $$", "the runner died by signal 40 before the run began"),
    ],
)
def test_runner_death_before_the_run_begins_is_explained(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, words: str
) -> None:
    def start(_: Path, log: int) -> subprocess.Popen[bytes]:
        pipe = subprocess.PIPE
        return subprocess.Popen(["sh", "-c", script], bufsize=0, stdin=pipe, stdout=pipe, stderr=log)

    monkeypatch.setattr(detached_runner, "start_runner", start)
    with refused(TuibenchError, "ended_before_start") as caught:
        start_detached_runner(tmp_path, {"long": "x" * (1 << 20)})
    assert message_words(caught.value) == words


def test_run_resumed_meanwhile_is_left_to_the_other_client(keeper: Shell, runs: Runs) -> None:
    run, _ = runs.launch(brief(), RunOptions())
    directory = runs.directory(run)
    with refused(UsageError, "not_resumable", run=run, state="running"):
        runs.resume_detached(run)
    with refused(HostBusy, "runner_exists", run=run):
        start_detached_runner(directory.path, directory.request() | {"resume": {"mixed": False, "finish": False}})


def test_unsaved_run_cannot_be_detached(runs: Runs, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(detached_runner, "start_runner", lambda *_: pytest.fail("a runner was started"))
    for wishes in (RunOptions(save=False), RunOptions(plan_only=True)):
        with refused(UsageError, "run_without_saving"):
            runs.launch(brief(), wishes)


def test_detaching_is_not_recorded(keeper: Shell, runs: Runs) -> None:
    run, _ = runs.launch(brief(), RunOptions())
    assert "detached" not in runs.directory(run).request(), "who resumes it in a terminal may want to be its end"
