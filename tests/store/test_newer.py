"""Files of a newer version are read as far as possible, reported as newer, and never written, moved or dropped."""

from __future__ import annotations

import json
import shutil
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.refusal import refused
from tests.store.build import make_id, make_result, make_store
from tuibench.core.errors import StoreDamaged, StoreNewer, StoreReadOnly
from tuibench.core.schema import NEWEST
from tuibench.core.stored import FileStamp, Metadata, ModelReference
from tuibench.store.envelope import Header, Unreadable, encode_table, seal, unseal
from tuibench.store.store import Store

MODEL = ModelReference("m.onnx", FileStamp("/m.onnx", 7, 8, "ab" * 32), "ab" * 32)
Tables = dict[str, bytes]


def renamed(tables: Tables) -> Tables:
    """Return the tables with every table renamed."""
    return {f"new_{name}": part for name, part in tables.items()}


def result_renamed(tables: Tables) -> Tables:
    """Return the tables with one table renamed and one added."""
    other = {"result": "outcome", "benchmarks": "rows", "projects": "plans", "versions": "models", "trash": "gone"}
    return {other.get(name, name): part for name, part in tables.items()} | {"extra": b'{"1": {"a": [1]}}'}


def unlike(tables: Tables) -> Tables:
    """Return data without document tables."""
    return dict.fromkeys(tables, b"[1, 2]")


def other_fields(tables: Tables) -> Tables:
    """Return the same tables with other documents."""
    return dict.fromkeys(tables, b'{"1": {"what": "a newer version knows"}}')


def packed(tables: Tables) -> Tables:
    """Return bytes behind the head that are not JSON."""
    return {name: b"\xff\xfe" + part[:-1] for name, part in tables.items()}


FORMS: list[Callable[[Tables], Tables]] = [renamed, result_renamed, unlike, other_fields, packed]


def rewrite(path: Path, form: Callable[[Tables], Tables], schema: int = NEWEST + 1) -> bytes:
    """Rewrite a file as a newer version seals it."""
    opened = unseal(path.read_bytes())
    tables = {name: encode_table(table) for name, table in opened.tables.items()}
    data = seal(form(tables), Header(opened.header.generation, schema, "9.9.0", opened.header.marks))
    path.write_bytes(data)
    return data


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with one of each kind of file, and samples packed in another way."""
    tmp_path = tmp_path_factory.mktemp("template")
    store = make_store(tmp_path / "data")
    for number in range(3):
        work = tmp_path / f"work-{number}"
        work.mkdir()
        (work / f"{make_result(number).cells[0].asked.key}-0.z").write_bytes(zlib.compress(b"abcd"))
        store.benchmarks.add(make_result(number), Metadata(name=f"n{number}"), work)
    store.projects.create("p", MODEL)
    store.trash.remove([make_id(0)])
    store.benchmarks.edit(make_id(1), note="with a generation before")
    return tmp_path / "data"


@pytest.fixture
def root(template: Path, tmp_path: Path) -> Path:
    """A copy of the template."""
    return Path(shutil.copytree(template, tmp_path / "data"))


def only(root: Path, pattern: str) -> Path:
    (found,) = root.glob(pattern)
    return found


RECORD, INDEX = f"hosts/*/records/*/{make_id(1)}.json", "hosts/*/tuibench.json"
BY_NEWER: dict[str, Any] = {"schema": NEWEST + 1, "tool": "9.9.0"}
MANIFEST = "hosts/*/trash/*/manifest.json"
PLACES = [RECORD, INDEX, MANIFEST, "projects/*.json", "versions/*.json", f"hosts/*/trash/*/*{make_id(0)}.json"]


def files(root: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in root.rglob("*") if path.is_file() and path.suffix != ".lock"}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("place", PLACES)
def test_sealed_newer_file_is_not_called_damaged_moved_or_dropped(
    root: Path, place: str, form: Callable[[Tables], Tables]
) -> None:
    rewrite(only(root, place), form)
    before = files(root)
    for read_data, repair in ((False, False), (True, False), (True, True)):
        report = make_store(root).check(read_data=read_data, repair=repair)
        looked_at = "trash" not in place or read_data
        assert {problem.kind for problem in report.problems} == ({"newer"} if looked_at else set()), report
        assert all(problem.detail is not None and problem.detail.fields == BY_NEWER for problem in report.problems)
        assert report.exit_code == 0
    assert files(root) == before
    assert {row.id for row in make_store(root).benchmarks.rows()} == {make_id(1), make_id(2)}


@pytest.mark.parametrize("form", FORMS)
def test_newer_record_is_reported_and_keeps_its_row(root: Path, form: Callable[[Tables], Tables]) -> None:
    rows = make_store(root).benchmarks.rows()
    path = only(root, RECORD)
    data = rewrite(path, form)
    store = make_store(root)
    for act in (store.benchmarks.get, lambda one: store.benchmarks.edit(one, name="x")):
        with refused(StoreNewer, "newer_not_shown", **BY_NEWER):
            act(make_id(1))
    with pytest.raises(StoreReadOnly):
        store.benchmarks.add(make_result(1), Metadata())
    assert store.benchmarks.rows() == rows and path.read_bytes() == data
    # The previous version is readable but is not the last saved.
    assert path.with_name(path.name + ".prev").exists()


def test_unlisted_newer_record_is_listed_with_its_known_fields(root: Path) -> None:
    known, unknown = make_id(1), make_id(2)
    rewrite(only(root, RECORD), result_renamed)
    rewrite(only(root, RECORD.replace(known, unknown)), unlike)
    only(root, INDEX).unlink()
    assert make_store(root).check(repair=True).exit_code == 0
    rows = {row.id: row for row in make_store(root).benchmarks.rows()}
    assert (rows[known].status, rows[known].name, rows[known].models) == ("newer", "n1", "resnet50.onnx")
    assert (rows[unknown].status, rows[unknown].name, rows[unknown].models) == ("newer", "", "")


@pytest.mark.parametrize("form", FORMS)
def test_newer_index_is_left_alone_and_its_records_are_listed(root: Path, form: Callable[[Tables], Tables]) -> None:
    rows = make_store(root).benchmarks.rows()
    data = rewrite(only(root, INDEX), form)
    store = make_store(root)
    assert store.benchmarks.rows() == rows
    changes: list[Callable[[], object]] = [
        lambda: store.benchmarks.add(make_result(7), Metadata()),
        lambda: store.benchmarks.edit(make_id(1), name="x"),
        lambda: store.trash.remove([make_id(1)]),
        store.trash.restore,
    ]
    before = files(root)
    for act in changes:
        with refused(StoreReadOnly, "newer_read_only", **BY_NEWER):
            act()
    assert files(root) == before and only(root, INDEX).read_bytes() == data


def test_interrupted_removal_waits_for_the_newer_version(root: Path) -> None:
    directory = only(root, "hosts/*/trash/*")
    directory.rename(directory.with_name(directory.name + ".restoring"))
    rewrite(only(root, INDEX), renamed)
    before = files(root)
    (newer, unfinished) = sorted(make_store(root).check(repair=True).problems, key=lambda one: one.kind)
    assert (newer.kind, unfinished.kind, unfinished.repaired) == ("newer", "unfinished", False)
    assert files(root) == before


def test_newer_index_of_another_host_is_left_alone(root: Path) -> None:
    make_store(root, "another machine").benchmarks.add(make_result(9), Metadata(name="theirs"))
    host = make_store(root).host_id
    data = rewrite(root / "hosts" / host / "tuibench.json", renamed)
    other = make_store(root, "another machine")
    assert len(other.benchmarks.rows()) == 3
    assert [problem.kind for problem in other.check(repair=True).problems] == ["newer"]
    assert (root / "hosts" / host / "tuibench.json").read_bytes() == data
    assert other.benchmarks.edit(make_id(9), name="ours can").name == "ours can"


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("place", ["projects", "versions"])
def test_newer_project_does_not_affect_other_projects(root: Path, place: str, form: Callable[[Tables], Tables]) -> None:
    path = only(root, f"{place}/*.json")
    data = rewrite(path, form)
    store = make_store(root)
    store.projects.create("another", ModelReference("n.onnx", FileStamp("/n.onnx", 7, 8, "cd" * 32), "cd" * 32))
    assert "another" in [one.name for one in store.projects.all()]
    assert any(said.code == "newer_not_shown" and said.fields.items() >= BY_NEWER.items() for said in store.notices())
    assert path.read_bytes() == data
    if place == "projects":
        with pytest.raises(StoreNewer):
            store.projects.get(path.stem)


def test_trash_keeps_entries_of_a_newer_version(root: Path) -> None:
    rewrite(only(root, MANIFEST), renamed)
    store: Store = make_store(root)
    assert store.trash.entries() == () and store.trash.empty() == (0, 0)
    assert only(root, MANIFEST).exists()
    assert any(said.code == "newer_not_shown" for said in store.notices())


def test_unreadable_newer_record_without_a_valid_seal_is_damaged(root: Path) -> None:
    path = only(root, RECORD)
    path.write_bytes(rewrite(path, renamed).replace(b"9.9.0", b"9.9.1"))
    path.with_name(path.name + ".prev").unlink()
    with pytest.raises(StoreDamaged):
        make_store(root).benchmarks.get(make_id(1))
    path.write_bytes(json.dumps({"_meta": {"1": {"schema": 3}}, "card": []}).encode())
    with pytest.raises(Unreadable):
        unseal(path.read_bytes())


def test_readable_newer_record_without_a_valid_seal_is_left_alone(root: Path) -> None:
    path = only(root, RECORD)
    rewrite(path, lambda tables: tables)
    path.write_bytes(path.read_bytes().replace(b"9.9.0", b"9.9.1"))
    before = files(root)
    report = make_store(root).check(read_data=True, repair=True)
    assert [(one.kind, one.repaired) for one in report.problems] == [("edited", False)] and report.exit_code == 6
    assert files(root) == before


def test_samples_of_a_newer_record_are_not_checked(root: Path) -> None:
    rewrite(only(root, RECORD), renamed)
    sample = only(root, f"hosts/*/records/*/{make_id(1)}.samples/*")
    sample.write_bytes(b"packed otherwise")
    report = make_store(root).check(read_data=True, repair=True)
    assert [one.kind for one in report.problems] == ["newer"] and sample.read_bytes() == b"packed otherwise"
