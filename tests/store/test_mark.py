from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.store.build import Clock, make_store
from tests.store.data import make_id, make_small
from tests.store.disks.relay import CountingDisk
from tuibench.core.stored import FileStamp, Metadata, ModelReference
from tuibench.store.disk import Disk
from tuibench.store.store import Store

MODEL = ModelReference("m.onnx", FileStamp("/m.onnx", 1, 2, "b" * 64), "a" * 64)
LATER = 4_000_000_000.0
"""When no file that a test makes is young any more."""


def project_of(store: Store) -> str:
    return store.projects.all()[0].id


CHANGES: dict[str, Callable[[Store], object]] = {
    "add": lambda store: store.benchmarks.add(make_small(9), Metadata()),
    "edit": lambda store: store.benchmarks.edit(make_id(1), name="another"),
    "remove": lambda store: store.trash.remove([make_id(1)]),
    "undo": lambda store: store.trash.restore(),
    "empty": lambda store: store.trash.empty(),
    "project": lambda store: store.projects.create("second", MODEL),
    "rename": lambda store: store.projects.edit(project_of(store), name="renamed"),
    "version": lambda store: store.projects.add_version(
        project_of(store), ModelReference("m.onnx", FileStamp("/m.onnx", 1, 3, "d" * 64), "c" * 64)
    ),
    "remove project": lambda store: store.trash.remove([], [project_of(store)]),
}


@pytest.mark.parametrize("change", CHANGES)
def test_mark_changes_with_each_change_of_another_session(tmp_path: Path, change: str) -> None:
    other, ours = make_store(tmp_path), make_store(tmp_path, clock=Clock(LATER))
    other.benchmarks.add(make_small(1), Metadata())
    other.benchmarks.add(make_small(2), Metadata())
    other.trash.remove([make_id(2)])
    other.projects.create("first", MODEL)
    for path in tmp_path.rglob("*"):
        # Old kernels tick so slowly that the next write could get the same time.
        os.utime(path, (1e9, 1e9))
    before = ours.mark()
    assert ours.mark() == before
    CHANGES[change](other)
    assert ours.mark() != before


def test_taking_a_mark_changes_and_creates_nothing(tmp_path: Path) -> None:
    store = make_store(tmp_path / "store", clock=Clock(LATER))
    first = store.mark()
    assert (store.mark(), list(tmp_path.iterdir())) == (first, [])


def test_mark_of_a_recently_changed_file_is_taken_again(tmp_path: Path) -> None:
    other = make_store(tmp_path)
    other.benchmarks.add(make_small(1), Metadata())
    (index,) = tmp_path.glob("hosts/*/tuibench.json")
    born = index.stat().st_mtime
    clock = Clock(born)
    ours = make_store(tmp_path, clock=clock)
    young = ours.mark()
    clock.now = born + 1
    assert ours.mark() != young
    settled = ours.mark()
    clock.now = born + 2
    assert ours.mark() == settled


def test_taking_a_mark_of_known_files_opens_no_file(tmp_path: Path) -> None:
    counting = CountingDisk(Disk())
    store = make_store(tmp_path, disk=counting, clock=Clock(LATER))
    for number in range(1, 6):
        store.benchmarks.add(make_small(number), Metadata())
    store.mark()
    counting.reset()
    store.mark()
    few = sum(counting.calls.values())
    for number in range(6, 30):
        store.benchmarks.add(make_small(number), Metadata())
    store.mark()
    counting.reset()
    store.mark()
    assert sum(counting.calls.values()) == few
    assert counting.calls["stat"] <= 6
    assert "read" not in counting.calls
