"""Every end of a worker is reported truly, and the next one runs; each worker here is a real process."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest

from tests.build import make_cell, make_job
from tuibench.core.cell import Execution
from tuibench.core.reason import Failure, because
from tuibench.present.reason import reason_words
from tuibench.runs import supervision
from tuibench.runs.schedule import LIMITS_S
from tuibench.runs.supervision import Bounds, OutOfTime, Supervision
from tuibench.runs.task import Cancelled, StopSwitch
from tuibench.stats.samples import read_samples
from tuibench.worker.bundle import write_bundle
from tuibench.worker.job import find_assertion

NEVER_OVER_S = 60.0
"""Execution time of workers that fail earlier: long enough for the failing call on a busy machine."""

Run = Callable[..., Execution | Failure]


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    """Two samples of one small input."""
    path = tmp_path / "inputs.npz"
    write_bundle(path, [{"x": np.full((2,), i, dtype=np.float32)} for i in range(2)])
    return path


@pytest.fixture
def run(tmp_path: Path, bundle: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Return a function that runs one execution of the fake engine by a script."""

    def carry_out(
        script: Mapping[str, Any],
        *,
        listen: Callable[[Mapping[str, Any]], None] = lambda frame: None,
        stop: StopSwitch | None = None,
        bounds: Bounds | None = None,
        **changes: Any,
    ) -> Execution | Failure:
        monkeypatch.setenv("TUIBENCH_FAKE", json.dumps({"default": script}))
        job = make_job(tmp_path, Path(changes.pop("bundle", bundle)), **changes)
        return Supervision(job, bounds or Bounds(1.0, None), stop or StopSwitch(), listen, 100).carry_out()

    return carry_out


def test_good_execution_returns_its_timings(run: Run) -> None:
    result = run({"latency_us": 500}, timed_s=0.2)
    assert isinstance(result, Execution)
    assert 0.5e6 <= result.p50_ns < 1.5e6
    assert result.iterations >= 10
    assert result.used.cpus == (min(os.sched_getaffinity(0)),)
    assert result.samples.file is not None
    samples = read_samples(Path(result.samples.file))
    assert len(samples) == result.samples.kept == result.iterations
    assert result.percentiles_ns["50.0"] == pytest.approx(float(np.median(samples)))


@pytest.mark.parametrize(
    ("script", "kind", "phase", "words"),
    [
        ({"load": "segv"}, "signal", "load", "SIGSEGV"),
        ({"first": "fpe"}, "signal", "first", "SIGFPE"),
        ({"latency_us": 50, "timed": "kill", "after": 20}, "signal", "timed", "SIGKILL"),
        ({"load": "exit"}, "exit", "load", "code 0"),
        ({"first": "oom"}, "memory", "first", "out of memory"),
        ({"load": "refuse"}, "refused", "load", "refuse"),
        ({"first": "raise"}, "exception", "first", "raise"),
        ({"first": "stderr"}, "exit", "first", "code 7"),
    ],
)
def test_every_kind_of_end_is_a_failure_with_its_reason(
    run: Run, script: dict[str, Any], kind: str, phase: str, words: str
) -> None:
    failure = run(script)
    assert isinstance(failure, Failure)
    assert (failure.kind, failure.phase) == (kind, phase)
    assert words in reason_words(failure.message)
    assert isinstance(run({}), Execution)


def test_files_of_an_engine_stay_out_of_the_users_directory(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "users").mkdir()
    monkeypatch.chdir(tmp_path / "users")
    assert isinstance(run({"load": "litter"}), Execution)
    assert os.listdir(tmp_path / "users") == [] and (tmp_path / "litter").exists()


@pytest.mark.parametrize("phase", ["load", "first", "timed"])
def test_output_of_a_library_never_reaches_the_frames(run: Run, phase: str) -> None:
    assert isinstance(run({"latency_us": 500, phase: "print"}), Execution)


def test_megabyte_on_stderr_does_not_block_and_last_line_is_shown(run: Run) -> None:
    failure = run({"first": "stderr"})
    assert isinstance(failure, Failure)
    assert failure.log_tail == "the last line of noise"


@pytest.mark.parametrize("act", ["hang", "deaf-hang"])
def test_hang_ends_at_its_limit_when_sigterm_is_ignored(run: Run, act: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(supervision, "_GRACE_S", 0.2)
    # The limit of this phase only: a busy machine may need time to start the process.
    monkeypatch.setitem(LIMITS_S, "first", 0.6)
    failure = run({"first": act})
    assert isinstance(failure, Failure)
    assert (failure.kind, failure.phase) == ("timeout", "first")
    assert not [
        p for p in psutil.Process().children(recursive=True) if p.status() != psutil.STATUS_ZOMBIE and _is_worker(p)
    ]


def test_cancel_ends_the_worker_at_once(run: Run) -> None:
    stop = StopSwitch()

    def trip(frame: Mapping[str, Any]) -> None:
        if frame["f"] == "phase" and frame["phase"] == "first":
            stop.trip(because("signal", signal="SIGTERM"))

    with pytest.raises(Cancelled, match="signal"):
        run({"first": "deaf-hang"}, listen=trip, stop=stop)
    assert not [p for p in psutil.Process().children(recursive=True) if _is_worker(p)]


def test_only_the_standard_library_is_loaded_before_the_engine(run: Run) -> None:
    frames: list[Mapping[str, Any]] = []
    assert isinstance(run({}, listen=frames.append), Execution)
    (modules,) = [frame["names"] for frame in frames if frame["f"] == "modules"]
    roots = {name.partition(".")[0] for name in modules}
    assert not roots & {"numpy", "onnx", "onnxruntime", "openvino", "psutil", "rich", "textual", "tinydb", "cpuinfo"}
    ours = {name for name in modules if name.startswith("tuibench.")}
    assert not [n for n in ours if n.split(".")[1] in ("runs", "cli", "report", "model", "store", "services")]


def test_streams_below_a_millisecond_are_processes_and_above_threads(run: Run) -> None:
    cell = make_cell(scenario="async", streams=2)
    fast = run({"latency_us": 300}, cell=cell, streams=2)
    assert isinstance(fast, Execution), fast
    assert (fast.used.stream_kind, fast.used.streams) == ("processes", 2)
    slow = run({"latency_us": 1500}, cell=cell, streams=2)
    assert isinstance(slow, Execution), slow
    assert (slow.used.stream_kind, slow.used.streams) == ("threads", 2)


def test_crash_in_a_stream_thread_fails_that_execution(run: Run) -> None:
    cell = make_cell(scenario="async", streams=2)
    failure = run({"latency_us": 1500, "timed": "raise", "after": 12}, cell=cell, streams=2, timed_s=NEVER_OVER_S)
    assert isinstance(failure, Failure)
    assert "raise" in reason_words(failure.message)


def _is_worker(process: psutil.Process) -> bool:
    try:
        return "tuibench.worker.main" in " ".join(process.cmdline())
    except psutil.Error:
        return False


def test_io_class_that_fails_while_timing_is_replaced_by_the_next(run: Run) -> None:
    breaking = {"latency_us": 50, "bound": {"timed": "raise", "after": 40}}
    result = run(breaking)
    assert isinstance(result, Execution), result
    assert result.used.io == "engine-allocated"
    asked = run(breaking, io="bound", timed_s=NEVER_OVER_S)
    assert isinstance(asked, Failure), "a class that was asked for is not exchanged"


def test_every_stream_has_the_time_limit_of_a_load(run: Run) -> None:
    frames: list[Mapping[str, Any]] = []
    cell = make_cell(scenario="async", streams=4)
    assert isinstance(run({"latency_us": 1500}, cell=cell, streams=4, listen=frames.append), Execution)
    phases = [f["phase"] for f in frames if f["f"] == "phase"]
    assert phases == ["start", "load", "first", "check", "load", "load", "load", "timed"]


def test_inputs_do_not_count_as_the_models_memory(run: Run, tmp_path: Path) -> None:
    large = tmp_path / "large.npz"
    write_bundle(large, [{"x": np.full((4_000_000,), i, dtype=np.float32)} for i in range(4)])
    result = run({"latency_us": 500}, bundle=str(large))
    assert isinstance(result, Execution), result
    assert result.memory_bytes["inputs"] == 4 * 16_000_000
    assert result.memory_bytes["peak"] < 16_000_000
    assert {"load", "first", "bind", "warm", "timed"} <= set(result.memory_bytes)


def test_failed_stream_process_reports_its_own_reason(run: Run) -> None:
    cell = make_cell(scenario="async", streams=2)
    failure = run({"latency_us": 300, "timed": "raise", "after": 20}, cell=cell, streams=2, timed_s=NEVER_OVER_S)
    assert isinstance(failure, Failure), failure
    assert "raise" in reason_words(failure.message)


def test_extension_reaches_the_current_execution(run: Run) -> None:
    bounds = Bounds(1.0, float("inf"))
    seen: list[float] = []

    def listen(frame: Mapping[str, Any]) -> None:
        if frame["f"] == "phase" and frame["phase"] == "timed":
            # The command's time ends during the timed part, and an extension arrives before that.
            bounds.deadline = time.monotonic() + 0.1
            stop._hear_knocking(0, None)

    def beat() -> None:
        seen.append(bounds.deadline or 0.0)
        bounds.extend(100.0)

    stop = StopSwitch()
    stop.beat_with(beat)
    assert isinstance(run({}, bounds=bounds, listen=listen, stop=stop, timed_s=0.3), Execution)
    assert len(seen) == 1

    def cut(frame: Mapping[str, Any]) -> None:
        if frame["f"] == "phase" and frame["phase"] == "timed":
            bounds.deadline = time.monotonic() + 0.1

    with pytest.raises(OutOfTime):
        run({}, bounds=bounds, listen=cut, timed_s=NEVER_OVER_S)


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        ("F20261120 12:56:19.322582  5572 gather.cpp:98] Not support gather", "Not support gather"),
        ("Assertion at ./planner.hpp:120", "Assertion at ./planner.hpp:120"),
        ("W20261120 12:56:19.322582  5572 gather.cpp:98] slow", ""),
    ],
)
def test_line_in_which_a_library_says_why_it_ends_is_found(tmp_path: Path, line: str, meant: str) -> None:
    log = tmp_path / "worker.log"
    log.write_text(f"loading\n{line}\n*** Check failure stack trace: ***\n")
    assert find_assertion(str(log)) == meant
