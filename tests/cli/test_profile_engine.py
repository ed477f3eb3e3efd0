"""A whole profile by an engine known only to the registry: from its table to its resume."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

import pytest

from tests.cli.running import runner_of, state
from tests.cli.shell import Shell, until
from tests.engines.make import mlp
from tuibench.runs.journal import NAME, encode, read_events
from tuibench.services.api import Services

FAKE = ("-e", "fake", "-ncores", "1", "--no-wait")


@pytest.fixture(autouse=True)
def script(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TUIBENCH_FAKE", json.dumps({"default": {"layers": {"MatMul": 900, "Relu": 50}}}))


def test_profile_of_another_engine_reaches_the_table(shell: Shell) -> None:
    shell.save = True
    done = shell.run("profile", "sample:tiny", *FAKE, "--processes", "1", "--json")
    assert done.code == 0, done.err
    performance = json.loads(done.out)["tuibench"]["profile"]["performance"]
    assert (performance["engine"], performance["engine_version"]) == ("fake", "1.0")
    times = {(layer["op"], layer["ms"]["value"]) for layer in performance["layers"] if layer["kind"] == "layer"}
    assert {op: pytest.approx(ms) for op, ms in times} == {"MatMul": 0.9, "Relu": 0.05, "Add": 0.01}
    assert performance["roofline"] is None and performance["zero_effect"] is None
    shown = shell.run("show", "last").out
    assert "Engine: fake 1.0, f32" in shown and "no roof was measured" in shown
    assert "it is not measured with fake" in done.err


def break_off(shell: Shell, model: Path) -> tuple[str, Path]:
    """Kill the runner of a profile that has one process; return its short id and its directory."""
    started = shell.run("profile", str(model), *FAKE, "--processes", "20", "--detach")
    assert started.code == 0, started.err
    shell.wait_for("profile_part", part="layers")
    os.kill(runner_of(shell), signal.SIGKILL)
    until(lambda: not shell.processes(), "no orphan")
    short = started.out.strip()
    until(lambda: state(short) == "interrupted", "the state")
    (directory,) = shell.run_root.iterdir()
    return short, directory


def test_detaching_an_unresumable_profile_is_explained(keeper: Shell, folder: Path) -> None:
    model = Path(mlp().save(folder))
    short, directory = break_off(keeper, model)
    original = model.read_bytes()
    model.write_bytes(original.replace(b"Relu", b"Tanh"))
    changed = keeper.run("resume", short, "--detach")
    assert (changed.code, changed.out) == (3, ""), changed.err
    model.write_bytes(original)
    events = list(read_events(directory))
    events[0]["host"]["kernel"]["release"] = "5.4.0-before"
    (directory / NAME).write_bytes(b"".join(map(encode, events)))
    moved = keeper.run("resume", short, "--detach")
    assert (moved.code, moved.out, "--mixed" in moved.err) == (14, "", True), moved.err
    assert Services().runs.info(short).resumable
    taken = keeper.run("resume", short, "--mixed", "--detach")
    assert (taken.code, taken.out.strip()) == (0, short), taken.err
    assert len(keeper.pids("tuibench.runner")) == 1, "who detaches does not stay to the end"
    assert keeper.run("cancel", short).code == 0
    until(lambda: not keeper.processes(), "no process")


def test_detaching_a_profile_that_fails_after_its_plan_is_explained(keeper: Shell) -> None:
    done = keeper.run("profile", "sample:tiny", *FAKE, "--detach", "--dim", "nonsense=3")
    assert (done.code, done.out, "nonsense" in done.err) == (2, "", True), done.err
