"""Run control by the desk: finish, resume, save."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from tests.cli.shell import until
from tests.services.script import ScriptedRun
from tests.store.data import make_small
from tests.tui.test_bridge_start import HANGING, bridge, brief, follow, model, project
from tuibench.core import activity
from tuibench.core.errors import UsageError
from tuibench.core.stored import Metadata
from tuibench.services.api import Services
from tuibench.tui.bridge import Bridge

__all__ = ["bridge", "model", "project"]


def test_run_is_ended_by_desk(bridge: Bridge, project: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TUIBENCH_FAKE", HANGING)
    start = bridge.form(project=project)
    run, _ = bridge.start(brief(start), project)
    other, _ = bridge.start(brief(start), project)
    waiting = until(lambda: row if (row := find(bridge, other)) and row.holder is not None else None, "a queue")
    assert (waiting.state, waiting.place) == (activity.WAITING, 1)
    assert run[-4:].lower() in bridge.check_form(start.values, start.summary).busy
    with pytest.raises(UsageError):
        bridge.finish(other)
    with pytest.raises(UsageError):
        bridge.extend(run)
    assert bridge.cancel(other) == f"{other[-4:].lower()}: cancelled, nothing was measured"
    assert bridge.finish(run) == f"{run[-4:].lower()}: the execution that goes on is the last"
    assert "nothing was measured" in bridge.cancel(run)
    assert bridge.pulse().runs == ()


def find(bridge: Bridge, run: str) -> activity.RunInfo | None:
    return next((row.info for row in bridge.pulse().runs if row.info.id == run), None)


def test_interrupted_run_resumes_and_saves_outside_this_process(bridge: Bridge, project: str) -> None:
    run, _ = bridge.start(brief(bridge.form(project=project), flags="--executions 40", time_s="2"), project)
    info = until(lambda: found if (found := find(bridge, run)) and found.executions else None, "an execution")
    assert info.pid is not None
    os.kill(info.pid, signal.SIGKILL)
    broken = until(lambda: found if (found := find(bridge, run)) and found.resumable else None, "the end of its runner")
    assert broken.state == activity.INTERRUPTED
    assert bridge.resume(run, finish=True) == run
    view = follow(bridge, run)
    assert (view.status, view.saved) == ("interrupted", True)
    assert [row.id for row in bridge.benchmarks(project)] == [run]
    assert bridge.pulse().runs == ()


def test_run_finished_in_meantime_is_not_reported_active(
    bridge: Bridge, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = ScriptedRun(home / "tuibench" / "state" / "runs")
    run.hold()
    run.begin(pid=None, host_id="")
    run.plan()
    Services().store.benchmarks.add(make_small(1), Metadata())
    monkeypatch.setattr("tuibench.services.control._knock", lambda *_: run.end(saved=True))
    assert bridge.finish(run.id) == "0001 has ended meanwhile: it is finished"
