"""A watched run that is extended or finished early: its view at each step."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path
from typing import Any

import pytest

from tests.build import make_cell, make_execution, make_spec
from tests.services.script import SUMMARY
from tuibench.core.model import Point, Reference
from tuibench.core.reason import Reason, because
from tuibench.core.record import to_plain
from tuibench.core.spec import Limits
from tuibench.present.reason import all_words
from tuibench.runs.directory import RunDirectory
from tuibench.runs.journal import Journal
from tuibench.runs.observer import StateContext
from tuibench.services.run_view import RunWatch

RUN, WISH = "01M7QJXH866DK1S3FNRAFAA4P6", "01M7QJXH866DK1S3FNRAFAA4P7"
SPEC = make_spec(Path("/m.onnx"), limits=Limits(max_time_s=100.0))


def test_finished_cell_continues_after_an_extension(tmp_path: Path) -> None:
    directory = RunDirectory(tmp_path / RUN)
    directory.make({"id": RUN, "spec": to_plain(SPEC)})
    lock = os.open(directory.path / "runner.lock", os.O_RDWR | os.O_CREAT, 0o600)
    fcntl.flock(lock, fcntl.LOCK_EX)
    journal, cell = Journal(directory.path), make_cell("p0")
    point = Point("p0", 0, 1, 1, {}, {}, (), None, 1, Reference(None, None, None))
    journal.append("run_start", run=RUN, spec=to_plain(SPEC), started_utc="2026-11-18T10:00:00Z", pid=os.getpid())
    journal.append("plan", models=[to_plain(SUMMARY)], points=[to_plain(point)], cells=[to_plain(cell)])
    at: dict[str, Any] = {"cell": cell.key, "n": 1, "round": 1, "anchor": False}
    journal.append("execution_start", **at)
    journal.append("execution_done", **at, wall_s=1.0, result=to_plain(make_execution()))
    journal.append("cell_done", cell=cell.key, stopped_by="the most allowed", pooled=None)
    watch = RunWatch(directory, lambda: StateContext("", ""))
    before = watch.look()
    assert [c.status for c in before.cells] == ["ok"]
    assert before.limit_s == pytest.approx(10.0)
    bounds = {cell.key: {"limit_s": 31.0, "executions": 12}}
    journal.append("extended", wish=WISH, limit_s=30.0, executions=6, cells=bounds)
    after = watch.look()
    assert [(c.status, c.stopped_by) for c in after.cells] == [("partial", because("measuring", executions=1))]
    assert after.limit_s == pytest.approx(40.0)
    words = "more time on request: 30 s and up to 6 executions more per cell"
    assert all_words(after.warnings) == (words,)
    assert after.log[-1].endswith(f"{words}, for 1 cell")
    journal.append("finish_asked")
    assert watch.look().info.detail == because("finishing", is_profile=False)
    journal.append("cell_done", cell=cell.key, stopped_by="finished on request after 1 execution", pooled=None)
    journal.append("run_end", status="finished", reason="finished on request", saved=True)
    os.close(lock)
    end = watch.look()
    assert (end.status, end.reason, [c.status for c in end.cells]) == (
        "finished",
        Reason("finished_on_request"),
        ["ok"],
    )
