"""Several processes write to one store at once; every row and edit is kept, and a killed writer harms no other."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.store.crowd import MACHINE, SHARED
from tests.store.data import make_id, make_small
from tuibench.core.stored import Metadata
from tuibench.store.store import Store


def crowd(root: Path, writers: int, adds: int, kill_at: int = 0) -> dict[str, Any]:
    Store(root, MACHINE).benchmarks.add(make_small(SHARED), Metadata(name="name 0", note="note 0"))
    command = [sys.executable, "-m", "tests.store.crowd", str(root), str(writers), str(adds), str(kill_at)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    summary: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    print(f"{writers} writers x {adds}: {summary['seconds']:.2f} s, slowest {summary['slowest_s'] * 1000:.0f} ms")
    return summary


def hold(root: Path, summary: dict[str, Any]) -> None:
    """Assert that every acknowledged benchmark is listed once and has its record."""
    store = Store(root, MACHINE)
    rows = [row.id for row in store.benchmarks.rows()]
    assert len(rows) == len(set(rows))
    assert set(summary["added"]) <= set(rows)
    for one in summary["added"]:
        assert store.benchmarks.get(one).row.id == one
    metadata = store.benchmarks.get(make_id(SHARED)).metadata
    for field in ("name", "note"):
        counts = [count for what, count in summary["edited"] if what == field]
        assert int(getattr(metadata, field).split()[1]) >= max(counts, default=0)
    report = store.check(read_data=True, repair=True)
    assert [problem for problem in report.problems if problem.kind == "damaged"] == []
    assert Store(root, MACHINE).check(read_data=True).problems == ()


@pytest.mark.parametrize(("writers", "adds"), [pytest.param(2, 100, marks=pytest.mark.slow), (4, 100)])
def test_concurrent_writers_all_find_their_rows(tmp_path: Path, writers: int, adds: int) -> None:
    summary = crowd(tmp_path / "data", writers, adds)
    assert summary["ended"] == [0] * writers
    assert len(summary["added"]) == writers * adds
    hold(tmp_path / "data", summary)
    assert len(Store(tmp_path / "data", MACHINE).benchmarks.rows()) == writers * adds + 1


@pytest.mark.parametrize("kill_at", [200, 207, 213, 221])
def test_killed_writer_harms_no_other_writer(light_path: Path, kill_at: int) -> None:
    summary = crowd(light_path / "data", 3, 40, kill_at)
    assert summary["ended"][:2] == [0, 0] and summary["ended"][2] != 0
    assert len(summary["added"]) >= 80
    hold(light_path / "data", summary)


def test_two_sessions_see_and_keep_each_others_writes(light_path: Path) -> None:
    one, two = Store(light_path, MACHINE), Store(light_path, MACHINE)
    for number in range(1, 9):
        writer, reader = (one, two) if number % 2 else (two, one)
        writer.benchmarks.add(make_small(number), Metadata(name=f"name {number}"))
        assert [row.id for row in reader.benchmarks.rows()] == [make_id(n) for n in range(number, 0, -1)]
        reader.benchmarks.edit(make_id(number), note=f"note {number}")
        assert writer.benchmarks.get(make_id(number)).metadata.note == f"note {number}"
    one.trash.remove([make_id(3)])
    assert make_id(3) not in [row.id for row in two.benchmarks.rows()]
    two.trash.restore()
    assert [row.id for row in one.benchmarks.rows()] == [make_id(n) for n in range(8, 0, -1)]
    assert [(row.name, row.note) for row in one.benchmarks.rows()] == [
        (f"name {n}", f"note {n}") for n in range(8, 0, -1)
    ]
