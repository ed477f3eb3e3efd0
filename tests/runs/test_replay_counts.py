from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.services.script import ScriptedRun
from tuibench.runs.journal import read_events
from tuibench.runs.replay import Replay, replay


def written(tmp_path: Path) -> ScriptedRun:
    """A run with every event that changes a count."""
    run = ScriptedRun(tmp_path, cells=4)
    run.begin()
    run.plan()
    for n in (1, 2, 3):
        run.done(0, n)
    run.done(0, -1, anchor=True)
    run.finish(0)
    run.fail(1)
    run.done(2, 1)
    run.say("warning", cell=run.cells[2].key, keep_io="call", message="measured anew")
    run.say("sitting", boot_id="c" * 36, pid=3, started_utc="2026-11-18T11:00:00Z")
    run.progress(3, eta_s=12.0)
    run.done(3, 1)
    run.say("execution_done", cell="feedfeedfeed", n=1, round=1, anchor=False, wall_s=1.0, result={})
    return run


def test_counts_equal_those_of_a_full_replay(tmp_path: Path) -> None:
    run = written(tmp_path)
    counting = Replay(counts_only=True)
    for number, event in enumerate(read_events(run.directory.path)):
        counting.take(event)
        events = list(read_events(run.directory.path))[: number + 1]
        assert counting.counts == replay(events).counts
    assert counting.counts == {"cells": 4, "cells_done": 2, "executions": 4}
    assert counting.latest["eta_s"] == 12.0
    assert (counting.pid, counting.boot_id) == (3, "c" * 36)


def test_counting_builds_no_execution(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = written(tmp_path)

    def refuse(_: Any) -> Any:
        raise AssertionError("an execution was built")

    monkeypatch.setattr("tuibench.runs.replay._EXECUTION", refuse)
    counting = Replay(counts_only=True)
    for event in read_events(run.directory.path):
        counting.take(event)
    assert counting.counts["executions"] == 4
