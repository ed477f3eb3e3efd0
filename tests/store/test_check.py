from __future__ import annotations

import json
import os
import re
import shutil
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest
from tinydb import TinyDB

from tests.refusal import refused
from tests.store.build import NOW, make_id, make_result, make_store
from tuibench.core.errors import StoreDamaged, UnknownId
from tuibench.core.ids import short_id
from tuibench.core.stored import Metadata
from tuibench.present.error.words import message_words
from tuibench.present.reason import reason_words
from tuibench.store.documents import Documents
from tuibench.store.store import Store


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    tmp_path = tmp_path_factory.mktemp("template")
    store = make_store(tmp_path / "data")
    for number in range(3):
        work = tmp_path / f"work-{number}"
        work.mkdir()
        result = make_result(number)
        (work / Path(result.cells[0].executions[0].samples.file or "").name).write_bytes(zlib.compress(b"abcd" * 9))
        store.benchmarks.add(result, Metadata(name=f"n{number}"), work)
    store.benchmarks.edit(make_id(1), note="second generation")
    Documents(store._context, "projects").put(make_id(50), {"name": "p"}, 0)
    Documents(store._context, "projects").put(make_id(50), {"name": "q"}, 1)
    return tmp_path / "data"


@pytest.fixture
def root(template: Path, tmp_path: Path) -> Path:
    """A copy of the template."""
    return Path(shutil.copytree(template, tmp_path / "data"))


def host(root: Path) -> Path:
    return next(root.glob("hosts/*"))


def record(root: Path, number: int) -> Path:
    return next(root.glob(f"hosts/*/records/*/{make_id(number)}.json"))


def flip(path: Path, place: int) -> None:
    data = bytearray(path.read_bytes())
    data[place] ^= 0x10
    path.write_bytes(data)


def lose_index(root: Path) -> None:
    (host(root) / "tuibench.json").unlink()


def damage_index(root: Path) -> None:
    flip(host(root) / "tuibench.json", 300)
    (host(root) / "tuibench.json").write_bytes((host(root) / "tuibench.json").read_bytes()[:-20])


def edit_index(root: Path) -> None:
    with TinyDB(host(root) / "tuibench.json") as database:
        database.table("benchmarks").update({"note": "by hand"}, doc_ids=[1])


def unlist(root: Path) -> None:
    store = make_store(root)
    store.benchmarks.index(store._context.own()).drop([make_id(2)])


def lose_record(root: Path) -> None:
    record(root, 2).unlink()


def damage_result(root: Path) -> None:
    data = record(root, 2).read_bytes()
    record(root, 2).write_bytes(data.replace(b'"seconds": 12.5', b'"seconds": 12.6'))


def cut_record(root: Path) -> None:
    record(root, 2).write_bytes(record(root, 2).read_bytes()[:-100])


def edit_metadata(root: Path) -> None:
    with TinyDB(record(root, 2)) as database:
        database.table("card").update({"note": "by hand"})


def make_stale(root: Path) -> None:
    store = make_store(root)
    index = host(root) / "tuibench.json"
    before = index.read_bytes()
    store.benchmarks.edit(make_id(2), note="newer")
    index.write_bytes(before)


def leave_temp(root: Path) -> None:
    temp = record(root, 2).parent / f".{make_id(2)}.json.{make_store(root)._context.files.node}-999999999-1.tmp"
    temp.write_bytes(b"x")
    os.utime(temp, (NOW - 3700, NOW - 3700))


def leave_samples(root: Path) -> None:
    (record(root, 2).parent / f"{make_id(9)[:-2]}{make_id(2)[-2:]}.samples").mkdir()


def leave_move(root: Path) -> None:
    (host(root) / "trash" / f"{make_id(70)}.moving").mkdir(parents=True)


def damage_project(root: Path) -> None:
    (root / "projects" / f"{make_id(50)}.json").write_bytes(b"{")


FAULTS: dict[str, tuple[Callable[[Path], None], set[str]]] = {
    "lose_index": (lose_index, {"missing"}),
    "damage_index": (damage_index, {"damaged"}),
    "edit_index": (edit_index, {"damaged"}),
    "unlist": (unlist, {"unlisted"}),
    "lose_record": (lose_record, {"missing", "leftover"}),
    "cut_record": (cut_record, {"damaged", "missing"}),
    "edit_metadata": (edit_metadata, {"edited", "stale"}),
    "make_stale": (make_stale, {"stale"}),
    "leave_temp": (leave_temp, {"leftover"}),
    "leave_samples": (leave_samples, {"leftover"}),
    "leave_move": (leave_move, {"unfinished"}),
    "damage_project": (damage_project, {"damaged"}),
}


def test_check_of_a_sound_or_missing_store_finds_no_problem(root: Path, tmp_path: Path) -> None:
    report = make_store(root).check(read_data=True)
    assert (report.problems, report.exit_code) == ((), 0)
    assert report.read >= 3 + 3 + 1 + 1
    assert make_store(tmp_path / "none").check(repair=True).exit_code == 0
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize("fault", FAULTS)
def test_check_finds_each_fault_and_repair_mends_it_once(root: Path, fault: str) -> None:
    harm, kinds = FAULTS[fault]
    harm(root)
    before = {path: path.read_bytes() for path in root.rglob("*") if path.is_file() and path.suffix != ".lock"}
    found = make_store(root).check(read_data=True)
    assert found.exit_code == 6
    assert {problem.kind for problem in found.problems} <= kinds
    after = {path: path.read_bytes() for path in root.rglob("*") if path.is_file() and path.suffix != ".lock"}
    assert after == before
    repaired = make_store(root).check(read_data=True, repair=True)
    assert {problem.kind for problem in repaired.problems} <= kinds
    assert repaired.exit_code == 0
    again = make_store(root).check(read_data=True)
    assert again.problems == ()


def test_repair_keeps_a_damaged_record_in_quarantine(root: Path) -> None:
    cut_record(root)
    cut = record(root, 2).read_bytes()
    make_store(root).check(repair=True)
    assert any(path.read_bytes() == cut for path in (host(root) / "quarantine").iterdir() if path.is_file())
    assert [row.id for row in make_store(root).benchmarks.rows()] == [make_id(1), make_id(0)]


def test_damaged_record_with_previous_generation_stays_readable(root: Path) -> None:
    path = record(root, 1)
    path.write_bytes(b"\0" * 100)
    store = make_store(root)
    assert store.benchmarks.get(make_id(1)).metadata.note == ""
    assert any(notice.code == "previous_used" for notice in store.notices())
    assert store.check(repair=True).exit_code == 0
    fresh = make_store(root)
    assert fresh.benchmarks.get(make_id(1)).result.id == make_id(1)
    assert fresh.notices() == ()
    assert len(fresh.benchmarks.rows()) == 3


def test_result_with_a_changed_number_is_refused_as_damaged(root: Path) -> None:
    damage_result(root)
    store = make_store(root)
    with refused(StoreDamaged, "record_damaged", id=make_id(2)):
        store.benchmarks.get(make_id(2))
    assert store.benchmarks.get(make_id(1)).result.seconds == 12.5
    assert len(store.benchmarks.rows()) == 3
    # The quick check trusts heads; the thorough check reads every byte.
    assert store.check().problems == ()
    (problem,) = store.check(read_data=True).problems
    assert (problem.kind, problem.path) == ("damaged", os.path.relpath(record(root, 2), root))


def test_damaged_record_stays_listed_after_an_index_rebuild(root: Path) -> None:
    cut_record(root)
    record(root, 2).write_bytes(b"x" + record(root, 2).read_bytes()[1:])
    lose_index(root)
    rows = make_store(root).benchmarks.rows()
    assert [(row.id, row.status) for row in rows] == [
        (make_id(2), "damaged"),
        (make_id(1), "finished"),
        (make_id(0), "finished"),
    ]


def test_accepted_hand_edit_is_kept_with_the_edited_file(root: Path) -> None:
    edit_metadata(root)
    edited = record(root, 2).read_bytes()
    make_store(root).check(repair=True)
    assert make_store(root).benchmarks.rows()[0].note == "by hand"
    assert any(path.read_bytes() == edited for path in (host(root) / "quarantine").iterdir())
    assert make_store(root).notices() == ()


def test_damaged_samples_are_found_and_quarantined(root: Path) -> None:
    sample = next(root.glob(f"hosts/*/records/*/{make_id(0)}.samples/*"))
    flip(sample, 5)
    assert make_store(root).check().problems == ()
    store = make_store(root)
    assert [problem.kind for problem in store.check(read_data=True, repair=True).problems] == ["damaged"]
    assert not sample.exists()
    assert store.check(read_data=True).problems == ()


def test_check_from_another_host_reports_without_repairing(root: Path) -> None:
    unlist(root)
    store: Store = make_store(root, "another machine", is_remote=lambda path: "nfs4")
    report = store.check(repair=True)
    assert [(problem.kind, problem.repaired) for problem in report.problems] == [("unlisted", False)]
    assert any(notice.fields.get("file_system") == "nfs4" for notice in store.notices())


def test_quarantined_record_is_unknown_and_can_be_saved_again(root: Path) -> None:
    cut_record(root)
    store = make_store(root)
    store.check(repair=True)
    with pytest.raises(UnknownId):
        store.benchmarks.get(make_id(2))
    again = store.benchmarks.add(make_result(2), Metadata(name="saved again"))
    assert json.loads(record(root, 2).read_bytes())["card"]["1"]["name"] == again.name


@pytest.mark.parametrize("name", ["manifest.json", "record"])
def test_thorough_check_reads_the_trash(root: Path, name: str) -> None:
    make_store(root).trash.remove([make_id(2), make_id(1)])
    (place,) = root.glob("hosts/*/trash/*")
    path = (
        place / name if name != "record" else next(p for p in place.iterdir() if p.name.endswith(f"{make_id(2)}.json"))
    )
    path.write_bytes(path.read_bytes()[:-9])
    (problem,) = make_store(root).check(read_data=True).problems
    assert (problem.kind, problem.path) == ("damaged", os.path.relpath(path, root))
    assert make_store(root).check(read_data=True, repair=True).exit_code == 0
    assert make_store(root).check(read_data=True).problems == ()
    store = make_store(root)
    if name == "record":
        store.trash.restore()
        assert [row.id for row in store.benchmarks.rows()] == [make_id(1), make_id(0)]
    else:
        assert any(path.is_dir() for path in (host(root) / "quarantine").iterdir())


@pytest.mark.parametrize("fault", ["damage_index", "cut_record", "damage_project", "damage_salt"])
def test_check_names_each_file_once_and_no_exception(root: Path, fault: str) -> None:
    if fault == "damage_salt":
        (root / "salt").write_bytes(b"x")
    else:
        FAULTS[fault][0](root)
    for repair in (False, True):
        problems = [one for one in make_store(root).check(repair=repair).problems if one.kind == "damaged"]
        assert problems
        for problem in problems:
            words = reason_words(problem.detail)
            assert os.path.basename(problem.path) not in words.split("; kept as")[0]
            assert not re.search(r"[A-Z]\w+Error|of the store", words), words


def test_report_lists_repairable_problems_and_files_read(root: Path) -> None:
    damage_index(root)
    (problem,) = make_store(root).check().problems
    assert problem.mendable and reason_words(problem.detail) == "not JSON; --repair rebuilds it from the records"
    (problem,) = make_store(root).check(repair=True).problems
    assert not problem.mendable and reason_words(problem.detail) == "not JSON; rebuilt from the records"
    (root / "salt").write_bytes(b"x")
    assert [one.mendable for one in make_store(root).check().problems] == [False]
    assert make_store(root).check().partial and not make_store(root).check(read_data=True).partial


def test_record_error_message_contains_no_python_terms(root: Path) -> None:
    for document in (b"{", b'{"_meta": {"1": {}}, "card": {}}'):
        record(root, 2).write_bytes(document)
        with pytest.raises(StoreDamaged) as caught:
            make_store(root).benchmarks.get(make_id(2))
        assert not re.search(r"Error|'\w+'", message_words(caught.value)), message_words(caught.value)


def test_lost_record_with_a_journal_can_be_saved_again(root: Path) -> None:
    cut_record(root)
    again = f"tuibench resume {short_id(make_id(2))} --finish saves it again"
    journals = [make_id(1), make_id(2), make_id(9)]
    assert again not in reason_words(make_store(root).check().problems[0].detail)
    assert f"after a repair {again}" in reason_words(make_store(root).check(journals=journals).problems[0].detail)
    store = make_store(root)
    assert again in reason_words(store.check(repair=True, journals=journals).problems[0].detail)
    assert store.notices() == ()
    store = make_store(root)
    assert store.check(journals=journals).problems == ()
    assert [again in reason_words(notice) for notice in store.notices()] == [True]
    store.benchmarks.add(make_result(2), Metadata())
    for trashed in (False, True):
        if trashed:
            store.trash.remove([make_id(2)])
        store = make_store(root)
        assert store.check(journals=journals).problems == () and store.notices() == ()


def test_listed_benchmark_without_record_can_be_saved_again(root: Path) -> None:
    lose_record(root)
    problems = make_store(root).check(journals=[make_id(2)]).problems
    (missing,) = (problem for problem in problems if problem.kind == "missing")
    assert f"tuibench resume {short_id(make_id(2))} --finish" in reason_words(missing.detail)
