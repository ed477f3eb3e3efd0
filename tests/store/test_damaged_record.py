"""A record listed as damaged: its messages, and the return of its row after a repair."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from tests.refusal import refused
from tests.store.build import make_id, make_result, make_store
from tuibench.core.errors import StoreDamaged
from tuibench.core.ids import short_id
from tuibench.core.stored import Metadata
from tuibench.present.error.words import hint_words
from tuibench.present.reason import reason_words
from tuibench.store.store import Store

PROJECT = make_id(77)
ONE = make_id(1)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Three benchmarks of a project; the index lists the second as damaged and `whole` has its original bytes."""
    root = tmp_path / "data"
    store = make_store(root)
    for number in range(3):
        store.benchmarks.add(make_result(number), Metadata(name=f"n{number}", project=PROJECT))
    shutil.copy2(record(root), tmp_path / "whole")
    record(root).write_bytes(record(root).read_bytes()[:700])
    next(root.glob("hosts/*/tuibench.json")).unlink()
    make_store(root).benchmarks.edit(make_id(0), note="writes the list anew")
    assert listed(make_store(root)) == ("damaged", "", "")
    return root


def record(root: Path) -> Path:
    return next(root.glob(f"hosts/*/records/*/{ONE}.json"))


def listed(store: Store) -> tuple[str, str, str]:
    (row,) = (row for row in store.benchmarks.rows() if row.id == ONE)
    return row.status, row.name, row.project


@pytest.mark.parametrize("mend", ["check", "edit"])
def test_restored_file_is_listed_after_a_repair_or_a_write(root: Path, mend: str) -> None:
    record(root).write_bytes((root.parent / "whole").read_bytes())
    store = make_store(root)
    assert store.benchmarks.get(ONE).metadata.name == "n1"
    if mend == "check":
        assert [problem.kind for problem in store.check(repair=True).problems] == ["stale"]
    else:
        store.benchmarks.edit(ONE, note="")
    assert listed(make_store(root)) == ("finished", "n1", PROJECT)


def test_damaged_record_error_is_short(root: Path) -> None:
    store = make_store(root)
    for act in (store.benchmarks.get, lambda one: store.benchmarks.edit(one, name="x")):
        with refused(StoreDamaged, "record_damaged", id=ONE) as caught:
            act(ONE)
        assert "store check" in hint_words(caught.value)
    (problem,) = store.check(read_data=True).problems
    assert problem.path == os.path.relpath(record(root), root) and "not JSON" in reason_words(problem.detail)


def test_damaged_record_removed_and_restored_keeps_its_project(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    store.benchmarks.add(make_result(1), Metadata(name="n1", project=PROJECT))
    whole = record(tmp_path).read_bytes()
    record(tmp_path).write_bytes(whole[:700])
    for _ in range(2):
        entry = store.trash.remove([ONE])
        assert entry.names == (f"{short_id(ONE)} n1",)
        store.trash.restore()
        assert listed(store) == listed(make_store(tmp_path)) == ("damaged", "n1", PROJECT)


def test_record_mended_in_the_trash_restores_its_own_row(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    store.benchmarks.add(make_result(1), Metadata(name="n1", project=PROJECT))
    whole = record(tmp_path).read_bytes()
    record(tmp_path).write_bytes(whole[:700])
    store.trash.remove([ONE])
    (kept,) = tmp_path.glob(f"hosts/*/trash/*/*{ONE}.json")
    kept.write_bytes(whole)
    store.trash.restore()
    assert listed(store) == ("finished", "n1", PROJECT)
