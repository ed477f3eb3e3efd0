"""What is kept of runs: nothing whose record is in the store and old, everything whose journal is all there is."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from tuibench.runs.directory import RunDirectory, list_runs, prune
from tuibench.runs.journal import NAME, Journal

NOW = 2e9
WEEK_S = 7 * 86_400.0


def make_run(root: Path, number: int, age_s: float = 0.0, **end: Any) -> str:
    """A run that ended so long ago."""
    name = f"01M7QJXH866DK1S3FNRAFAA{number:03d}"
    directory = RunDirectory(root / name)
    directory.make({"id": name})
    journal = Journal(directory.path)
    journal.append("run_end", **end)
    journal.close()
    os.utime(directory.path / NAME, (NOW - age_s, NOW - age_s))
    return name


def left(root: Path) -> set[str]:
    return {run.id for run in list_runs(root)}


def test_a_saved_run_goes_after_a_week_and_beyond_the_newest_thirty(tmp_path: Path) -> None:
    names = [make_run(tmp_path, n, status="finished", saved=True) for n in range(33)]
    old = make_run(tmp_path, 40, 2 * WEEK_S, status="finished", saved=True)
    prune(tmp_path, NOW, lambda _: True)
    assert left(tmp_path) == set(names[4:]), "the old one took one of thirty places"
    assert old not in left(tmp_path)


@pytest.mark.parametrize("saved", [False, None], ids=["lost", "nobody-can-tell"])
def test_a_run_whose_record_may_be_lost_is_never_removed(tmp_path: Path, saved: bool | None) -> None:
    lost = make_run(tmp_path, 0, 2 * WEEK_S, status="finished", saved=True)
    unsaved = make_run(tmp_path, 1, 2 * WEEK_S, status="finished", saved=False, why="the disk is full")
    broken = make_run(tmp_path, 2, 2 * WEEK_S, status="interrupted")
    prune(tmp_path, NOW, lambda _: saved)
    assert left(tmp_path) == {lost, unsaved, broken}


def test_of_a_run_that_measured_nothing_nothing_stays(tmp_path: Path) -> None:
    make_run(tmp_path, 0, 2 * WEEK_S, status="failed")
    make_run(tmp_path, 1, 2 * WEEK_S, status="cancelled")
    prune(tmp_path, NOW, lambda _: False)
    assert left(tmp_path) == set()
