from __future__ import annotations

import json
from pathlib import Path

import pytest
from tinydb import TinyDB

from tests.store.build import make_id, make_result, make_store
from tests.store.moody import Recording
from tuibench.core.stored import Metadata
from tuibench.store import index as index_module
from tuibench.store.envelope import RowEncoder


class Reading(Recording):
    """A disk that counts the bytes read."""

    read_bytes = 0

    def read(self, fd: int, count: int, offset: int) -> bytes:
        data = super().read(fd, count, offset)
        self.read_bytes += len(data)
        return data


def index_file(root: Path) -> Path:
    return next(root.glob("hosts/*/tuibench.json"))


def test_own_changes_are_listed_without_reading_the_index_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = make_store(tmp_path)
    for number in range(9):
        store.benchmarks.add(make_result(number), Metadata(name=str(number)))
    before = store.benchmarks.rows()
    converted: list[object] = []
    monkeypatch.setattr(index_module, "to_row", converted.append)
    added = store.benchmarks.add(make_result(9), Metadata(name="9"))
    edited = store.benchmarks.edit(make_id(3), name="three")
    store.trash.remove([make_id(5)])
    listed = store.benchmarks.rows()
    assert converted == []
    monkeypatch.undo()
    expected = {**{row.id: row for row in before}, added.id: added, edited.id: edited}
    del expected[make_id(5)]
    assert {row.id: row for row in listed} == expected
    assert listed == make_store(tmp_path).benchmarks.rows()


def test_write_without_a_change_keeps_the_cached_list(tmp_path: Path) -> None:
    disk = Reading()
    store = make_store(tmp_path, disk=disk)
    for number in range(30):
        store.benchmarks.add(make_result(number), Metadata(name="same"))
    store.benchmarks.rows()
    disk.read_bytes = 0
    store.benchmarks.edit(make_id(1), name="same")
    store.benchmarks.rows()
    assert disk.read_bytes < index_file(tmp_path).stat().st_size


@pytest.mark.parametrize("harm", ["cut", "zeros", "empty", "row", "number", "list"])
def test_damaged_index_is_rebuilt_from_the_records(tmp_path: Path, harm: str) -> None:
    store = make_store(tmp_path)
    for number in range(4):
        store.benchmarks.add(make_result(number), Metadata(name=str(number)))
    rows = store.benchmarks.rows()
    path = index_file(tmp_path)
    data = path.read_bytes()
    document = json.loads(data)
    if harm == "row":
        del document["benchmarks"]["2"]["status"]
    elif harm == "number":
        document["benchmarks"]["2"]["cells"] = "7"
    elif harm == "list":
        document["benchmarks"]["x"] = document["benchmarks"].pop("2")
    broken = {"cut": data[: len(data) // 2], "zeros": bytes(len(data)), "empty": b""}
    path.write_bytes(broken.get(harm, json.dumps(document).encode()))
    assert store.benchmarks.rows() == rows
    assert any((one.code, one.fields["records"]) == ("index_damaged", 4) for one in store.notices())
    store.benchmarks.edit(make_id(0), note="the next write")
    fresh = make_store(tmp_path)
    assert [row.name for row in fresh.benchmarks.rows()] == ["3", "2", "1", "0"]
    assert fresh.notices() == ()
    assert json.loads(path.read_bytes())["_meta"]["1"]["generation"] > 1


def test_damaged_previous_index_does_not_matter(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    store.benchmarks.add(make_result(1), Metadata())
    store.benchmarks.add(make_result(2), Metadata())
    index_file(tmp_path).with_name("tuibench.json.prev").write_bytes(b"\0")
    index_file(tmp_path).write_bytes(b"{")
    assert len(make_store(tmp_path).benchmarks.rows()) == 2
    assert len(store.benchmarks.rows()) == 2


def test_edited_index_is_rebuilt_kept_and_reported(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    for number in (1, 2):
        store.benchmarks.add(make_result(number), Metadata(name=str(number)))
    rows = store.benchmarks.rows()
    with TinyDB(index_file(tmp_path)) as stock:
        stock.table("benchmarks").remove(doc_ids=[1])
        stock.table("benchmarks").update({"note": "by hand"})
    edited = index_file(tmp_path).read_bytes()
    assert store.benchmarks.rows() == make_store(tmp_path).benchmarks.rows() == rows
    assert index_file(tmp_path).read_bytes() == edited
    (notice,) = store.notices()
    assert (notice.code, notice.fields["records"]) == ("index_damaged", 2)
    store.benchmarks.add(make_result(3), Metadata())
    fresh = make_store(tmp_path)
    assert [(row.name, row.note) for row in fresh.benchmarks.rows()] == [("", ""), ("2", ""), ("1", "")]
    assert fresh.notices() == ()
    assert [path.read_bytes() for path in tmp_path.glob("hosts/*/quarantine/*")] == [edited]


def test_row_encoder_encodes_only_changed_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    encoder = RowEncoder("t")
    table = {str(number): {"a": number, "b": "x"} for number in range(5)}
    assert encoder.encode({"t": table, "u": {}}) == {"t": json.dumps(table).encode(), "u": b"{}"}
    encoded: list[object] = []
    dumps = json.dumps

    def record(value: object) -> str:
        encoded.append(value)
        return dumps(value)

    monkeypatch.setattr(json, "dumps", record)
    table["2"]["a"] = 9
    del table["3"]
    table["7"] = {"b": "x", "a": 7}
    table["4"] = {"b": "x", "a": 4}
    assert encoder.encode({"t": table})["t"] == dumps(table).encode()
    assert [value for value in encoded if isinstance(value, dict)] == [table["2"], table["4"], table["7"]]
