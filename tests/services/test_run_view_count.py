"""A watched run: each snapshot reads only new lines and rebuilds only changed cells."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.services.script import ScriptedRun
from tuibench.core.machine import Places
from tuibench.runs import journal as journal_module
from tuibench.runs import replay
from tuibench.runs import track as summary
from tuibench.runs.observer import StateContext
from tuibench.runs.replay import Replay
from tuibench.services.opening import open_store
from tuibench.services.run_view import RunWatch
from tuibench.services.runs import Runs
from tuibench.services.settings import Settings

CELLS = 200


@pytest.fixture
def run(tmp_path: Path) -> Iterator[ScriptedRun]:
    """A run of many cells."""
    made = ScriptedRun(tmp_path, cells=CELLS)
    made.hold()
    made.begin(host_id="")
    made.plan()
    yield made
    made.let_go()


@pytest.fixture
def eyes(run: ScriptedRun) -> RunWatch:
    return RunWatch(run.directory, lambda: StateContext("", ""))


def measure(run: ScriptedRun, cell: int) -> None:
    """Write one execution of a cell."""
    run.start(cell, 1)
    run.progress(cell, p50_ms=1.5)
    run.done(cell, 1)


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


def test_snapshot_parses_new_lines_and_rebuilds_changed_cells(
    run: ScriptedRun, eyes: RunWatch, counts: Counter[str]
) -> None:
    first = eyes.look()
    assert counts == {"lines": 2, "cells": CELLS}
    counts.clear()
    measure(run, 7)
    measure(run, 9)
    second = eyes.look()
    assert counts == {"lines": 6, "cells": 2}
    assert [n for n in range(CELLS) if first.cells[n] is not second.cells[n]] == [7, 9]
    counts.clear()
    assert eyes.look() is second and not counts
    run.start(3, 1)
    run.progress(3, p50_ms=2.5, half_width_pct=4.0)
    live = eyes.look().live
    assert live is not None and (live.cell, live.n, live.p50_ms, live.half_width) == (run.cells[3].key, 1, 2.5, 0.04)
    assert counts == {"lines": 2}, "progress between results rebuilds no cell"


def test_opening_an_ended_run_parses_its_journal_once(run: ScriptedRun, counts: Counter[str]) -> None:
    for number in range(5):
        measure(run, number)
    run.end(saved=False, why="the disk is full")
    directory = run.directory.path
    places = Places(*(directory.parent / name for name in ("data", "state", "cache", "config")))
    places.runs.mkdir(parents=True)
    directory.rename(places.runs / run.id)
    runs = Runs(Settings(places, "nobody"), open_store(places.data))
    counts.clear()
    view = runs.watch(run.id).look()
    # The first and last lines are parsed again to identify the host.
    assert len(view.cells) == CELLS and counts["lines"] == 2 + 5 * 3 + 3


def test_pooled_figures_are_computed_after_the_end(run: ScriptedRun, eyes: RunWatch, counts: Counter[str]) -> None:
    measure(run, 7)
    assert eyes.look().cells[7].pooled is None and not counts["pools"]
    run.end("cancelled", reason="cancelled", saved=True)
    ended = eyes.look()
    assert ended.result is not None and ended.cells[7].pooled == ended.result.cells[7].pooled is not None


@pytest.mark.parametrize(("code", "other"), [(14, True), (1, False), (None, False)])
def test_interrupted_run_shows_a_machine_mismatch(
    run: ScriptedRun, eyes: RunWatch, code: int | None, other: bool
) -> None:
    measure(run, 0)
    run.end("interrupted", reason="the anchor execution is slower", exit_code=code)
    view = eyes.look()
    assert (view.status, view.other_machine, view.info.resumable) == ("interrupted", other, True)
