"""Control requests: the request is on disk first, and only the intended process gets the signal."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.build import make_spec
from tests.refusal import refused
from tests.services.script import ScriptedRun
from tuibench.core import activity
from tuibench.core.activity import RunInfo
from tuibench.core.errors import UsageError, WriteError
from tuibench.core.reason import legacy_text
from tuibench.core.record import to_plain
from tuibench.core.spec import EFFORTS
from tuibench.host.system import start_ticks
from tuibench.runs.control import ControlRequests, MoreTime
from tuibench.runs.directory import RunDirectory
from tuibench.services.control import cancel, extend, finish

RUN, TICKET = "01M7QJXH866DK1S3FNRAFAA4P6", "01M7QJXH866DK1S3FNRAFAA4P7"
LISTENER = """
import signal
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGURG])
print("listening", flush=True)
signal.sigwait([signal.SIGURG])
print("heard", flush=True)
"""


@pytest.fixture
def directory(tmp_path: Path) -> RunDirectory:
    """A run with the default effort."""
    made = RunDirectory(tmp_path / RUN)
    made.make({"id": RUN, "spec": to_plain(make_spec(Path("/m.onnx"), effort=EFFORTS["default"]))})
    return made


@pytest.fixture
def runner(directory: RunDirectory) -> Iterator[subprocess.Popen[str]]:
    """A process that listens for the signal while the runner lock is held."""
    lock = directory.lock()
    assert lock is not None
    with subprocess.Popen([sys.executable, "-c", LISTENER], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None and process.stdout.readline() == "listening\n"
        yield process
        process.kill()
    os.close(lock)


def info_of(directory: RunDirectory, state: str = activity.RUNNING, pid: int | None = None) -> RunInfo:
    return RunInfo(RUN, state, legacy_text("on another machine"), "", (), "", str(directory.path), pid, 1, 0, 0, None)


def heard(process: subprocess.Popen[str]) -> str:
    """Return the process's output after it has ended."""
    return process.communicate(timeout=30)[0]


def test_runner_gets_a_signal_at_once(directory: RunDirectory, runner: subprocess.Popen[str]) -> None:
    info = replace(info_of(directory, pid=runner.pid), pid_start=start_ticks(runner.pid))
    extend(directory, info, TICKET, None)
    assert heard(runner) == "heard\n"
    assert ControlRequests(directory.path).more_time() == (MoreTime(TICKET, 30.0),), (
        "as long as the effort allows at first"
    )


def test_process_that_reuses_the_pid_gets_no_signal(directory: RunDirectory, runner: subprocess.Popen[str]) -> None:
    finish(directory, replace(info_of(directory, pid=runner.pid), pid_start=1))
    runner.kill()
    assert heard(runner) == ""
    assert ControlRequests(directory.path).finish_asked


def test_run_of_another_host_gets_the_request_in_its_directory(directory: RunDirectory) -> None:
    info = info_of(directory, activity.ELSEWHERE, pid=os.getpid())
    finish(directory, info)
    cancel(directory, info)
    assert ControlRequests(directory.path).finish_asked and directory.cancel_asked
    ControlRequests(directory.path).forget_finish()
    extend(directory, info, TICKET, 2.5)
    assert ControlRequests(directory.path).more_time() == (MoreTime(TICKET, 2.5),)


@pytest.mark.parametrize("state", [activity.FINISHED, activity.FAILED, activity.INTERRUPTED, activity.UNSAVED])
def test_ended_run_is_left_unchanged(directory: RunDirectory, state: str) -> None:
    for ask in (cancel, finish, lambda run, info: extend(run, info, TICKET, None)):
        with refused(UsageError, "run_in_state", state=state):
            ask(directory, info_of(directory, state))
    assert not (directory.path / "wishes").exists() and not directory.cancel_asked


@pytest.mark.parametrize("more_s", [0.0, -1.0, float("nan"), float("inf"), 1e8])
def test_zero_and_infinite_time_are_refused(directory: RunDirectory, more_s: float) -> None:
    with refused(UsageError, "more_time_out_of_range", subject="--by"):
        extend(directory, info_of(directory), TICKET, more_s)
    assert not (directory.path / "wishes").exists()


def test_request_that_cannot_be_written_is_reported(directory: RunDirectory) -> None:
    (directory.path / "wishes").touch()
    with refused(WriteError, "run_unreachable"):
        finish(directory, info_of(directory))


def test_run_that_has_just_broken_off_is_not_reported_as_finishing(tmp_path: Path) -> None:
    run = ScriptedRun(tmp_path)
    run.begin()
    run.plan()
    info = info_of(run.directory)
    run.end("interrupted", saved=False)
    with refused(UsageError, "ended_before_finish"):
        finish(run.directory, replace(info, pid=os.getpid()))
    assert not ControlRequests(run.directory.path).finish_asked


def test_run_that_has_just_finished_satisfies_and_drops_the_request(tmp_path: Path) -> None:
    run = ScriptedRun(tmp_path)
    run.begin()
    run.plan()
    run.end(saved=True)
    finish(run.directory, info_of(run.directory))
    assert not ControlRequests(run.directory.path).finish_asked
