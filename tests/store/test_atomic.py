from __future__ import annotations

import contextlib
import errno
import os
from pathlib import Path

import pytest

from tests.refusal import refused
from tests.store.build import make_id, make_result, make_store
from tests.store.moody import Failing, Grudging, ReadOnly, Recording
from tuibench.core.errors import StoreError, StoreReadOnly
from tuibench.core.reason import because
from tuibench.core.stored import Metadata
from tuibench.present.error.words import hint_words, message_words
from tuibench.store.disk import Disk


def test_short_and_interrupted_writes_produce_the_same_files(tmp_path: Path) -> None:
    for name, disk in (("plain", Disk()), ("grudging", Grudging())):
        store = make_store(tmp_path / name, disk=disk)
        store.benchmarks.add(make_result(1, points=9), Metadata(name="x"))
        store.benchmarks.edit(make_id(1), note="y")
    plain, grudging = (
        {path.relative_to(tmp_path / name): path.read_bytes() for path in (tmp_path / name).rglob("*.json*")}
        for name in ("plain", "grudging")
    )
    locks = {path for path in plain if path.suffix == ".lock"}
    assert {p: d for p, d in plain.items() if p not in locks} == {p: d for p, d in grudging.items() if p not in locks}


def test_files_are_synced_before_their_rename_and_directories_after_it(tmp_path: Path) -> None:
    disk = Recording()
    make_store(tmp_path / "a" / "data", disk=disk).benchmarks.add(make_result(1), Metadata())
    calls = [call for call in disk.calls if not call[1].endswith(".lock")]
    for place, (call, path) in enumerate(calls):
        later = calls[place + 1 :]
        if call == "mkdir":
            assert ("fsync", os.path.dirname(path)) in later
        if call == "replace":
            assert calls[place - 1][0] in ("fsync", "link", "replace")
            assert ("fsync", os.path.dirname(path)) in later
    replaced = [path for call, path in calls if call == "replace"]
    assert [os.path.basename(path) for path in replaced] == [f"{make_id(1)}.json", "tuibench.json"]


def test_adding_a_benchmark_syncs_five_times(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    store.benchmarks.add(make_result(0), Metadata())
    counts = []
    for number in (32, 64):
        disk = Recording()
        fresh = make_store(tmp_path, disk=disk)
        fresh.benchmarks.rows()
        fresh.benchmarks.add(make_result(number), Metadata())
        disk.calls.clear()
        fresh.benchmarks.add(make_result(number + 500), Metadata())
        counts.append(sum(call == "fsync" for call, _ in disk.calls))
    # Record, name of its directory, name of the record, index, name of the index.
    assert counts == [5, 5]


@pytest.mark.parametrize(
    "number",
    [errno.ENOSPC, *(pytest.param(one, marks=pytest.mark.slow) for one in (errno.EIO, errno.EDQUOT, errno.EROFS))],
)
def test_failing_call_loses_nothing_and_the_next_write_works(tmp_path: Path, number: int) -> None:
    for at in range(1, 60):
        root = tmp_path / str(at)
        make_store(root).benchmarks.add(make_result(1), Metadata(name="before"))
        disk = Failing(at, number)
        store = make_store(root, disk=disk)
        added = edited = False
        with contextlib.suppress(StoreError):
            added = store.benchmarks.add(make_result(2), Metadata(name="added")).name == "added"
        with contextlib.suppress(StoreError):
            edited = store.benchmarks.edit(make_id(1), name="edited").name == "edited"
        if not disk.spent:
            return
        assert store.benchmarks.rows() == make_store(root).benchmarks.rows()
        names = {row.name for row in store.benchmarks.rows()}
        assert names & ({"edited"} if edited else {"before", "edited"})
        assert "added" in names or not added
        store.benchmarks.add(make_result(3), Metadata(name="next"))
        store.benchmarks.edit(make_id(1), note="next")
        fresh = make_store(root)
        assert fresh.benchmarks.rows() == store.benchmarks.rows()
        assert {problem.kind for problem in fresh.check(read_data=True).problems} <= {"unlisted"}
    raise AssertionError("more calls than were tried")


def test_read_only_disk_allows_reads(tmp_path: Path) -> None:
    make_store(tmp_path).benchmarks.add(make_result(1), Metadata(name="x"))
    store = make_store(tmp_path, disk=ReadOnly())
    assert store.benchmarks.rows()[0].name == "x"
    assert store.benchmarks.get(make_id(1)).metadata.name == "x"
    assert store.check(read_data=True).exit_code == 0
    for act in (
        lambda: store.benchmarks.add(make_result(2), Metadata()),
        lambda: store.benchmarks.edit(make_id(1), name="y"),
        lambda: store.trash.remove([make_id(1)]),
    ):
        with refused(StoreReadOnly, "store_read_only", root=str(tmp_path)):
            act()
    assert store.benchmarks.rows()[0].name == "x"
    next(tmp_path.glob("hosts/*/tuibench.json")).unlink()
    assert make_store(tmp_path, disk=ReadOnly()).benchmarks.rows()[0].name == "x"
    with pytest.raises(StoreReadOnly):
        make_store(tmp_path / "none", disk=ReadOnly()).benchmarks.add(make_result(2), Metadata())


@pytest.mark.parametrize("kind", ["link", "dangling", "pipe", "directory"])
@pytest.mark.parametrize("name", ["record", "index", "salt", "directory", "records"])
def test_planted_file_at_a_store_path_is_refused(tmp_path: Path, name: str, kind: str) -> None:
    root, victim = tmp_path / "data", tmp_path / "victim"
    store = make_store(root)
    store.benchmarks.add(make_result(1), Metadata())
    layout = store._context.own()
    paths = {
        "record": layout.record(make_id(2)),
        "index": layout.index,
        "salt": str(root / "salt"),
        "directory": layout.directory_of(make_id(2)),
        "records": layout.records,
    }
    planted = Path(paths[name])
    if name == "records":
        planted.rename(tmp_path / "moved")
    elif planted.exists():
        planted.unlink()
    planted.parent.mkdir(parents=True, exist_ok=True)
    if kind == "link":
        victim.mkdir() if name in ("directory", "records") else victim.write_text("precious")
        planted.symlink_to(victim)
    elif kind == "dangling":
        planted.symlink_to(victim)
    elif kind == "pipe":
        os.mkfifo(planted)
    elif name in ("directory", "records"):
        return
    else:
        planted.mkdir()
    with pytest.raises(StoreError) as caught:
        make_store(root).benchmarks.add(make_result(2), Metadata())
    assert os.path.relpath(planted, root) in message_words(caught.value)
    assert hint_words(caught.value)
    if kind == "link":
        assert list(victim.iterdir()) == [] if victim.is_dir() else victim.read_text() == "precious"
    if kind == "dangling":
        assert not victim.exists()


def test_link_planted_at_a_temporary_name_is_refused(tmp_path: Path) -> None:
    root, victim = tmp_path / "data", tmp_path / "victim"
    victim.write_text("precious")
    store = make_store(root)
    store.benchmarks.add(make_result(1), Metadata())
    path = store._context.own().record(make_id(1))
    expected = make_store(root)._context.files.temp(path)
    Path(expected).symlink_to(victim)
    with refused(
        StoreError, "store_path_blocked", name=os.path.relpath(expected, root), why=because("link_or_directory")
    ):
        make_store(root).benchmarks.edit(make_id(1), name="x")
    assert victim.read_text() == "precious"
