"""Failed cells beside good ones: each has its true reason, and the exit code follows one table."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.cli.shell import SHORT, Shell
from tests.cli.test_end_to_end_sweep import load
from tests.engines import make

SYNC = ("sample:tiny", "-s", "sync", "-ncores", "1")
GOOD: Mapping[str, Any] = {"latency_us": 300}


@pytest.mark.parametrize(
    ("script", "code", "kind", "phase", "words"),
    [
        ({"load": "raise"}, 3, "exception", "load", "scripted failure: raise"),
        pytest.param({"load": "refuse"}, 3, "refused", "load", "scripted failure: refuse", marks=pytest.mark.slow),
        ({"load": "segv"}, 3, "signal", "load", "SIGSEGV"),
        pytest.param({"load": "oom"}, 3, "memory", "load", "out of memory", marks=pytest.mark.slow),
        pytest.param({"load": "hang"}, 5, "timeout", "load", "the phase did not end", marks=pytest.mark.slow),
        pytest.param({"first": "exit"}, 1, "exit", "first", "code 0 and no result", marks=pytest.mark.slow),
        ({"first": "stderr"}, 1, "exit", "first", "code 7"),
        pytest.param({"first": "kill"}, 1, "signal", "first", "SIGKILL", marks=pytest.mark.slow),
        pytest.param({"first": "fpe"}, 1, "signal", "first", "SIGFPE", marks=pytest.mark.slow),
    ],
)
def test_failure_of_the_only_cell_sets_message_and_exit_code(
    shell: Shell, folder: Path, script: dict[str, Any], code: int, kind: str, phase: str, words: str
) -> None:
    target = folder / "out.json"
    # The limit under test is short; the others suffice for a busy machine.
    limit = ("--timeout", "0.05") if "hang" in script.values() else ()
    done = shell.fake({"default": script}, *SYNC, *limit, "-x", str(target))
    assert done.code == code, done.err
    assert words in done.lines[-1]
    assert "Traceback" not in done.err
    failure = load(target.read_text(encoding="ascii"))["tuibench"]["cells"][0]["failure"]
    assert (failure["kind"], failure["phase"]) == (kind, phase)
    if "stderr" in script.values():
        assert failure["log_tail"] == "the last line of noise"


@pytest.mark.parametrize(
    "act",
    [
        {"load": "segv"},
        pytest.param({"first": "raise"}, marks=pytest.mark.slow),
        pytest.param({"timed": "kill", "after": 3}, marks=pytest.mark.slow),
    ],
)
def test_one_bad_cell_leaves_the_good_ones_alone(shell: Shell, folder: Path, act: dict[str, Any]) -> None:
    names = [make.mlp(hidden).save(folder) for hidden in (16, 17, 18)]
    script = {"default": GOOD, "model=mlp17": act}
    done = shell.fake(script, *names, "-s", "sync", "-ncores", "1", "--json")
    assert done.code == 1
    cells = load(done.out)["tuibench"]["cells"]
    assert [c["status"] for c in cells] == ["ok", "failed", "ok"]
    assert all(cells[i]["latency_ms"]["p50"]["value"] == pytest.approx(0.3, rel=0.3) for i in (0, 2))


def test_unreadable_model_leaves_the_others_alone(shell: Shell, folder: Path) -> None:
    (folder / "noise.onnx").write_bytes(os.urandom(2000))
    good = make.mlp().save(folder)
    done = shell.fake({"default": GOOD}, good, str(folder / "noise.onnx"), "-s", "sync", "-ncores", "1", "--json")
    assert done.code == 1
    cells = load(done.out)["tuibench"]["cells"]
    assert [c["status"] for c in cells] == ["ok", "failed"]
    assert "not a readable ONNX model" in cells[1]["failure"]["message"]


def test_repeated_crash_while_timing_keeps_partial_data(shell: Shell, folder: Path) -> None:
    script = folder / "script.json"
    script.write_text(json.dumps({"default": GOOD}), encoding="ascii")
    flags = ("-e", "fake", "--executions", "6", "-t", "1.8", "-w", "0.05", "--json")
    process = shell.start("benchmark", *SYNC, *flags, env={"TUIBENCH_FAKE": str(script)})
    shell.wait_for("execution_done", n=2)
    script.write_text(json.dumps({"default": {**GOOD, "timed": "segv", "after": 20}}), encoding="ascii")
    shell.wait_for("execution_failed")
    out, err = process.communicate(timeout=60)
    assert process.returncode == 1, err
    cell = load(out.decode())["tuibench"]["cells"][0]
    assert cell["status"] == "partial"
    assert len(cell["executions"]) >= 2 and cell["latency_ms"]["p50"]["value"] == pytest.approx(0.3, rel=0.3)
    assert (cell["failure"]["kind"], cell["failure"]["phase"]) == ("signal", "timed")
    assert "SIGSEGV" in cell["failure"]["message"]


@pytest.mark.slow
def test_single_crash_while_timing_is_retried_without_loss(shell: Shell, folder: Path) -> None:
    script = folder / "script.json"
    script.write_text(json.dumps({"default": {**GOOD, "timed": "segv", "after": 20}}), encoding="ascii")
    flags = ("-e", "fake", "--executions", "2", "-t", "0.1", "-w", "0.05", "--json")
    process = shell.start("benchmark", *SYNC, *flags, env={"TUIBENCH_FAKE": str(script)})
    shell.wait_for("execution_failed")
    script.write_text(json.dumps({"default": GOOD}), encoding="ascii")
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    cell = load(out.decode())["tuibench"]["cells"][0]
    assert (cell["status"], cell["failure"], len(cell["executions"])) == ("ok", None, 2)


BLOCK = """
import sys
sys.modules["openvino"] = None
"""


def test_engine_that_is_not_installed_exits_4(shell: Shell, folder: Path) -> None:
    (folder / "sitecustomize.py").write_text(BLOCK, encoding="ascii")
    path = os.pathsep.join([str(folder), os.environ["PYTHONPATH"]])
    done = shell.run("benchmark", *SYNC, "-e", "openvino", *SHORT, env={"PYTHONPATH": path})
    assert done.code == 4, done.out + done.err
    assert "openvino" in done.lines[-1]
    assert "Traceback" not in done.err + done.out
    both = shell.run("benchmark", *SYNC, "-e", "onnxruntime,openvino", *SHORT, "--json", env={"PYTHONPATH": path})
    assert both.code == 1
    assert [c["status"] for c in load(both.out)["tuibench"]["cells"]] == ["ok", "failed"]


def test_settings_not_used_as_asked_are_reported(shell: Shell) -> None:
    done = shell.fake({"default": {**GOOD, "precision": "bf16", "threads": 7}}, *SYNC)
    assert done.code == 0
    assert "Not as Requested: precision requested f32, used bf16" in done.lines
    assert "Not as Requested: threads requested 1, used 7" in done.lines
