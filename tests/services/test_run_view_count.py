"""A watched run: each snapshot reads only new lines and rebuilds only changed cells."""

from __future__ import annotations

import fcntl
import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.build import make_cell, make_execution, make_spec
from tests.services.script import SUMMARY
from tuibench.core.cell import Cell
from tuibench.core.machine import Places
from tuibench.core.model import Point, Reference
from tuibench.core.reason import Reason
from tuibench.core.record import to_plain
from tuibench.runs import journal as journal_module
from tuibench.runs import replay
from tuibench.runs import track as summary
from tuibench.runs.directory import RunDirectory
from tuibench.runs.journal import Journal
from tuibench.runs.observer import StateContext
from tuibench.runs.replay import Replay
from tuibench.services.opening import open_store
from tuibench.services.run_view import RunWatch
from tuibench.services.runs import Runs
from tuibench.services.settings import Settings

RUN = "01M7QJXH866DK1S3FNRAFAA4P6"
CELLS = 200


class Going:
    """A run of many cells that the test writes."""

    def __init__(self, directory: RunDirectory) -> None:
        self.directory = directory
        spec = make_spec(Path("/m.onnx"))
        directory.make({"id": RUN, "spec": to_plain(spec)})
        self.lock = os.open(directory.path / "runner.lock", os.O_RDWR | os.O_CREAT, 0o600)
        fcntl.flock(self.lock, fcntl.LOCK_EX)
        self.journal = Journal(directory.path)
        self.cells = tuple(_cell(n) for n in range(CELLS))
        points = [Point(cell.point, 0, 1, 1, {}, {}, (), None, 1, Reference(None, None, None)) for cell in self.cells]
        self.journal.append("run_start", run=RUN, spec=to_plain(spec), started_utc="2026-11-18T10:00:00Z", pid=1)
        self.journal.append("plan", models=[to_plain(SUMMARY)], points=to_plain(points), cells=to_plain(self.cells))
        self.watch = RunWatch(directory, lambda: StateContext("", ""))

    def measure(self, number: int) -> None:
        """Write one execution of a cell."""
        at: dict[str, Any] = {"cell": self.cells[number].key, "n": 1, "round": 1, "anchor": False}
        self.journal.append("execution_start", **at)
        self.journal.append("progress", cell=at["cell"], round=1, phase="timed", p50_ms=1.5)
        self.journal.append("execution_done", **at, wall_s=1.0, result=to_plain(make_execution()))

    def end(self, **fields: Any) -> None:
        """End the run."""
        self.journal.append("run_end", **fields)
        os.close(self.lock)


@pytest.fixture
def going(tmp_path: Path) -> Iterator[Going]:
    run = Going(RunDirectory(tmp_path / RUN))
    yield run
    run.journal.close()


def _cell(number: int) -> Cell:
    cell = make_cell(f"p{number}")
    asked = replace(cell.asked, cores=number + 1)
    return replace(cell, asked=asked, key=asked.key)


@pytest.fixture
def counts(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Count the parsed lines and the rebuilt cells since the test began."""
    counts = Counter[str]()
    decode, cell, pool = journal_module.decode, Replay.cell, summary.pool

    def counted_decode(line: bytes) -> dict[str, Any] | None:
        counts["lines"] += bool(line)
        return decode(line)

    def counted_pool(*given: Any, **options: Any) -> Any:
        counts["pools"] += 1
        return pool(*given, **options)

    def counted_cell(self: Replay, key: str, **options: Any) -> Any:
        counts["cells"] += 1
        return cell(self, key, **options)

    monkeypatch.setattr(journal_module, "decode", counted_decode)
    monkeypatch.setattr(Replay, "cell", counted_cell)
    monkeypatch.setattr(replay, "pool", counted_pool)
    return counts


def test_snapshot_parses_new_lines_and_rebuilds_changed_cells(going: Going, counts: Counter[str]) -> None:
    first = going.watch.look()
    assert counts == {"lines": 2, "cells": CELLS}
    counts.clear()
    going.measure(7)
    going.measure(9)
    second = going.watch.look()
    assert counts == {"lines": 6, "cells": 2}
    changed = [n for n in range(CELLS) if first.cells[n] is not second.cells[n]]
    assert changed == [7, 9]


def test_opening_an_ended_run_parses_its_journal_once(going: Going, counts: Counter[str]) -> None:
    for number in range(5):
        going.measure(number)
    fields = {"cells": 5, "cells_done": 5, "executions": 5}
    going.end(status="finished", saved=False, why="the disk is full", **fields)
    places = Places(*(going.directory.path.parent / name for name in ("data", "state", "cache", "config")))
    places.runs.mkdir(parents=True)
    going.directory.path.rename(places.runs / RUN)
    runs = Runs(Settings(places, "nobody"), open_store(places.data))
    counts.clear()
    view = runs.watch(RUN).look()
    # The first and last lines are parsed again to identify the host.
    assert len(view.cells) == CELLS and counts["lines"] == 2 + 5 * 3 + 3


def test_pooled_figures_are_computed_after_the_end(going: Going, counts: Counter[str]) -> None:
    going.measure(7)
    assert going.watch.look().cells[7].pooled is None and not counts["pools"]
    going.end(status="cancelled", reason="cancelled", saved=True)
    ended = going.watch.look()
    assert ended.result is not None and ended.cells[7].pooled == ended.result.cells[7].pooled is not None


def test_unchanged_run_returns_the_same_view(going: Going, counts: Counter[str]) -> None:
    going.measure(0)
    before = going.watch.look()
    counts.clear()
    assert going.watch.look() is before and not counts


def test_progress_between_results_rebuilds_no_cell(going: Going, counts: Counter[str]) -> None:
    going.watch.look()
    counts.clear()
    going.journal.append("execution_start", cell=going.cells[3].key, n=1, round=1, anchor=False)
    going.journal.append("progress", cell=going.cells[3].key, round=1, phase="timed", p50_ms=2.5, half_width_pct=4.0)
    live = going.watch.look().live
    assert live is not None and (live.cell, live.n, live.p50_ms, live.half_width) == (going.cells[3].key, 1, 2.5, 0.04)
    assert counts == {"lines": 2}


@pytest.mark.parametrize(("code", "other"), [(14, True), (1, False), (None, False)])
def test_interrupted_run_shows_a_machine_mismatch(going: Going, code: int | None, other: bool) -> None:
    going.measure(0)
    going.end(status="interrupted", reason="the anchor execution is slower", exit_code=code)
    view = going.watch.look()
    assert (view.status, view.other_machine) == ("interrupted", other)
    assert view.info.resumable


def test_silent_death_is_detected_and_a_new_session_is_followed(going: Going) -> None:
    going.measure(0)
    assert going.watch.look().status == ""
    os.close(going.lock)
    dead = going.watch.look()
    assert (dead.status, dead.reason, dead.live) == ("interrupted", Reason("runner_died"), None)
    going.lock = os.open(going.directory.path / "runner.lock", os.O_RDWR)
    fcntl.flock(going.lock, fcntl.LOCK_EX)
    going.journal.append("sitting", started_utc="2026-11-18T11:00:00Z", pid=2, boot_id="")
    going.measure(1)
    again = going.watch.look()
    assert again.status == "" and not again.ended
    assert "taken up again" in "\n".join(again.log)
