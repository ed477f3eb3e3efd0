"""One contract for TinyDB's storage and the sealed one, and the faults of the plain one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tinydb import TinyDB, where
from tinydb.storages import MemoryStorage

from tests.refusal import refused
from tests.store.build import make_store
from tuibench.core.errors import StoreError
from tuibench.store.envelope import encode_table
from tuibench.store.storage import SealedDB, SealedStorage


def open_sealed(root: Path, **changes: Any) -> SealedDB:
    context = make_store(root, **changes)._context
    lock = context.lock(str(root / "some.json.lock"))
    derived: dict[str, Any] = {}
    parts = (lambda _: derived, lambda _: None, lambda tables: {name: encode_table(tables[name]) for name in tables})
    return SealedDB(context.sealing, str(root / "some.json"), lock, *parts, storage=SealedStorage)


@pytest.fixture(params=["memory", "sealed"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> TinyDB:
    return TinyDB(storage=MemoryStorage) if request.param == "memory" else open_sealed(tmp_path)


def test_tinydb_operations_keep_documents(database: TinyDB) -> None:
    assert database.all() == []
    first = database.insert({"a": 1})
    assert database.insert_multiple([{"a": 2}, {"a": 3}]) == [first + 1, first + 2]
    assert database.update({"b": 1}, where("a") > 1) == [2, 3]
    assert database.update_multiple([({"c": 1}, where("a") == 1)]) == [1]
    assert database.upsert({"a": 9, "b": 9}, where("a") == 9) == [4]
    assert database.upsert({"b": 8}, where("a") == 9) == [4]
    assert database.remove(where("a") == 2) == [2]
    assert database.remove(doc_ids=[3]) == [3]
    assert database.all() == [{"a": 1, "c": 1}, {"a": 9, "b": 8}]
    assert database.get(where("a") == 9) == {"a": 9, "b": 8}
    assert database.search(where("a") == 1) == [{"a": 1, "c": 1}]
    database.truncate()
    assert len(database) == 0
    assert database.insert({"a": 1}) == 1


def test_tables_are_separate_and_can_be_dropped(database: TinyDB) -> None:
    database.table("x").insert({"a": 1})
    database.table("y").insert({"a": 2})
    assert database.tables() == {"x", "y"}
    database.drop_table("x")
    assert database.tables() == {"y"}
    database.drop_tables()
    assert database.tables() == set()


def test_two_sessions_see_each_other_and_share_no_document_number(tmp_path: Path) -> None:
    one, other = open_sealed(tmp_path), open_sealed(tmp_path)
    condition = where("a") > 0
    for number in range(1, 6):
        session = (one, other)[number % 2]
        assert session.search(condition) == session.all()
        assert session.insert({"a": number}) == number
        assert session.insert_multiple([]) == []
    assert len(one.search(condition)) == len(other.search(condition)) == 5


def test_transaction_writes_one_generation_or_none(tmp_path: Path) -> None:
    database = open_sealed(tmp_path)
    storage = database.storage
    assert isinstance(storage, SealedStorage)
    with storage.transaction():
        for number in range(5):
            database.insert({"a": number})
        assert open_sealed(tmp_path).all() == []
    assert json.loads((tmp_path / "some.json").read_bytes())["_meta"]["1"]["generation"] == 1
    before = (tmp_path / "some.json").read_bytes()

    def fail() -> None:
        with storage.transaction():
            database.update({"a": 9})
            database.remove(doc_ids=[1])
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert (tmp_path / "some.json").read_bytes() == before
    assert database.all() == open_sealed(tmp_path).all() == [{"a": number} for number in range(5)]


def test_documents_changed_before_an_error_are_not_shown(tmp_path: Path) -> None:
    database = open_sealed(tmp_path)
    database.insert({"a": 1})

    def change(document: dict[str, Any]) -> None:
        document["a"] = 2
        raise KeyError("in the middle")

    with pytest.raises(KeyError):
        database.update(change, doc_ids=[1])
    with pytest.raises(TypeError):
        database.update({"a": object()}, doc_ids=[1])
    assert database.all() == [{"a": 1}]


def test_value_that_is_not_json_is_not_written(tmp_path: Path) -> None:
    database = open_sealed(tmp_path)
    database.insert({"a": 1})
    before = (tmp_path / "some.json").read_bytes()
    with pytest.raises(TypeError):
        database.insert({"a": {1, 2}})
    assert (tmp_path / "some.json").read_bytes() == before
    assert [path.name for path in tmp_path.iterdir() if path.name.endswith(".tmp")] == []
    assert database.insert({"a": 2}) == 2


def test_planted_link_is_neither_read_nor_written_through(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("precious")
    for name in ("some.json", "some.json.lock"):
        store = tmp_path / name
        store.mkdir()
        planted = store / name
        planted.symlink_to(victim)
        with refused(StoreError, "store_path_blocked", name=name):
            open_sealed(store).insert({"a": 1})
        assert victim.read_text() == "precious"
        assert planted.is_symlink()
