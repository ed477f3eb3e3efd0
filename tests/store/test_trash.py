from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.refusal import refused
from tests.store.build import Clock, make_id, make_result, make_store
from tests.store.disks.relay import Relay
from tuibench.core.errors import StoreError, StoreReadOnly, UnknownId
from tuibench.core.record import to_plain
from tuibench.core.stored import Metadata
from tuibench.store import trash as trash_module
from tuibench.store.documents import Documents
from tuibench.store.store import Store
from tuibench.store.trash import read_manifest, write_manifest

DAY_S = 86_400.0


def fill(root: Path, count: int = 3, **changes: Any) -> Store:
    store = make_store(root, **changes)
    for number in range(count):
        work = root.parent / f"work-{number}"
        work.mkdir(exist_ok=True)
        result = make_result(number)
        (work / Path(result.cells[0].executions[0].samples.file or "").name).write_bytes(b"s" * 100)
        store.benchmarks.add(result, Metadata(name=f"n{number}"), work)
    return store


def test_removed_benchmark_is_gone_and_undo_restores_it_whole(tmp_path: Path) -> None:
    store = fill(tmp_path / "data")
    store.benchmarks.edit(make_id(1), note="kept")
    before, stored = store.benchmarks.rows(), store.benchmarks.get(make_id(1))
    entry = store.trash.remove([make_id(1), make_id(2)])
    assert (entry.kind, entry.benchmarks) == ("benchmark", (make_id(1), make_id(2)))
    assert [name.split()[1] for name in entry.names] == ["n1", "n2"]
    assert [row.name for row in make_store(tmp_path / "data").benchmarks.rows()] == ["n0"]
    with pytest.raises(UnknownId):
        store.benchmarks.get(make_id(1))
    fresh = make_store(tmp_path / "data")
    assert fresh.trash.entries() == (entry,)
    assert fresh.trash.size() == entry.size_bytes > 3000
    assert fresh.trash.restore() == entry
    assert store.benchmarks.rows() == before
    assert store.benchmarks.get(make_id(1)) == stored
    directory = store.benchmarks.samples(make_id(1))
    assert directory is not None
    assert len(list(directory.iterdir())) == 1
    assert store.trash.entries() == ()
    assert not list(tmp_path.glob("data/hosts/*/trash/*"))


def test_undo_restores_removals_in_reverse_order(tmp_path: Path) -> None:
    clock = Clock()
    store = fill(tmp_path / "data", clock=clock)
    for number in (0, 1):
        store.trash.remove([make_id(number)])
        clock.now += 1
    assert store.trash.restore().benchmarks == (make_id(1),)
    assert store.trash.restore().benchmarks == (make_id(0),)
    with refused(UnknownId, "nothing_to_undo"):
        store.trash.restore()


def test_removal_with_an_unknown_id_removes_nothing(tmp_path: Path) -> None:
    store = fill(tmp_path / "data", 1)
    for wrong in ([make_id(0), make_id(7)], ["../../etc/passwd"]):
        with pytest.raises(UnknownId):
            store.trash.remove(wrong)
    with refused(UnknownId, "no_such_project", id=make_id(7)):
        store.trash.remove([make_id(0)], [make_id(7)])
    assert len(store.benchmarks.rows()) == 1
    assert store.trash.entries() == ()


def test_emptied_trash_cannot_be_restored(tmp_path: Path) -> None:
    store = fill(tmp_path / "data")
    entry = store.trash.remove([make_id(1)])
    assert store.trash.empty() == (1, entry.size_bytes)
    assert store.trash.empty() == (0, 0)
    with pytest.raises(UnknownId):
        store.trash.restore(entry.id)
    assert len(store.benchmarks.rows()) == 2


def test_next_addition_drops_trash_older_than_thirty_days(tmp_path: Path) -> None:
    clock = Clock()
    store = fill(tmp_path / "data", clock=clock)
    store.trash.remove([make_id(0)])
    clock.now += 29 * DAY_S
    store.trash.remove([make_id(1)])
    assert len(store.trash.entries()) == 2
    clock.now += 2 * DAY_S
    store.benchmarks.add(make_result(9), Metadata())
    assert [entry.benchmarks for entry in store.trash.entries()] == [(make_id(1),)]


def test_trash_above_its_size_limit_drops_the_oldest_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock()
    store = fill(tmp_path / "data", clock=clock)
    sizes = []
    for number in range(2):
        sizes.append(store.trash.remove([make_id(number)]).size_bytes)
        clock.now += 1
    monkeypatch.setattr(trash_module, "KEEP_BYTES", sizes[1] * 2)
    assert store.trash.expire() == 0
    store.trash.remove([make_id(2)])
    assert [entry.benchmarks for entry in store.trash.entries()] == [(make_id(2),), (make_id(1),)]


def test_benchmark_in_the_trash_cannot_be_added_again(tmp_path: Path) -> None:
    store = fill(tmp_path / "data", 1)
    store.trash.remove([make_id(0)])
    for session in (store, make_store(tmp_path / "data")):
        with refused(StoreError, "in_trash", id=make_id(0)):
            session.benchmarks.add(make_result(0), Metadata(name="again"))
    assert store.benchmarks.rows() == ()
    store.trash.restore()
    assert store.benchmarks.add(make_result(0), Metadata(name="again")).name == "n0"


def test_restore_over_a_file_put_back_by_hand_is_refused(tmp_path: Path) -> None:
    store = fill(tmp_path / "data", 1)
    store.trash.remove([make_id(0)])
    (kept,) = tmp_path.glob(f"data/hosts/*/trash/*/*{make_id(0)}.json")
    (directory,) = tmp_path.glob("data/hosts/*/records/*")
    (directory / f"{make_id(0)}.json").write_bytes(kept.read_bytes())
    store.check(repair=True)
    with refused(StoreError, "restore_blocked"):
        store.trash.restore()
    assert len(store.benchmarks.rows()) == len(store.trash.entries()) == 1


def test_removed_project_is_restored_with_its_versions(tmp_path: Path) -> None:
    store = fill(tmp_path / "data", 1)
    projects, versions = (Documents(store._context, kind) for kind in ("projects", "versions"))
    projects.put(make_id(50), {"name": "mine"}, 0)
    projects.put(make_id(50), {"name": "renamed"}, 1)
    projects.put(make_id(51), {"name": "other"}, 0)
    versions.put(make_id(60), {"project": make_id(50)}, 0)
    versions.put(make_id(61), {"project": make_id(51)}, 0)
    entry = store.trash.remove([make_id(0)], [make_id(50)])
    assert (entry.kind, entry.projects) == ("project", (make_id(50),))
    assert entry.names[0].endswith(" renamed"), "whoever looks for a project looks for its name"
    assert (projects.ids(), versions.ids()) == ((make_id(51),), (make_id(61),))
    assert projects.get(make_id(50)) is None
    store.trash.restore()
    assert len(projects.ids()) == len(versions.ids()) == 2
    document = projects.get(make_id(50))
    assert document is not None
    assert (document.values["name"], document.generation) == ("renamed", 2)
    assert len(store.benchmarks.rows()) == 1


def test_each_host_keeps_its_trash_and_undoes_its_own_removals(tmp_path: Path) -> None:
    root = tmp_path / "data"
    one, other = make_store(root, "one"), make_store(root, "other")
    one.benchmarks.add(make_result(1), Metadata())
    other.benchmarks.add(make_result(2), Metadata())
    entry = one.trash.remove([make_id(1), make_id(2)])
    assert len(list(root.glob("hosts/*/trash/*/manifest.json"))) == 2
    assert {*entry.benchmarks} == {make_id(1), make_id(2)}
    assert len(other.trash.entries()) == 1
    with refused(UnknownId, "nothing_to_undo"):
        other.trash.restore()
    assert one.trash.restore().size_bytes == entry.size_bytes
    assert len(one.benchmarks.rows()) == 2
    far = make_store(root, "one", is_remote=lambda path: "nfs")
    with pytest.raises(StoreReadOnly):
        far.trash.remove([make_id(1), make_id(2)])
    assert len(one.benchmarks.rows()) == 2


@pytest.mark.parametrize("state", ["moving", "moved", "restoring", "restored", "dropping", "empty"])
def test_next_writer_finishes_an_interrupted_removal(tmp_path: Path, state: str) -> None:
    store = fill(tmp_path / "data", 2)
    index = next(tmp_path.glob("data/hosts/*/tuibench.json"))
    full = index.read_bytes()
    entry = store.trash.remove([make_id(1)])
    (place,) = tmp_path.glob("data/hosts/*/trash/*")
    record = next(place.glob("*.json.json"), None) or next(
        path for path in place.iterdir() if path.name.endswith(f"{make_id(1)}.json")
    )
    source = tmp_path / "data" / Path(*record.name.split("+"))
    if state == "moving":  # The record had not moved yet and its row was still there.
        shutil.move(record, source)
        index.write_bytes(full)
        place.rename(place.with_name(entry.id + ".moving"))
    elif state == "moved":
        index.write_bytes(full)
        place.rename(place.with_name(entry.id + ".moving"))
    elif state == "restoring":
        place.rename(place.with_name(entry.id + ".restoring"))
    elif state == "restored":
        shutil.move(record, source)
        place.rename(place.with_name(entry.id + ".restoring"))
    elif state == "dropping":
        record.unlink()
        place.rename(place.with_name(entry.id + ".dropping"))
    else:
        shutil.rmtree(place)
        place.with_name(entry.id + ".moving").mkdir()
    fresh = make_store(tmp_path / "data")
    fresh.benchmarks.edit(make_id(0), note="any write")
    back = [make_id(1)] if state in ("restoring", "restored") else []
    assert [row.id for row in fresh.benchmarks.rows()] == [*back, make_id(0)]
    assert len(fresh.trash.entries()) == (1 if state in ("moving", "moved") else 0)
    assert [path.name for path in tmp_path.glob("data/hosts/*/trash/*") if "." in path.name] == []
    if state in ("moving", "moved"):
        fresh.trash.restore()
        assert fresh.benchmarks.get(make_id(1)).metadata.name == "n1"


def test_damaged_manifest_blocks_no_writer_and_removes_nothing(tmp_path: Path) -> None:
    store = fill(tmp_path / "data", 2)
    store.trash.remove([make_id(1)])
    (place,) = tmp_path.glob("data/hosts/*/trash/*")
    (place / "manifest.json").write_bytes(b"{")
    place.rename(place.with_name(place.name + ".moving"))
    fresh = make_store(tmp_path / "data")
    fresh.benchmarks.edit(make_id(0), note="x")
    assert any(notice.fields["name"].endswith("manifest.json") for notice in fresh.notices())
    assert len(list(place.with_name(place.name + ".moving").iterdir())) == 3


def test_manifest_path_outside_the_store_is_refused(tmp_path: Path) -> None:
    store = fill(tmp_path / "data", 1)
    entry = store.trash.remove([make_id(0)])
    (manifest,) = tmp_path.glob("data/hosts/*/trash/*/manifest.json")
    manifest.write_bytes(manifest.read_bytes().replace(b'"source": "hosts/', b'"source": "../hosts/'))
    fresh = make_store(tmp_path / "data")
    with pytest.raises(UnknownId):
        fresh.trash.restore(entry.id)
    causes = [notice.fields["why"] for notice in fresh.notices() if notice.code == "manifest_damaged"]
    assert causes and {(cause.code, cause.fields["path"][:9]) for cause in causes} == {("path_leads_out", "../hosts/")}
    assert not (tmp_path / "hosts").exists()


@pytest.mark.parametrize(
    ("field", "value"), [("id", 5), ("removed_utc", None), ("size_bytes", "5"), ("benchmarks", 5), ("rows", ["x"])]
)
def test_manifest_with_a_field_of_another_type_is_damaged(tmp_path: Path, field: str, value: object) -> None:
    store = fill(tmp_path / "data", 1)
    store.trash.remove([make_id(0)])
    (path,) = tmp_path.glob("data/hosts/*/trash/*/manifest.json")
    sealing, directory = store._context.sealing, str(path.parent)
    plain = to_plain(read_manifest(sealing, directory)) | {field: value}
    sealing.write_tables(os.path.join(directory, "manifest.json"), {"trash": {"1": plain}}, None)
    fresh = make_store(tmp_path / "data")
    with pytest.raises(UnknownId):
        fresh.trash.restore()
    causes = [notice.fields["why"].code for notice in fresh.notices() if notice.code == "manifest_damaged"]
    assert "no_manifest_form" in causes


def test_move_left_with_both_names_by_a_power_cut_is_finished(tmp_path: Path) -> None:
    store = fill(tmp_path / "data", 2)
    entry = store.trash.remove([make_id(1)])
    (place,) = tmp_path.glob("data/hosts/*/trash/*")
    moved = next(path for path in place.iterdir() if path.name.endswith(f"{make_id(1)}.json"))
    source = tmp_path / "data" / Path(*moved.name.split("+"))
    source.hardlink_to(moved)
    place.rename(place.with_name(entry.id + ".moving"))
    fresh = make_store(tmp_path / "data")
    fresh.benchmarks.edit(make_id(0), note="any write")
    assert not source.exists()
    assert [one.benchmarks for one in fresh.trash.entries()] == [(make_id(1),)]
    assert fresh.check(repair=True).problems == ()


class UndoingFirst(Relay):
    """A disk that runs `work` once, right before this session first tries the lock."""

    def __init__(self, work: Callable[[], object]) -> None:
        super().__init__()
        self.work: Callable[[], object] | None = work

    def touch(self, kind: str, arguments: tuple[Any, ...]) -> Any:
        """Make the call."""
        work = self.work if kind == "lock" else None
        if work is not None:
            self.work = None
            work()
        return super().touch(kind, arguments)


def test_undo_beside_another_undo_takes_the_next_removal(tmp_path: Path) -> None:
    store = fill(tmp_path / "data")
    for number in range(3):
        store.trash.remove([make_id(number)])
    late = make_store(tmp_path / "data", disk=UndoingFirst(store.trash.restore))
    assert late.trash.restore().benchmarks == (make_id(1),)
    assert {row.id for row in store.benchmarks.rows()} == {make_id(1), make_id(2)}
    named = store.trash.entries()[0].id
    late = make_store(tmp_path / "data", disk=UndoingFirst(store.trash.restore))
    with refused(UnknownId, "no_such_removal", id=named):
        late.trash.restore(named)


def test_removals_with_clock_set_back_keep_their_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock()
    store = fill(tmp_path / "data", clock=clock)
    sizes = []
    for number in range(3):
        sizes.append(store.trash.remove([make_id(number)]).size_bytes)
        clock.now -= DAY_S
    assert [entry.benchmarks for entry in store.trash.entries()] == [(make_id(number),) for number in (2, 1, 0)]
    monkeypatch.setattr(trash_module, "KEEP_BYTES", sum(sizes[1:]))
    assert store.trash.expire() == 1, "the first removal is the oldest"
    assert store.trash.restore().benchmarks == (make_id(2),)
    assert make_store(tmp_path / "data").trash.restore().benchmarks == (make_id(1),)


def test_removals_without_sequence_are_the_oldest_by_time(tmp_path: Path) -> None:
    clock = Clock()
    store = fill(tmp_path / "data", clock=clock)
    for number in range(2):
        store.trash.remove([make_id(number)])
        clock.now += 1
    for file in tmp_path.glob("data/hosts/*/trash/*/manifest.json"):
        sealing, directory = store._context.sealing, str(file.parent)
        manifest = read_manifest(sealing, directory)
        assert manifest is not None and manifest.sequence
        write_manifest(sealing, directory, replace(manifest, sequence=0))
    clock.now -= DAY_S
    store.trash.remove([make_id(2)])
    fresh = make_store(tmp_path / "data")
    assert [fresh.trash.restore().benchmarks for _ in range(3)] == [(make_id(number),) for number in (2, 1, 0)]
