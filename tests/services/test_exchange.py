from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

import pytest

from tests.refusal import refused
from tests.store.build import make_store
from tests.store.data import make_id, make_samples, make_small
from tuibench.core.activity import INTERRUPTED, RUNNING, UNSAVED, RunInfo
from tuibench.core.errors import StoreDamaged, TuibenchError, UnknownId, UsageError, WriteError
from tuibench.core.reason import LEGACY_TEXT, legacy_text
from tuibench.core.stored import Metadata
from tuibench.present.error.words import message_words
from tuibench.runs.directory import RunDirectory
from tuibench.services.exchange import Exchange
from tuibench.services.library import Library
from tuibench.store.store import Store

FOREIGN = Path(__file__).resolve().parents[1] / "fixtures" / "import" / "deepsparse-1.8.0.json"


@dataclass
class Runs:
    """At most one run, whose directory contains nothing readable."""

    place: Path
    run: RunInfo | None = None

    def info(self, token: str) -> RunInfo:
        if self.run is None or not self.run.id.endswith(token.upper()):
            raise UnknownId(LEGACY_TEXT, text="no such run")
        return self.run

    def finder(self) -> Runs:
        return self

    def directory(self, _: str) -> RunDirectory:
        return RunDirectory(self.place)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return make_store(tmp_path / "data")


def exchange(store: Store, place: Path = Path("/nowhere"), run: RunInfo | None = None) -> Exchange:
    runs = Runs(place, run)
    library = Library(store, lambda: cast(Any, runs))
    return Exchange(store, library, lambda: cast(Any, runs), "/home/somebody", lambda: 1_790_000_000_000)


def test_exported_result_is_imported_equal(store: Store, tmp_path: Path) -> None:
    row = store.benchmarks.add(make_small(1), Metadata(name="mine"))
    path = tmp_path / "out.json"
    exchange(store).export("mine", str(path), include_private=True)
    other = make_store(tmp_path / "other", "another machine")
    imported = exchange(other).import_file(str(path))
    assert (imported.row.id, imported.known) == (row.id, False)
    assert other.benchmarks.get(row.id).result.cells[0].pooled == store.benchmarks.get(row.id).result.cells[0].pooled
    other.benchmarks.edit(row.id, note="kept")
    again = exchange(other).import_file(str(path))
    assert again.known and again.row.note == "kept" and len(other.benchmarks.rows()) == 1


@pytest.mark.parametrize("include_private", [True, False])
def test_file_that_differs_from_its_stored_id_is_reported(store: Store, tmp_path: Path, include_private: bool) -> None:
    for number, result in enumerate((make_small(1), make_small(2, sampled=True))):
        store.benchmarks.add(result, Metadata(), make_samples(tmp_path / "samples", number + 1) if number else None)
        path = tmp_path / f"{number}.json"
        exchange(store).export("last", str(path), include_private=include_private)
        same = exchange(store).import_file(str(path))
        assert (same.known, same.differs) == (True, False)
        path.write_text(path.read_text().replace('"seconds": 12.5', '"seconds": 12.75'))
        edited = exchange(store).import_file(str(path))
        assert (edited.known, edited.differs) == (True, True)


def test_directories_are_left_out_unless_requested(store: Store, tmp_path: Path) -> None:
    store.benchmarks.add(make_small(1), Metadata())
    path = store.benchmarks.get(make_id(1)).result.spec.models[0].path
    assert path.startswith("/") and path not in exchange(store).text("last")
    assert path in exchange(store).text("last", include_private=True)
    assert exchange(store).text("last", "csv").count("\n") > 1


def test_foreign_file_is_recognized_under_any_name(store: Store, tmp_path: Path) -> None:
    first = exchange(store).import_file(str(FOREIGN))
    assert not first.known and first.row.foreign == "deepsparse.benchmark 1.8.0" and not first.row.grade
    copy = tmp_path / "copy.json"
    copy.write_bytes(FOREIGN.read_bytes())
    again = exchange(make_store(tmp_path / "data")).import_file(str(copy))
    assert again.known and again.row.id == first.row.id and not again.differs
    document = json.loads(FOREIGN.read_text())
    document["benchmark_result"]["mean"] += 1
    copy.write_text(json.dumps(document))
    assert not exchange(store).import_file(str(copy)).known


def test_two_imports_never_share_a_short_id(store: Store, tmp_path: Path) -> None:
    first = exchange(store).import_file(str(FOREIGN))
    clash = make_id(1)[:-4] + first.row.id[-4:]
    other = make_store(tmp_path / "other")
    other.benchmarks.add(replace(make_small(1), id=clash), Metadata())
    second = exchange(other).import_file(str(FOREIGN))
    assert not second.known and second.row.id[-4:] != clash[-4:]
    assert exchange(other).import_file(str(FOREIGN)).known


def test_removed_result_is_not_imported_over_its_trash_entry(store: Store, tmp_path: Path) -> None:
    for path in (FOREIGN, tmp_path / "own.json"):
        if path != FOREIGN:
            store.benchmarks.add(make_small(1), Metadata())
            exchange(store).export("last", str(path))
            removed = make_id(1)
        else:
            removed = exchange(store).import_file(str(path)).row.id
        store.trash.remove([removed])
        with refused(UsageError, "file_in_trash", path=str(path), id=removed):
            exchange(store).import_file(str(path))


@pytest.mark.parametrize("text", ["", "{", "[]", '{"tuibench": {}}', '{"benchmark_result": 1}', "nan", "\x00"])
def test_invalid_file_is_refused_with_its_name(store: Store, tmp_path: Path, text: str) -> None:
    path = tmp_path / "no\x1b[2Jsense.json"
    path.write_text(text)
    with pytest.raises(UsageError) as caught:
        exchange(store).import_file(str(path))
    words = message_words(caught.value)
    assert "sense.json" in words and words.isprintable()
    assert store.benchmarks.rows() == ()


def test_harmful_export_is_refused(store: Store, tmp_path: Path) -> None:
    model = tmp_path / "m.onnx"
    model.write_bytes(b"model")
    result = make_small(1)
    source = replace(result.spec.models[0], path=str(model))
    store.benchmarks.add(replace(result, spec=replace(result.spec, models=(source,))), Metadata())
    with refused(UsageError, "export_overwrites", path=str(model)):
        exchange(store).export("last", str(model))
    assert model.read_bytes() == b"model"
    with pytest.raises(WriteError):
        exchange(store).export("last", str(tmp_path / "nowhere" / "x.json"))
    with pytest.raises(UnknownId):
        exchange(store).export("zzzz", str(tmp_path / "x.json"))
    assert not (tmp_path / "x.json").exists()


def test_two_results_are_compared_by_their_names(store: Store) -> None:
    for number in (1, 2):
        store.benchmarks.add(make_small(number), Metadata(name=f"name {number}"))
    side = exchange(store).side_by_side("name 1", "last")
    assert (side.old_id, side.new_id, len(side.pairs)) == (make_id(1), make_id(2), 1)


def test_active_or_unreadable_run_is_no_result(store: Store, tmp_path: Path) -> None:
    run = RunInfo(make_id(9), RUNNING, None, "", (), "", "/x", 1, 1, 0, 0, None)
    with refused(UsageError, "run_still_running", run=make_id(9)):
        exchange(store, tmp_path, run).result("0009")
    broken = RunInfo(make_id(9), INTERRUPTED, legacy_text("its journal is gone"), "", (), "", "/x", None, 0, 0, 0, None)
    with pytest.raises(TuibenchError):
        exchange(store, tmp_path, broken).result("0009")


def test_run_is_a_result_when_the_list_cannot_be_read(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse() -> None:
        raise StoreDamaged(LEGACY_TEXT, text="the list is damaged")

    run = RunInfo(make_id(9), UNSAVED, None, "", (), "", "/x", None, 1, 1, 1, None)
    monkeypatch.setattr(store.benchmarks, "rows", refuse)
    monkeypatch.setattr("tuibench.services.exchange.result_of", lambda _: make_small(9))
    assert exchange(store, tmp_path, run).result("0009").id == make_id(9)
    # The newest row of an unreadable list is not the newest run.
    for token in ("last", "0001"):
        with pytest.raises(StoreDamaged):
            exchange(store, tmp_path, replace(run, id=make_id(9)[:-4] + "LAST")).result(token)


def test_result_of_a_resumable_run_is_not_imported(store: Store, tmp_path: Path) -> None:
    row = store.benchmarks.add(make_small(1), Metadata())
    path = tmp_path / "out.json"
    exchange(store).export(row.id, str(path))
    run = RunInfo(row.id, INTERRUPTED, None, "", (), "", "/x", None, 1, 1, 1, None, resumable=True)
    other = make_store(tmp_path / "other", "another machine")
    with refused(UsageError, "file_of_run", run=row.id, state=INTERRUPTED):
        exchange(other, tmp_path, run).import_file(str(path))
    assert other.benchmarks.rows() == ()
