from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest

from tests.build import make_cell, make_execution, make_spec
from tests.cli.shell import Shell
from tests.engines.make import mlp
from tuibench.cli import benchmark
from tuibench.cli.request import BenchmarkRequest
from tuibench.core.errors import TuibenchError
from tuibench.core.model import Point, Reference
from tuibench.core.record import to_plain
from tuibench.report.progress import Snapshot
from tuibench.runs.replay import Replay
from tuibench.workbench import ActiveRun, Workbench


@pytest.mark.parametrize(("name", "code"), [("nope", 4), ("deepsparse", 2)])
@pytest.mark.parametrize("dry_run", [False, True])
def test_an_engine_that_is_not_here_is_refused_before_anything_starts(
    name: str, code: int, dry_run: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    def start(*_: object, **__: object) -> None:
        raise AssertionError("a runner was started")

    monkeypatch.setattr(Workbench, "start_benchmark", start)
    with pytest.raises(TuibenchError) as caught:
        benchmark.run(BenchmarkRequest(("sample:tiny",), engines=f"onnxruntime,{name}", dry_run=dry_run))
    assert caught.value.exit_code == code


class Run:
    """A run whose events are all there already."""

    def __init__(self, events: list[dict[str, Any]]) -> None:
        self.replay = Replay()
        self._events = [{"seq": n, "t_ns": n, **event} for n, event in enumerate(events)]

    def events(self) -> Iterator[list[dict[str, Any]]]:
        for event in self._events:
            self.replay.take(event)
            yield [event]


class Recorder:
    """What would be painted."""

    def __init__(self, *_: object) -> None:
        self.snapshots: list[Snapshot] = []
        self.lines: list[str] = []

    def update(self, snapshot: Snapshot) -> None:
        self.snapshots.append(snapshot)

    def cell_done(self, text: str) -> None:
        self.lines.append(text)

    def say(self, text: str) -> None:
        self.lines.append(text)

    def write(self, text: str) -> None:
        self.lines += text.splitlines()

    def clear(self) -> None:
        self.lines.append("")


def watch(monkeypatch: pytest.MonkeyPatch, *events: dict[str, Any]) -> Recorder:
    """What the view makes of a run of two cells."""
    monkeypatch.setattr(benchmark, "ProgressPainter", Recorder)
    cells = [make_cell("p0", engine=engine) for engine in ("fake", "openvino")]
    point = Point("p0", 0, 1, 1, {}, {}, (), None, 1, Reference(None, None, None))
    spec = make_spec(Path("/m.onnx"), engines=("fake", "openvino"))
    head = [
        {"ev": "run_start", "spec": to_plain(spec)},
        {"ev": "plan", "models": [], "points": [to_plain(point)], "cells": to_plain(cells)},
    ]
    keys = [cell.key for cell in cells]
    tail = [{**event, "cell": keys[event["cell"]]} for event in events]
    view = benchmark._View(BenchmarkRequest(("m",)), spec, (0,), (), cast(ActiveRun, Run([*head, *tail])))
    view.watch()
    return cast(Recorder, view.painter)


MEASURED = {"ev": "execution_done", "cell": 0, "round": 1, "result": to_plain(make_execution())}
DONE = {"ev": "cell_done", "cell": 0, "stopped_by": "asked executions done"}
AGAIN = {"ev": "warning", "cell": 0, "restart": True, "message": "measured anew"}
LOOK = {"ev": "progress", "cell": 1, "phase": "check"}


def test_a_cell_that_is_measured_anew_counts_once(monkeypatch: pytest.MonkeyPatch) -> None:
    painted = watch(monkeypatch, MEASURED, DONE, AGAIN, MEASURED, DONE, LOOK)
    last = painted.snapshots[-1]
    assert (last.done, last.cells) == (1, 2)
    assert (last.label, last.activity) == ("openvino, sync, 1 core, batch 1", "checking outputs")


def test_a_line_without_an_interval_has_no_gap_before_its_comma(monkeypatch: pytest.MonkeyPatch) -> None:
    painted = watch(monkeypatch, MEASURED, DONE)
    assert "fake, sync, 1 core, batch 1: 1.00 ms, grade A (asked executions done)" in painted.lines


@pytest.mark.parametrize(("batches", "code"), [("2", 3), ("1,2", 1), ("1", 0)])
def test_a_dry_run_of_what_must_fail_fails(shell: Shell, folder: Path, batches: str, code: int) -> None:
    flags = ("-s", "sync", "-ncores", "1", "-b", batches, "--dry-run")
    done = shell.run("benchmark", mlp().save(folder), *flags)
    assert done.code == code, done.err
    assert ("failed in making inputs: " in done.out) == (code > 0)
    assert done.lines[1].startswith("1 ") == ("memory: " in done.out) == (code < 3)


def test_a_dry_run_as_json_is_one_object_on_stdout(shell: Shell) -> None:
    done = shell.run("benchmark", "sample:tiny", "-s", "sync", "-ncores", "1", "-b", "1,2", "--dry-run", "--json")
    assert done.code == 0, done.err
    loaded = json.loads(done.out)
    assert (loaded["schema"], len(loaded["cells"]), sorted(loaded["order"])) == (
        1, 2, sorted(cell["key"] for cell in loaded["cells"]),
    )  # fmt: skip
