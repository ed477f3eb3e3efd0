from __future__ import annotations

import os
import stat
from dataclasses import replace
from pathlib import Path

import pytest
from tinydb import TinyDB

from tests.refusal import refused
from tests.store.build import make_id, make_result, make_store
from tuibench.core.errors import StoreReadOnly, UnknownId
from tuibench.core.record import to_plain
from tuibench.core.stored import Metadata


def test_missing_store_reads_as_empty_and_is_not_created(tmp_path: Path) -> None:
    store = make_store(tmp_path / "data")
    assert store.benchmarks.rows() == ()
    assert store.benchmarks.search("x") == ()
    with pytest.raises(UnknownId):
        store.benchmarks.get(make_id(1))
    assert list(tmp_path.iterdir()) == []


def test_added_benchmark_reads_back_equal_in_another_session(tmp_path: Path) -> None:
    result = make_result(1, cells=2, executions=3, points=20)
    row = make_store(tmp_path).benchmarks.add(result, Metadata(name="first", note="a note", project=make_id(9)))
    stored = make_store(tmp_path).benchmarks.get(result.id)
    # Samples named by the result but not given do not exist.
    without = to_plain(result)
    for cell in without["cells"]:
        for execution in cell["executions"]:
            execution["samples"]["file"] = None
    assert to_plain(stored.result) == without
    assert stored.metadata == Metadata(name="first", note="a note", project=make_id(9))
    assert stored.row == row == make_store(tmp_path).benchmarks.rows()[0]


def test_row_summarizes_its_result(tmp_path: Path) -> None:
    row = make_store(tmp_path).benchmarks.add(make_result(1, cells=3), Metadata())
    assert (row.models, row.engines, row.scenarios, row.cores, row.batches) == (
        *("resnet50.onnx", "fake", "sync"),
        *("1,2,3", "1"),
    )
    assert (row.cells, row.measured, row.grade, row.status) == (3, 3, "A", "finished")


def test_adding_a_benchmark_twice_keeps_the_first(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    first = store.benchmarks.add(make_result(1), Metadata(name="mine"))
    again = store.benchmarks.add(make_result(1, seconds=99.0), Metadata(name="other"))
    assert again == first
    assert store.benchmarks.rows() == (first,)


@pytest.mark.parametrize("name", ["../elsewhere", "", "01M7", f"{make_id(1)}/x"])
def test_id_that_is_no_ulid_is_no_file_name(tmp_path: Path, name: str) -> None:
    with pytest.raises(UnknownId):
        make_store(tmp_path / "data").benchmarks.add(replace(make_result(1), id=name), Metadata())
    assert not (tmp_path / "elsewhere").exists() and not list(tmp_path.rglob("*.json"))


def test_rows_are_newest_first_and_show_another_sessions_write(tmp_path: Path) -> None:
    one, other = make_store(tmp_path), make_store(tmp_path)
    for number in (2, 1, 3):
        one.benchmarks.add(make_result(number), Metadata())
        assert other.benchmarks.rows() == one.benchmarks.rows()
    assert [row.id for row in other.benchmarks.rows()] == [make_id(3), make_id(2), make_id(1)]


def test_unchanged_rows_are_the_same_object(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    store.benchmarks.add(make_result(1), Metadata())
    assert store.benchmarks.rows() is store.benchmarks.rows()


def test_search_requires_every_word_in_some_field(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    store.benchmarks.add(make_result(1), Metadata(name="Straße", note="before the fix"))
    store.benchmarks.add(make_result(2), Metadata(name="other"))
    found = [[row.name for row in store.benchmarks.search(text)] for text in ("FIX strasse", "resnet", "fix other")]
    assert found == [["Straße"], ["other", "Straße"], []]


def test_edit_keeps_the_bytes_of_the_result(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    result = make_result(1, points=10)
    store.benchmarks.add(result, Metadata(name="old", project=make_id(9)))
    path = next(tmp_path.glob("hosts/*/records/*/*.json"))
    before = path.read_bytes()
    row = store.benchmarks.edit(result.id, name="new", note="why")
    assert (row.name, row.note, row.project, row.card_generation) == ("new", "why", make_id(9), 2)
    assert before[before.index(b'"result"') :] == path.read_bytes()[path.read_bytes().index(b'"result"') :]
    assert path.with_name(path.name + ".prev").read_bytes() == before
    assert make_store(tmp_path).benchmarks.rows() == (row,)
    assert store.benchmarks.edit(result.id, project="").project == ""
    metadata = store.benchmarks.get(result.id).metadata
    assert (metadata.project, metadata.updated_utc) == (None, "2026-09-21T14:13:20Z")


def test_edit_without_a_change_writes_nothing(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    store.benchmarks.add(make_result(1), Metadata(name="same"))
    assert store.benchmarks.edit(make_id(1), name="same").card_generation == 1


def test_tinydb_rewriting_a_file_unchanged_is_no_edit(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    row = store.benchmarks.add(make_result(1, points=5), Metadata(name="naïve \ud800"))
    store.benchmarks.edit(row.id, note="x")
    paths = [path for path in tmp_path.rglob("*.json*") if path.suffix != ".lock"]
    assert len(paths) == 4
    for path in paths:
        before = path.read_bytes()
        with TinyDB(path) as database:
            assert "_meta" in database.tables()
            database.storage.write(database.storage.read())
        assert path.read_bytes() == before
    with TinyDB(next(tmp_path.glob("hosts/*/tuibench.json"))) as database:
        assert database.table("benchmarks").all() == [to_plain(store.benchmarks.rows()[0])]
    with TinyDB(next(tmp_path.glob("hosts/*/records/*/*.json"))) as database:
        (result,) = database.table("result").all()
        assert result["id"] == row.id and "headline" not in result
    assert make_store(tmp_path).notices() == ()


def test_store_files_are_private_to_their_owner(tmp_path: Path) -> None:
    old = os.umask(0)
    try:
        store = make_store(tmp_path / "new" / "data")
        (tmp_path / "run").mkdir()
        (tmp_path / "run" / "a-0.z").write_bytes(b"x")
        store.benchmarks.add(make_result(1), Metadata(), tmp_path / "run")
        store.benchmarks.edit(make_id(1), name="x")
    finally:
        os.umask(old)
    for path in (tmp_path / "new").rglob("*"):
        assert stat.S_IMODE(path.lstat().st_mode) == (0o700 if path.is_dir() else 0o600), path


def test_samples_are_moved_beside_their_record(tmp_path: Path) -> None:
    store = make_store(tmp_path / "data")
    result = make_result(1)
    name = Path(result.cells[0].executions[0].samples.file or "").name
    work = tmp_path / "work"
    work.mkdir()
    (work / name).write_bytes(b"samples")
    row = store.benchmarks.add(result, Metadata(), work)
    directory = store.benchmarks.samples(row.id)
    assert directory is not None
    assert (directory / name).read_bytes() == b"samples"
    assert list(work.iterdir()) == []
    assert store.benchmarks.get(row.id).result.cells[0].executions[0].samples.file == name
    assert store.benchmarks.samples(store.benchmarks.add(make_result(2), Metadata()).id) is None


def test_new_ids_have_distinct_short_ids(tmp_path: Path) -> None:
    draws = iter([b"\0" * 10, b"\0" * 10, b"\1" * 10, b"\0" * 10, b"\1" * 10, b"\2" * 10])
    store = make_store(tmp_path)
    store.benchmarks.add(make_result(1), Metadata())
    fresh = make_store(tmp_path, entropy=lambda count: next(draws))
    first = fresh.benchmarks.draw_id(1)
    second = fresh.benchmarks.draw_id(2, taken=(first,))
    third = fresh.benchmarks.draw_id(3, taken=(first, second))
    assert len({one[-4:] for one in (first, second, third)}) == 3


def test_benchmarks_of_several_hosts_are_listed_together(tmp_path: Path) -> None:
    one, other = make_store(tmp_path, "one"), make_store(tmp_path, "other")
    one.benchmarks.add(make_result(1), Metadata(name="of one"))
    other.benchmarks.add(make_result(2), Metadata(name="of other"))
    assert one.host_id != other.host_id
    assert one.host_id == make_store(tmp_path, "one").host_id
    assert [row.name for row in one.benchmarks.rows()] == ["of other", "of one"]
    assert one.benchmarks.rows() == other.benchmarks.rows()
    assert one.benchmarks.edit(make_id(2), name="renamed").name == "renamed"
    assert [row.name for row in other.benchmarks.rows()] == ["renamed", "of one"]


def test_other_hosts_part_on_a_network_disk_is_read_only(tmp_path: Path) -> None:
    make_store(tmp_path, "other").benchmarks.add(make_result(1), Metadata(name="theirs"))
    store = make_store(tmp_path, "one", is_remote=lambda path: "nfs4")
    store.benchmarks.add(make_result(2), Metadata(name="ours"))
    assert store.benchmarks.edit(make_id(2), name="x").name == "x"
    with refused(StoreReadOnly, "other_host_only", file_system="nfs4"):
        store.benchmarks.edit(make_id(1), name="x")
    assert store.benchmarks.get(make_id(1)).metadata.name == "theirs"
