"""Every signal at every stage of a run: the right exit code within two seconds, and no leftovers."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cli.shell import PATIENCE_S, Shell, as_shell, until
from tests.cli.test_end_to_end_sweep import load

CODES = {signal.SIGINT: 130, signal.SIGTERM: 143, signal.SIGHUP: 129}
CANCEL_S = 2.0
FAKE = ("sample:tiny", "-e", "fake", "-s", "sync", "-ncores", "1")
LONG = ("--executions", "50", "-t", "50", "-w", "0.05")
CUT = ("--executions", "50", "-t", "2.5", "-w", "0.05")

Start = Callable[[Shell], "subprocess.Popen[bytes]"]


@pytest.fixture
def shell(real_shell: Shell) -> Shell:
    """Run each command in its own process, because signals end processes."""
    return real_shell


def start(shell: Shell, script: dict[str, Any], *arguments: str, **options: Any) -> subprocess.Popen[bytes]:
    """Start a long benchmark of the scripted engine; its children take their usual time."""
    env = {"TUIBENCH_FAKE": json.dumps({"default": script}), "TUIBENCH_TEST_ANSWERS": None}
    return shell.start("benchmark", *(arguments or (*FAKE, *LONG)), env=env, **options)


def to_the_directory(shell: Shell) -> subprocess.Popen[bytes]:
    """Wait for the run directory, the first possible leftover."""
    process = start(shell, {})
    until(shell.leftovers, "a directory of the run")
    return process


def to_the_runner(shell: Shell) -> subprocess.Popen[bytes]:
    """Wait for the runner process, which may not listen yet."""
    process = start(shell, {})
    until(lambda: shell.pids("tuibench.runner"), "a runner")
    return process


def to_the_inspection(shell: Shell) -> subprocess.Popen[bytes]:
    """Wait until a child reads the model."""
    process = start(shell, {})
    until(lambda: shell.pids("tuibench.child inspect"), "an inspecting child")
    return process


def to_the_inputs(shell: Shell) -> subprocess.Popen[bytes]:
    """Wait until a child makes the inputs."""
    process = start(shell, {})
    until(lambda: shell.pids("tuibench.child prepare"), "a preparing child")
    return process


def to_a_deaf_load(shell: Shell) -> subprocess.Popen[bytes]:
    """Wait until the worker hangs in its load and ignores SIGTERM."""
    process = start(shell, {"load": "deaf-hang"})
    shell.wait_for("progress", phase="load")
    return process


def to_the_timed_part(shell: Shell) -> subprocess.Popen[bytes]:
    """Wait until the worker measures."""
    process = start(shell, {"latency_us": 300})
    shell.wait_for("progress", phase="timed")
    return process


def to_the_next_execution(shell: Shell) -> subprocess.Popen[bytes]:
    """Wait until one execution is in the journal."""
    process = start(shell, {"latency_us": 300}, *FAKE, *CUT)
    shell.wait_for("execution_done")
    return process


def to_streams_of_their_own(shell: Shell) -> subprocess.Popen[bytes]:
    """Wait until the worker has one process per stream."""
    process = start(shell, {"latency_us": 50}, *FAKE[:3], "-s", "async", "-ncores", "1", "-nstreams", "3", *LONG)
    until(lambda: len(shell.pids("stream_process")) == 3, "three streams")
    return process


STAGES: tuple[Start, ...] = (
    to_the_directory,
    to_the_runner,
    to_the_inspection,
    to_the_inputs,
    to_a_deaf_load,
    to_the_timed_part,
    to_the_next_execution,
    to_streams_of_their_own,
)

QUICK: dict[signal.Signals, tuple[Start, ...]] = {
    signal.SIGINT: (to_the_runner, to_the_inputs, to_a_deaf_load, to_streams_of_their_own),
    signal.SIGTERM: (to_the_timed_part,),
    signal.SIGHUP: (to_the_next_execution,),
    signal.SIGKILL: (to_the_directory, to_the_inspection, to_the_timed_part, to_streams_of_their_own),
}


def finish(process: subprocess.Popen[bytes]) -> tuple[int, str, str, float]:
    """Return the exit code, both streams and the duration of the shutdown."""
    begin = time.monotonic()
    out, err = process.communicate(timeout=30)
    return as_shell(process.returncode), out.decode(), err.decode(), time.monotonic() - begin


def is_prompt(shell: Shell, seconds: float) -> bool:
    """Return whether a command ended in time; a busy machine adds ten times the duration of an empty command."""
    return seconds < CANCEL_S or seconds < CANCEL_S + 10 * shell.run("--version").seconds


def every_end() -> Iterator[Any]:
    """Yield each signal at each stage; those in QUICK on every run of the suite, the others in the slow suite."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL):
        for stage in STAGES:
            marks = () if stage in QUICK[number] else (pytest.mark.slow,)
            yield pytest.param(stage, number, marks=marks, id=f"{number.name}-{stage.__name__}")


@pytest.mark.parametrize(("stage", "number"), list(every_end()))
def test_signal_at_any_stage_ends_at_once_without_leftovers(shell: Shell, stage: Start, number: int) -> None:
    process = stage(shell)
    process.send_signal(number)
    code, _, err, seconds = finish(process)
    begin = time.monotonic()
    # A killed shell waits for nobody; the others return only when every process is gone.
    patience = PATIENCE_S if number == signal.SIGKILL else 0.0
    while (shell.processes() or shell.leftovers()) and time.monotonic() - begin < patience:
        time.sleep(0.005)
    assert (shell.processes(), shell.leftovers()) == ({}, [])
    assert code == (137 if number == signal.SIGKILL else CODES[signal.Signals(number)])
    assert is_prompt(shell, seconds)
    assert "Traceback" not in err


def test_signal_before_the_run_exists_ends_the_command(shell: Shell) -> None:
    process = start(shell, {})
    process.terminate()
    code, _, _, _ = finish(process)
    assert code == 143


def test_partial_results_are_printed_and_exported(shell: Shell, tmp_path: Path) -> None:
    target = tmp_path / "cut.json"
    process = start(shell, {"latency_us": 300}, *FAKE, *CUT, "-b", "1,2", "-x", str(target))
    shell.wait_for("execution_done", n=2)
    process.send_signal(signal.SIGINT)
    code, out, _, _ = finish(process)
    assert code == 130
    assert "µs" in out.splitlines()[-1] or "ms" in out.splitlines()[-1]
    document = load(target.read_text(encoding="ascii"))["tuibench"]
    assert document["status"] == "cancelled"
    assert {c["status"] for c in document["cells"]} <= {"partial", "skipped"}
    assert any(c["executions"] for c in document["cells"])
    assert all("cancelled" in c["stopped_by"] for c in document["cells"])


def test_second_signal_does_not_disturb_the_shutdown(shell: Shell) -> None:
    process = to_the_next_execution(shell)
    process.send_signal(signal.SIGINT)
    process.send_signal(signal.SIGTERM)
    process.send_signal(signal.SIGINT)
    code, out, err, _ = finish(process)
    assert code in (130, 143)
    assert out and "Traceback" not in err


@pytest.mark.parametrize(
    ("stage", "words"),
    [
        (to_the_inputs, "before the run was planned"),
        (to_the_next_execution, "interrupted"),
        (to_streams_of_their_own, "interrupted"),
    ],
    ids=lambda value: getattr(value, "__name__", "words"),
)
def test_dead_runner_is_named_and_leaves_no_worker(shell: Shell, stage: Start, words: str) -> None:
    process = stage(shell)
    for pid in shell.pids("tuibench.runner"):
        os.kill(pid, signal.SIGKILL)
    code, out, err, seconds = finish(process)
    until(lambda: not shell.processes(), "no process")
    assert code == 1
    assert "runner died by SIGKILL" in err and words in err
    assert "Traceback" not in err
    assert is_prompt(shell, seconds)
    if stage is to_the_next_execution:
        assert "ms" in out.splitlines()[-1]


def test_worker_killed_from_outside_is_retried_once(shell: Shell) -> None:
    process = start(shell, {"latency_us": 300}, *FAKE, "--executions", "2", "-t", "1", "-w", "0.05", "--json")
    shell.wait_for("progress", phase="timed")
    for pid in shell.pids("tuibench.worker.main"):
        os.kill(pid, signal.SIGKILL)
    code, out, err, _ = finish(process)
    assert code == 0
    document = load(out)["tuibench"]
    assert len(document["cells"][0]["executions"]) == 2
    assert document["warnings"] == ["the worker died by SIGKILL while timing; repeated once"]
    assert "SIGKILL while timing; repeated once" in err


@pytest.mark.slow
def test_ctrl_c_in_a_terminal_reaches_only_the_shell(shell: Shell) -> None:
    process = start(shell, {"latency_us": 300}, *FAKE, *CUT, start_new_session=True)
    shell.wait_for("execution_done")
    os.killpg(process.pid, signal.SIGINT)
    code, out, err, seconds = finish(process)
    assert code == 130 and out
    assert "Traceback" not in err and is_prompt(shell, seconds)


@pytest.mark.slow
def test_interrupt_ignored_by_nohup_stays_ignored(shell: Shell) -> None:
    def ignore() -> None:
        for number in (signal.SIGINT, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)

    process = start(shell, {"latency_us": 300}, *FAKE, "--executions", "2", "-t", "1", "-w", "0.05", before=ignore)
    shell.wait_for("progress", phase="timed")
    process.send_signal(signal.SIGINT)
    process.send_signal(signal.SIGHUP)
    code, out, _, _ = finish(process)
    assert code == 0 and "ms" in out.splitlines()[-1]


def test_closed_stdout_exits_141_after_the_export(shell: Shell, tmp_path: Path) -> None:
    target = tmp_path / "out.json"
    reader, writer = os.pipe()
    os.close(reader)
    flags = ("--executions", "1", "-t", "0.05", "-w", "0.05", "-x", str(target))
    process = start(shell, {}, *FAKE, *flags, stdout=writer)
    os.close(writer)
    _, err = process.communicate(timeout=30)
    assert process.returncode == 141
    assert b"Traceback" not in err and b"Exception ignored" not in err
    load(target.read_text(encoding="ascii"))


def test_version_into_a_closed_pipe_exits_141(shell: Shell) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    process = shell.start("--version", stdout=writer)
    os.close(writer)
    _, err = process.communicate(timeout=30)
    assert (process.returncode, err) == (141, b"")
