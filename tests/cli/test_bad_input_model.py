"""Missing, broken and malicious models: one or two lines, the right exit code, no files left behind."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from tests.cli import bad_model
from tests.cli.shell import Done, Shell
from tests.cli.test_end_to_end_sweep import load
from tests.engines.make import mlp

SYNC = ("-s", "sync", "-ncores", "1")
CONTROLS = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")


def hold_a_refusal(done: Done, code: int, words: str) -> None:
    """Require an empty stdout and one or two lines on stderr with the cause and a hint."""
    assert done.code == code, done.err
    assert done.out == ""
    lines = done.err.splitlines()
    assert 1 <= len(lines) <= 2 and lines[0].startswith("tuibench: ")
    assert words in done.err
    assert not CONTROLS.search(done.err)


REFUSED = {
    "missing": (bad_model.missing, "no such file"),
    "a directory without a model": (bad_model.hollow, "is a directory without a model.onnx"),
    "truncated": (bad_model.truncated, "truncated, damaged or something else"),
    "fifo": (bad_model.fifo, "is a pipe, not a file"),
    "an endless device": (bad_model.endless, "is a device, not a file"),
    "a dangling link": (bad_model.dangling, "no such file"),
    "escaping external data": (bad_model.external("../outside.bin"), "outside its own directory"),
}
"""One file for each way of a refusal to the shell; tests/model has every cause."""


@pytest.mark.parametrize("name", REFUSED)
def test_file_that_is_no_model_is_refused_before_running(shell: Shell, folder: Path, name: str) -> None:
    make, words = REFUSED[name]
    hold_a_refusal(shell.benchmark(str(make(folder)), *SYNC), 3, words)


BROKEN = {
    "future opset": (bad_model.future_opset, 3, "load", "999"),
    "unknown operator": (bad_model.unknown_operator, 3, "load", "Frobnicate"),
    "unknown domain": (bad_model.unknown_domain, 3, "load", "MyOp"),
    "no outputs": (bad_model.no_outputs, 1, "first", "output"),
    "a hundred gigabytes": (bad_model.hundred_gigabytes, 1, "first", "out of memory"),
    "SIGFPE": (bad_model.divides_by_minus_one, 1, "first", "SIGFPE"),
}

QUICK = ("future opset", "no outputs", "a hundred gigabytes", "SIGFPE")


@pytest.mark.parametrize("name", [pytest.param(n, marks=() if n in QUICK else pytest.mark.slow) for n in BROKEN])
def test_model_the_engine_cannot_run_fails_its_cell_with_reason(shell: Shell, folder: Path, name: str) -> None:
    make, code, phase, words = BROKEN[name]
    target = folder / "out.json"
    done = shell.benchmark(str(make(folder)), *SYNC, "-x", str(target))
    assert done.code == code, done.err
    where = {"first": "the first inference", "load": "load"}[phase]
    assert words in done.lines[-1] and f" in {where}" in done.lines[-1]
    assert len(done.lines[-1]) < 400
    assert "Traceback" not in done.err + done.out and not CONTROLS.search(done.err + done.out)
    failure = load(target.read_text(encoding="ascii"))["tuibench"]["cells"][0]["failure"]
    assert failure["phase"] == phase
    assert failure["log_tail"] is None or not failure["log_tail"].startswith("\\e")


SHORT_FIRST = """
from tuibench.runs.schedule import LIMITS_S
LIMITS_S["first"] = 1.0
"""


def test_endless_loop_is_a_timeout(shell: Shell, folder: Path) -> None:
    # The other phases keep their limits: a busy machine needs time to start a process and read a model.
    (folder / "sitecustomize.py").write_text(SHORT_FIRST, encoding="ascii")
    env = {"PYTHONPATH": os.pathsep.join([str(folder), os.environ["PYTHONPATH"]])}
    done = shell.benchmark(str(bad_model.endless_loop(folder)), *SYNC, env=env)
    assert done.code == 5, done.out + done.err
    assert "timeout" in done.lines[-1]


@pytest.mark.parametrize("name", bad_model.HOSTILE)
def test_model_names_cannot_drive_the_terminal(shell: Shell, folder: Path, name: str) -> None:
    path = bad_model.hostile_names(bad_model.HOSTILE[name])(folder)
    done = shell.run("benchmark", str(path), *SYNC, "--executions", "1", "-t", "0.05", "-w", "0.05")
    assert done.code == 0, done.err
    assert not CONTROLS.search(done.out + done.err)
    if name == "markup":
        assert "[red]x[/]" in done.err and "[link=file:///etc]" in done.err


def test_name_that_is_not_utf8_is_never_printed_raw(shell: Shell, folder: Path) -> None:
    done = shell.benchmark(str(bad_model.invalid_utf8(folder)), *SYNC)
    assert done.code in (0, 3), done.err
    assert "Traceback" not in done.err
    assert not CONTROLS.search(done.out + done.err)
    assert not re.search("[\udc80-\udcff]", done.out + done.err)


def test_path_that_is_not_utf8_is_refused(shell: Shell, folder: Path) -> None:
    strange = os.path.join(os.fsencode(folder), b"\xff\x9b1m.onnx")
    os.rename(mlp().save(folder), strange)
    done = shell.benchmark(os.fsdecode(strange), *SYNC)
    hold_a_refusal(done, 3, "\\xff\\x9b1m.onnx is not valid UTF-8")


@pytest.mark.slow
def test_model_file_is_not_modified(shell: Shell, folder: Path) -> None:
    path = Path(mlp().save(folder))
    before = (path.read_bytes(), path.stat().st_mtime_ns, os.listdir(folder))
    assert shell.benchmark(str(path), *SYNC).code == 0
    assert (path.read_bytes(), path.stat().st_mtime_ns, os.listdir(folder)) == before
