"""A writer stops after the record and before the index; the next writer brings both together."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from tests.store.build import make_id, make_result, make_store
from tuibench.core.errors import StoreError
from tuibench.core.stored import Metadata
from tuibench.store.disk import Disk
from tuibench.store.store import Store


class Refusing(Disk):
    """A disk that refuses, or dies at, a path with the given end."""

    def __init__(self, ending: str, error: BaseException) -> None:
        self.ending, self.error = ending, error
        self.off = False

    def _pass(self, path: str) -> None:
        if path.endswith(self.ending) and not self.off:
            raise self.error

    def replace(self, source: str, target: str) -> None:
        self._pass(target)
        super().replace(source, target)

    def unlink(self, path: str) -> None:
        self._pass(path)
        super().unlink(path)


class Died(BaseException):
    """Stands for a killed process."""


FULL = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    store = make_store(tmp_path)
    for number in range(3):
        store.benchmarks.add(make_result(number), Metadata(name=f"n{number}"))
    store.trash.remove([make_id(0)])
    return tmp_path


def doubts(root: Path) -> list[Path]:
    return list(root.rglob("*.doubt"))


def break_off(root: Path, error: BaseException) -> Store:
    """Leave an edit and an addition that were written and never listed."""
    disk = Refusing("tuibench.json", error)
    store = make_store(root, disk=disk)
    with pytest.raises((StoreError, Died)):
        store.benchmarks.edit(make_id(1), name="edited")
    disk.off = True
    assert [row.name for row in store.benchmarks.rows()] == ["n2", "n1"]
    assert store.benchmarks.get(make_id(1)).metadata.name == "edited"
    return store


@pytest.mark.parametrize("error", [FULL, Died()], ids=["refused", "killed"])
@pytest.mark.parametrize("writer", ["add", "edit", "remove", "restore"])
@pytest.mark.parametrize("same", [True, False], ids=["this session", "another"])
def test_next_writer_lists_an_interrupted_edit(root: Path, error: BaseException, writer: str, same: bool) -> None:
    store = break_off(root, error)
    store = store if same else make_store(root)
    if writer == "add":
        store.benchmarks.add(make_result(7), Metadata(name="other"))
    elif writer == "edit":
        store.benchmarks.edit(make_id(2), note="other")
    elif writer == "remove":
        store.trash.remove([make_id(2)])
    else:
        store.trash.restore()
    for one in (store, make_store(root)):
        assert {row.id: row.name for row in one.benchmarks.rows()}[make_id(1)] == "edited"
    assert make_store(root).check(read_data=True).problems == () and doubts(root) == []


def test_next_writer_lists_an_unlisted_addition(root: Path) -> None:
    with pytest.raises(Died):
        make_store(root, disk=Refusing("tuibench.json", Died())).benchmarks.add(make_result(5), Metadata(name="late"))
    assert len(make_store(root).benchmarks.rows()) == 2
    make_store(root).benchmarks.edit(make_id(2), note="other")
    assert [row.name for row in make_store(root).benchmarks.rows()] == ["late", "n2", "n1"]
    assert doubts(root) == []


def test_addition_without_a_record_is_not_listed(root: Path) -> None:
    disk = Refusing(f"{make_id(5)}.json", Died())
    with pytest.raises(Died):
        make_store(root, disk=disk).benchmarks.add(make_result(5), Metadata())
    make_store(root).benchmarks.edit(make_id(2), note="other")
    assert [row.name for row in make_store(root).benchmarks.rows()] == ["n2", "n1"]
    assert make_store(root).check(read_data=True).problems == () and doubts(root) == []


def test_check_reports_and_repairs_an_interrupted_edit(root: Path) -> None:
    break_off(root, FULL)
    assert [problem.kind for problem in make_store(root).check().problems] == ["stale"]
    assert len(doubts(root)) == 1
    make_store(root).check(repair=True)
    assert make_store(root).check(read_data=True).problems == () and doubts(root) == []


def test_dirty_marker_that_cannot_be_removed_is_harmless(root: Path) -> None:
    store = make_store(root, disk=Refusing(".doubt", FULL))
    assert store.benchmarks.edit(make_id(1), name="edited").name == "edited"
    assert len(doubts(root)) == 1 and any(said.code == "store_disk_full" for said in store.notices())
    index = next(root.glob("hosts/*/tuibench.json")).read_bytes()
    fresh = make_store(root)
    fresh.trash.empty()
    assert doubts(root) == [] and next(root.glob("hosts/*/tuibench.json")).read_bytes() == index


def test_record_damaged_meanwhile_keeps_its_row_for_the_check(root: Path) -> None:
    break_off(root, FULL)
    for path in root.glob(f"hosts/*/records/*/{make_id(1)}.json*"):
        path.write_bytes(b"{")
    make_store(root).benchmarks.edit(make_id(2), note="other")
    assert [row.name for row in make_store(root).benchmarks.rows()] == ["n2", "n1"]
    assert "damaged" in {problem.kind for problem in make_store(root).check().problems}
