"""Retention of run directories: old saved runs are removed, runs with the only copy are kept."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from tuibench.runs.directory import RunDirectory, list_runs, prune
from tuibench.runs.journal import NAME, Journal
from tuibench.runs.session import tidy

NOW = 2e9
WEEK_S = 7 * 86_400.0


def make_run(root: Path, number: int, age_s: float = 0.0, **end: Any) -> str:
    """Make a run that ended that long ago."""
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


def test_run_that_ended_unsaved_keeps_its_inputs_and_no_copy(tmp_path: Path) -> None:
    run = RunDirectory(tmp_path / make_run(tmp_path, 0, status="interrupted"))
    for folder in ("inputs", "work"):
        (run.path / folder / "m0.onnx").write_bytes(b"")
    tidy(run, lambda _: False)
    assert (os.listdir(run.path / "inputs"), os.listdir(run.work)) == (["m0.onnx"], [])


def test_saved_run_is_removed_after_a_week_beyond_the_newest_thirty(tmp_path: Path) -> None:
    names = [make_run(tmp_path, n, status="finished", saved=True) for n in range(33)]
    old = make_run(tmp_path, 40, 2 * WEEK_S, status="finished", saved=True)
    prune(tmp_path, NOW, lambda _: True)
    assert left(tmp_path) == set(names[4:]), "the old one took one of thirty places"
    assert old not in left(tmp_path)


@pytest.mark.parametrize("saved", [False, None], ids=["lost", "nobody-can-tell"])
def test_run_with_a_possibly_lost_record_is_never_removed(tmp_path: Path, saved: bool | None) -> None:
    lost = make_run(tmp_path, 0, 2 * WEEK_S, status="finished", saved=True)
    unsaved = make_run(tmp_path, 1, 2 * WEEK_S, status="finished", saved=False, why="the disk is full")
    broken = make_run(tmp_path, 2, 2 * WEEK_S, status="interrupted")
    prune(tmp_path, NOW, lambda _: saved)
    assert left(tmp_path) == {lost, unsaved, broken}


def test_run_without_measurements_leaves_no_directory(tmp_path: Path) -> None:
    make_run(tmp_path, 0, 2 * WEEK_S, status="failed")
    make_run(tmp_path, 1, 2 * WEEK_S, status="cancelled")
    prune(tmp_path, NOW, lambda _: False)
    assert left(tmp_path) == set()
