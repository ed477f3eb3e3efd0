from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest

from tests.build import make_cell, make_execution, make_spec
from tests.runs.profile_script import COSTS, LOSSY, USUAL, make_profile_spec
from tuibench.cli import view
from tuibench.cli.terminal import Interruption
from tuibench.core.model import Point, Reference
from tuibench.core.profile import LossPoint
from tuibench.core.reason import Failure, Reason, because, error_text
from tuibench.core.record import to_plain
from tuibench.present.progress import Snapshot
from tuibench.runs.replay import Replay
from tuibench.services.active_run import ActiveRun
from tuibench.services.profiles import ProfilePlan


class Run:
    """A run with all its events present."""

    def __init__(self, events: list[dict[str, Any]]) -> None:
        self.replay = Replay()
        self._events = [{"seq": n, "t_ns": n, **event} for n, event in enumerate(events)]

    def events(self) -> Iterator[list[dict[str, Any]]]:
        for event in self._events:
            self.replay.take(event)
            yield [event]


class Recorder:
    """Records the painted lines."""

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


def watch(monkeypatch: pytest.MonkeyPatch, *events: dict[str, Any], failure: Failure | None = None) -> Recorder:
    """Return the view's lines for a run of two cells."""
    monkeypatch.setattr(view, "progress_painter", Recorder)
    cells = [make_cell("p0", engine=engine) for engine in ("fake", "openvino")]
    point = Point("p0", 0, 1, 1, {}, {}, (), None, 1, Reference(None, None, None), failure=failure)
    spec = make_spec(Path("/m.onnx"), engines=("fake", "openvino"))
    head = [
        {"ev": "run_start", "spec": to_plain(spec)},
        {
            "ev": "plan",
            "models": [USUAL["inspect"]({"path": "m"}, print)],
            "points": [to_plain(point)],
            "cells": to_plain(cells),
        },
    ]
    keys = [cell.key for cell in cells]
    tail = [{**event, "cell": None if event["cell"] is None else keys[event["cell"]]} for event in events]
    shown = view.View(cast(ActiveRun, Run([*head, *tail])))
    shown.watch(Interruption())
    return cast(Recorder, shown.painter)


MEASURED = {"ev": "execution_done", "cell": 0, "n": 1, "round": 1, "wall_s": 1.0, "result": to_plain(make_execution())}
DONE = {"ev": "cell_done", "cell": 0, "stopped_by": "asked executions done"}
AGAIN = {"ev": "warning", "cell": 0, "keep_io": "call", "message": "measured anew"}
LOOK = {"ev": "progress", "cell": 1, "phase": "check"}


def test_remeasured_cell_counts_once(monkeypatch: pytest.MonkeyPatch) -> None:
    painted = watch(monkeypatch, MEASURED, DONE, AGAIN, MEASURED, DONE, LOOK)
    last = painted.snapshots[-1]
    assert (last.done, last.cells) == (1, 2)
    assert last.label.startswith("openvino, ") and last.activity


@pytest.mark.parametrize("written", [because("inspecting", model="m.onnx"), "inspecting m.onnx"])
def test_activity_is_shown_in_words_whichever_version_wrote_it(
    monkeypatch: pytest.MonkeyPatch, written: Reason | str
) -> None:
    painted = watch(monkeypatch, {"ev": "progress", "cell": None, "activity": to_plain(written)})
    assert painted.snapshots[-1].activity == "inspecting m.onnx"


def test_plan_counts_the_cells_to_measure(monkeypatch: pytest.MonkeyPatch) -> None:
    assert any(line.startswith("Plan: 2 cells, ") for line in watch(monkeypatch).lines)
    dead = watch(monkeypatch, failure=Failure("inputs", "inputs", error_text("no"))).lines
    assert any(line.startswith("Plan: 0 cells, ") for line in dead)


def test_line_without_interval_has_no_gap_before_its_comma(monkeypatch: pytest.MonkeyPatch) -> None:
    painted = watch(monkeypatch, MEASURED, DONE)
    assert any("1.00 ms" in line for line in painted.lines)


def watch_profile(monkeypatch: pytest.MonkeyPatch, known: bool, *parts: dict[str, Any]) -> list[str]:
    """Return the lines of a loss profile whose duration depends on its costs or its model."""
    monkeypatch.setattr(view, "progress_painter", Recorder)
    spec = make_profile_spec(Path("/m.onnx"), profile=LOSSY)
    point = Point("p0", 0, 1, 1, {}, {}, (), None, 1, Reference(None, None, None))
    head = [
        {"ev": "run_start", "spec": to_plain(spec)},
        {"ev": "plan", "models": [USUAL["inspect"]({"path": "m"}, print)], "points": [to_plain(point)], "cells": []},
    ]

    def plan(run: ActiveRun) -> ProfilePlan:
        told = known or run.replay.parts.costs is not None
        return ProfilePlan(400.0, (), "one inference of 3 ms, guessed") if told else ProfilePlan(None, ())

    events = [{"ev": "profile_part", "n": 0, **part} for part in parts]
    shown = view.View(cast(ActiveRun, Run([*head, *events])), plan=plan)
    shown.watch(Interruption())
    return [line for line in cast(Recorder, shown.painter).lines if line]


COSTED = {"part": "costs", "result": to_plain(COSTS)}
BEGUN = {"part": "loss", "begin": {"points": 4, "ms_each": 500.0}}
CHANGED = {"part": "loss", "id": "conv_out", "level": "int8", "result": to_plain(LossPoint("int8", 30.0, None))}


def test_profile_duration_is_shown_once_before_it_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    about = [
        "Time: about 6m40, from one inference of 3 ms, guessed",
        "That is long; shorter by --budget, fewer levels (--level), fewer --samples, --max-time",
    ]
    for known in (True, False):
        lines = watch_profile(monkeypatch, known, COSTED, COSTED)
        assert [line for line in lines if line.startswith(("Time", "That"))] == about
    lines = watch_profile(monkeypatch, True)
    assert lines[-3].startswith("Plan: costs by shapes") and lines[-2:] == about


def test_profile_with_unknown_costs_has_an_unknown_duration(monkeypatch: pytest.MonkeyPatch) -> None:
    failure = {"kind": "signal", "phase": "start", "message": "died by SIGSEGV"}
    lines = watch_profile(monkeypatch, False, {"part": "costs", "failure": failure})
    assert lines[-1].startswith("Time: ") and "about" not in lines[-1]


def test_loss_profile_shows_remaining_time_after_a_timed_change(monkeypatch: pytest.MonkeyPatch) -> None:
    done = BEGUN | {"begin": {"points": 1, "ms_each": 500.0}}
    lines = watch_profile(monkeypatch, True, BEGUN, CHANGED, BEGUN, done)
    assert [line.split(" from ")[0].split()[-2:] for line in lines[-2:]] == [["2.0", "s"], ["1.5", "s"]]


def test_active_profile_has_no_estimate_of_its_whole_duration(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = watch_profile(monkeypatch, False, CHANGED, COSTED)
    assert not any(line.startswith("Time") for line in lines)
