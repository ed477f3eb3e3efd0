"""What pruning leaves of runs: nothing that the store has lost, whatever their journals say."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from tests.build import make_spec
from tests.store.build import make_id, make_result
from tuibench.core.card import Card
from tuibench.core.record import to_plain
from tuibench.runs.directory import RunDirectory, list_runs, prune
from tuibench.runs.journal import NAME, Journal
from tuibench.store.store import Store
from tuibench.workbench.opening import open_store
from tuibench.workbench.saved import Saved

NOW = 2e9
DAY_S = 86_400.0


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return open_store(tmp_path / "data")


def leave(root: Path, number: int, store: Path, *, age_s: float = 0.0, end: dict[str, Any] | None = None) -> str:
    """A run that ended."""
    run = RunDirectory(root / make_id(number))
    run.make({"id": run.id, "spec": to_plain(make_spec(Path("/m.onnx"))), "card": {}, "store": str(store)})
    journal = Journal(run.path)
    journal.append("run_end", **(end or {"status": "finished", "saved": True}))
    journal.close()
    os.utime(run.path / NAME, (NOW - age_s, NOW - age_s))
    return run.id


def left(root: Path) -> set[str]:
    prune(root, NOW, Saved().has)
    return {run.id for run in list_runs(root)}


def test_a_run_whose_record_is_lost_is_kept_however_old_it_is(tmp_path: Path, store: Store) -> None:
    runs, data = tmp_path / "runs", tmp_path / "data"
    runs.mkdir()
    saved, trashed = (store.benchmarks.add(make_result(number), Card(), None).id for number in (1, 2))
    store.trash.remove(benchmarks=[trashed])
    for number in (1, 2, 3):
        leave(runs, number, data, age_s=8 * DAY_S)
    young = leave(runs, 4, data, age_s=DAY_S)
    nothing = leave(runs, 5, data, age_s=8 * DAY_S, end={"status": "cancelled"})
    assert saved == make_id(1) and nothing == make_id(5)
    assert left(runs) == {make_id(3), young}


def test_of_more_than_thirty_only_those_go_that_the_store_has(tmp_path: Path, store: Store) -> None:
    runs, data = tmp_path / "runs", tmp_path / "data"
    runs.mkdir()
    store.benchmarks.add(make_result(1), Card(), None)
    every = {leave(runs, number, data) for number in range(1, 34)}
    assert left(runs) == every - {make_id(1)}


def test_a_store_that_cannot_be_asked_costs_no_run(tmp_path: Path) -> None:
    runs, data = tmp_path / "runs", tmp_path / "data"
    runs.mkdir()
    data.write_bytes(b"")
    old = leave(runs, 1, data, age_s=8 * DAY_S)
    assert left(runs) == {old}
