"""Run control by the services: finish, resume, save."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from tests.cli.shell import until
from tests.services.script import ScriptedRun
from tests.services.test_forms import HANGING, brief, follow, model, project, services
from tests.store.data import make_small
from tuibench.core import activity
from tuibench.core.errors import UsageError
from tuibench.core.stored import Metadata
from tuibench.present.outcome import finish_words
from tuibench.services.api import Services

__all__ = ["services", "model", "project"]


def test_run_is_finished_and_cancelled(services: Services, project: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TUIBENCH_FAKE", HANGING)
    start = services.forms.open(project=project)
    run, _ = services.forms.start(brief(start), project)
    other, _ = services.forms.start(brief(start), project)
    waiting = until(lambda: row if (row := find(services, other)) and row.holder is not None else None, "a queue")
    assert (waiting.state, waiting.place) == (activity.WAITING, 1)
    assert run[-4:].lower() in services.forms.check(start.values, start.summary).busy
    with pytest.raises(UsageError):
        services.runs.finish(other)
    with pytest.raises(UsageError):
        services.runs.extend(run)
    ended = services.runs.cancel(other)
    assert (ended.state, ended.executions) == (activity.CANCELLED, 0)
    assert services.runs.finish(run).state == activity.RUNNING
    assert services.runs.cancel(run).executions == 0
    assert services.monitor.look().runs == ()


def find(services: Services, run: str) -> activity.RunInfo | None:
    return next((row.info for row in services.monitor.look().runs if row.info.id == run), None)


def test_interrupted_run_resumes_and_saves_outside_this_process(services: Services, project: str) -> None:
    run, _ = services.forms.start(
        brief(services.forms.open(project=project), flags="--executions 40", time_s="2"), project
    )
    info = until(lambda: found if (found := find(services, run)) and found.executions else None, "an execution")
    assert info.pid is not None
    os.kill(info.pid, signal.SIGKILL)
    broken = until(
        lambda: found if (found := find(services, run)) and found.resumable else None, "the end of its runner"
    )
    assert broken.state == activity.INTERRUPTED
    assert services.runs.resume_detached(run, finish=True) == run
    view = follow(services, run)
    assert (view.status, view.saved) == ("interrupted", True)
    assert [row.id for row in services.library.list(project)] == [run]
    assert services.monitor.look().runs == ()


def test_run_finished_in_meantime_is_not_reported_active(
    services: Services, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = ScriptedRun(home / "tuibench" / "state" / "runs")
    run.hold()
    run.begin(pid=None, host_id="")
    run.plan()
    Services().store.benchmarks.add(make_small(1), Metadata())
    monkeypatch.setattr("tuibench.services.control._knock", lambda *_: run.end(saved=True))
    assert finish_words(services.runs.finish(run.id)) == "0001 has ended meanwhile: it is finished"
