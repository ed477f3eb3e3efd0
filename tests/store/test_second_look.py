"""A record that is listed as damaged and whose file is whole again is listed as it is; nothing else is looked at."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.store.build import MACHINE, make_id, make_result, make_store
from tests.store.disks.relay import CountingDisk, Relay
from tuibench.core.card import Card
from tuibench.core.errors import StoreDamaged
from tuibench.core.short_id import short_id
from tuibench.store.store import Store

PROJECT = make_id(77)
ONE = make_id(1)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Three benchmarks of a project, of which the list holds the second for damaged; `whole` has what it was."""
    root = tmp_path / "data"
    store = make_store(root)
    for number in range(3):
        store.benchmarks.add(make_result(number), Card(name=f"n{number}", project=PROJECT))
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


def put_back(root: Path) -> None:
    """As `cp` does: the same file with other bytes in it."""
    with record(root).open("wb") as file:
        file.write((root.parent / "whole").read_bytes())


def put_back_as_it_was(root: Path) -> None:
    """As `mv` of a copy with its times does."""
    (root.parent / "whole").rename(record(root))


@pytest.mark.parametrize("mend", [put_back, put_back_as_it_was])
def test_a_session_sees_at_its_next_look_that_the_file_is_whole(root: Path, mend: Callable[[Path], None]) -> None:
    store = make_store(root)
    assert listed(store)[0] == "damaged"
    before, said = store.mark(), store.notices()
    mend(root)
    assert store.mark() != before
    assert listed(store) == ("finished", "n1", PROJECT)
    assert listed(make_store(root)) == ("finished", "n1", PROJECT)
    assert store.benchmarks.search("n1")[0].id == ONE
    assert store.benchmarks.get(ONE).row.name == "n1" and store.notices() == said


def test_it_is_damaged_again_when_its_file_is(root: Path) -> None:
    store = make_store(root)
    put_back(root)
    assert listed(store)[0] == "finished"
    record(root).write_bytes(b"{")
    assert listed(store)[0] == "damaged"


def test_the_next_writer_lists_it_for_everybody(root: Path) -> None:
    store = make_store(root)
    put_back(root)
    assert listed(store)[0] == "finished"
    store.benchmarks.edit(make_id(0), note="any write")
    (index,) = root.glob("hosts/*/tuibench.json")
    assert b'"damaged"' not in index.read_bytes()
    assert make_store(root).check(read_data=True).problems == ()


def test_a_writer_lists_what_the_file_is_by_then(root: Path) -> None:
    store = make_store(root)
    put_back(root)
    assert listed(store)[0] == "finished"
    record(root).write_bytes(b"{")
    store.benchmarks.edit(make_id(0), note="any write")
    assert listed(store)[0] == listed(make_store(root))[0] == "damaged"


def test_a_file_that_stays_as_it_is_is_read_once_and_sound_ones_never(root: Path) -> None:
    disk = CountingDisk()
    store = Store(root, MACHINE, disk=disk)
    store.benchmarks.rows()
    disk.reset()
    for _ in range(10):
        assert listed(store)[0] == "damaged"
    looks = dict(disk.calls)
    put_back(root)
    store.benchmarks.rows()
    disk.reset()
    for _ in range(10):
        assert listed(store)[0] == "finished"
    assert disk.calls["open"] == looks["open"] == 10, "one for the list at each look, none for a record"
    opened = CountingDisk()
    shutil.rmtree(root / "hosts", ignore_errors=False)
    healthy = make_store(root, disk=opened)
    healthy.benchmarks.add(make_result(0), Card())
    healthy.benchmarks.rows()
    opened.reset()
    healthy.benchmarks.rows()
    stats = opened.calls["stat"]
    assert looks["stat"] == 10 * (stats + 1), "one more for the damaged one"


class Watched(Relay):
    """Counts how often a record is opened."""

    opened = 0

    def open(self, path: str, flags: int, mode: int = 0o600) -> int:
        self.opened += path.endswith(f"{ONE}.json")
        return super().open(path, flags, mode)


def test_what_others_and_oneself_write_does_not_have_it_read_again(root: Path) -> None:
    disk = Watched()
    store = make_store(root, disk=disk)
    assert listed(store)[0] == "damaged" and disk.opened
    once = disk.opened
    for number in range(3):
        make_store(root).benchmarks.edit(make_id(0), note=f"theirs {number}")
        store.benchmarks.edit(make_id(2), note=f"ours {number}")
        assert listed(store)[0] == "damaged"
    assert disk.opened == once


def test_what_is_said_of_a_damaged_record_is_short(root: Path) -> None:
    store = make_store(root)
    for act in (store.benchmarks.get, lambda one: store.benchmarks.edit(one, name="x")):
        with pytest.raises(StoreDamaged, match=f"^the record of {short_id(ONE)} is damaged$") as caught:
            act(ONE)
        assert "store check" in caught.value.hint
    (problem,) = store.check(read_data=True).problems
    assert problem.path == os.path.relpath(record(root), root) and "not JSON" in problem.detail


def test_removed_and_brought_back_it_stays_in_its_project(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    store.benchmarks.add(make_result(1), Card(name="n1", project=PROJECT))
    whole = record(tmp_path).read_bytes()
    record(tmp_path).write_bytes(whole[:700])
    for _ in range(2):
        entry = store.trash.remove([ONE])
        assert entry.names == (f"{short_id(ONE)} n1",)
        store.trash.restore()
        assert listed(store) == listed(make_store(tmp_path)) == ("damaged", "n1", PROJECT)
    record(tmp_path).write_bytes(whole)
    assert listed(store) == ("finished", "n1", PROJECT)


def test_a_record_that_was_mended_in_the_trash_says_itself_what_it_is(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    store.benchmarks.add(make_result(1), Card(name="n1", project=PROJECT))
    whole = record(tmp_path).read_bytes()
    record(tmp_path).write_bytes(whole[:700])
    store.trash.remove([ONE])
    (kept,) = tmp_path.glob(f"hosts/*/trash/*/*{ONE}.json")
    kept.write_bytes(whole)
    store.trash.restore()
    assert listed(store) == ("finished", "n1", PROJECT)
