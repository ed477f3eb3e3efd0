from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from tinydb import TinyDB

from tests.refusal import refused
from tests.store.build import make_id, make_store
from tuibench.core.errors import StoreConflict, StoreDamaged, UnknownId
from tuibench.store.documents import Documents


def open_documents(root: Path, kind: str = "projects") -> Documents:
    return Documents(make_store(root)._context, kind)


def test_documents_are_kept_and_count_generations(tmp_path: Path) -> None:
    documents = open_documents(tmp_path)
    assert (documents.all(), documents.get(make_id(1))) == ((), None)
    assert not any(tmp_path.iterdir())
    first = documents.put(make_id(1), {"name": "a"}, 0)
    assert first.generation == 1
    assert documents.put(make_id(1), {"name": "b"}, 1).generation == 2
    documents.put(make_id(0), {"name": "older"}, 0)
    assert [(one.values["name"], one.generation) for one in open_documents(tmp_path).all()] == [("older", 1), ("b", 2)]
    with TinyDB(tmp_path / "projects" / f"{make_id(1)}.json") as stock:
        assert stock.table("projects").all() == [{"name": "b"}]


def test_put_with_an_outdated_generation_is_refused(tmp_path: Path) -> None:
    one, other = open_documents(tmp_path), open_documents(tmp_path)
    one.put(make_id(1), {"name": "a"}, 0)
    seen = other.get(make_id(1))
    assert seen is not None
    one.put(make_id(1), {"name": "by one"}, 1)
    with refused(StoreConflict, "changed_meanwhile", name="by other"):
        other.put(make_id(1), {"name": "by other"}, seen.generation)
    now = other.get(make_id(1))
    assert now is not None
    assert now.values == {"name": "by one"}
    other.put(make_id(1), {"name": "by other"}, now.generation)
    with pytest.raises(StoreConflict):
        one.put(make_id(1), {"name": "new"}, 0)
    (tmp_path / "projects" / f"{make_id(1)}.json").unlink()
    with refused(StoreConflict, "removed_meanwhile", name="late"):
        one.put(make_id(1), {"name": "late"}, 3)


def test_damaged_document_hides_no_other(tmp_path: Path) -> None:
    documents = open_documents(tmp_path)
    for number in (1, 2):
        documents.put(make_id(number), {"name": str(number)}, 0)
    (tmp_path / "projects" / f"{make_id(1)}.json").write_bytes(b"{}")
    store = make_store(tmp_path)
    assert [one.values["name"] for one in Documents(store._context, "projects").all()] == ["2"]
    assert any(make_id(1) in notice.fields["name"] for notice in store.notices())


def test_put_with_a_malformed_id_is_refused(tmp_path: Path) -> None:
    for name in ("../x", "a", "", f"{make_id(1)}/"):
        with pytest.raises(UnknownId):
            open_documents(tmp_path).put(name, {}, 0)


def test_hand_edited_document_is_read_and_kept_in_quarantine(tmp_path: Path) -> None:
    open_documents(tmp_path).put(make_id(1), {"name": "a"}, 0)
    path = tmp_path / "projects" / f"{make_id(1)}.json"
    with TinyDB(path) as stock:
        stock.table("projects").update({"name": "b"})
    edited = path.read_bytes()
    store = make_store(tmp_path)
    documents = Documents(store._context, "projects")
    (found,) = documents.all()
    assert found.values == {"name": "b"} and path.read_bytes() == edited
    assert [make_id(1) in notice.fields["name"] for notice in store.notices()] == [True]
    documents.put(make_id(1), {"name": "c"}, 1)
    assert [kept.read_bytes() for kept in (tmp_path / "quarantine").iterdir()] == [edited]
    state = path.stat()
    path.write_bytes(path.read_bytes().replace(b'"name": "c"', b'"name": "d"'))
    os.utime(path, ns=(state.st_atime_ns, state.st_mtime_ns + 1))
    assert [one.values for one in documents.all()] == [{"name": "d"}], "an edit of equal length is noticed"


def test_unreadable_document_is_read_from_its_previous_generation(tmp_path: Path) -> None:
    for number in range(3):
        open_documents(tmp_path).put(make_id(1), {"name": number}, number)
    path = tmp_path / "projects" / f"{make_id(1)}.json"
    path.write_bytes(path.read_bytes()[:-3])
    store = make_store(tmp_path)
    documents = Documents(store._context, "projects")
    (found,) = documents.all()
    assert (found.values, found.generation) == ({"name": 1}, 2) and len(store.notices()) == 1
    assert documents.put(make_id(1), {"name": 5}, 2).generation == 3
    # The damaged file did not replace the previous version.
    assert json.loads(Path(f"{path}.prev").read_bytes())["_meta"]["1"]["generation"] == 2
    path.write_bytes(b"")
    Path(f"{path}.prev").write_bytes(b"\0\0\0")
    with pytest.raises(StoreDamaged, match=make_id(1)):
        open_documents(tmp_path).get(make_id(1))
