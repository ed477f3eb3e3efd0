from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

import pytest

from tests.refusal import refused
from tests.services.script import ScriptedRun
from tests.store.build import make_store
from tests.store.data import make_id, make_small
from tuibench.core.activity import CANCELLED, ELSEWHERE, FINISHED, INTERRUPTED, RUNNING, UNSAVED, WAITING, RunInfo
from tuibench.core.errors import UnknownId
from tuibench.core.machine import Places
from tuibench.core.reason import LEGACY_TEXT, because
from tuibench.core.stored import FileStamp, Metadata, ModelReference
from tuibench.present.error.words import hint_words
from tuibench.present.reason import reason_words
from tuibench.runs.directory import RunDirectory
from tuibench.services import runs as run_services
from tuibench.services.library import Library, NeverSaved, StillRunning
from tuibench.services.settings import Settings
from tuibench.store.benchmarks import Benchmarks
from tuibench.store.store import Store
from tuibench.store.trash import Trash


def info(number: int, state: str, name: str = "", executions: int = 0, resumable: bool = False) -> RunInfo:
    return RunInfo(
        make_id(number), state, None, "", ("m",), name, "/x", 1, 1, 0, executions, None, resumable=resumable
    )  # fmt: skip


@dataclass
class Runs:
    """Scripted runs; cancelling one saves the result that `saves` returns."""

    known: dict[str, RunInfo] = field(default_factory=dict)
    cancelled: list[str] = field(default_factory=list)
    discarded: list[str] = field(default_factory=list)
    forgotten: set[str] = field(default_factory=set)
    saves: Callable[[str], object] = lambda _: None

    def info(self, token: str) -> RunInfo:
        for run in self.known.values():
            if run.id.endswith(token.upper()) or run.name == token:
                return run
        raise UnknownId(LEGACY_TEXT, text="no such run")

    def finder(self) -> Runs:
        return self

    def discard(self, token: str) -> RunInfo:
        self.discarded.append(token)
        return self.known.pop(token)

    def forget(self, ids: Collection[str]) -> None:
        self.forgotten |= set(ids)

    def every(self) -> tuple[RunInfo, ...]:
        return tuple(self.known.values())

    def cancel(self, token: str) -> RunInfo:
        self.cancelled.append(token)
        self.saves(token)
        return replace(self.known[token], state=CANCELLED)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    store = make_store(tmp_path)
    for number in range(1, 5):
        store.benchmarks.add(make_small(number), Metadata(name=f"name {number}"))
    return store


def open_library(store: Store, *runs: RunInfo, saves: Callable[[str], object] = lambda _: None) -> tuple[Library, Runs]:
    known = Runs({run.id: run for run in runs}, saves=saves)
    return Library(store, lambda: cast(Any, known)), known


def ids(library: Library) -> list[str]:
    return [row.id for row in library.list()]


def test_list_is_newest_first_and_can_be_filtered(store: Store) -> None:
    library, _ = open_library(store)
    assert ids(library) == [make_id(n) for n in (4, 3, 2, 1)]
    assert [row.id for row in library.list(limit=1)] == [make_id(4)]
    assert [row.id for row in library.list(text="NAME 0002")] == [make_id(2)]
    assert library.list(text="nothing") == ()
    stamp = FileStamp("/m.onnx", 1, 1, "a" * 64)
    project = store.projects.create("servers", ModelReference("m.onnx", stamp, "a" * 64))
    library.edit("0003", project="servers")
    assert [row.id for row in library.list(project="servers")] == [make_id(3)]
    assert library.get("0003").metadata.project == project.id
    library.edit("0003", project="")
    assert library.list(project=project.id) == () and library.get("0003").metadata.project is None
    with refused(UnknownId, "id_unknown", noun="project", given="nowhere"):
        library.edit("0003", project="nowhere")


def test_edit_changes_only_the_given_fields(store: Store) -> None:
    library, _ = open_library(store)
    assert library.edit("name 2", note="a note").note == "a note"
    assert library.edit("0002", name="other").note == "a note"
    assert library.get("other").row.id == make_id(2)


def test_several_benchmarks_are_removed_and_restored_together(store: Store) -> None:
    library, _ = open_library(store)
    entry = library.remove(["0002", "name 3", "0002"]).entry
    assert entry is not None and set(entry.benchmarks) == {make_id(2), make_id(3)}
    assert ids(library) == [make_id(4), make_id(1)]
    library.remove(["0001"])
    with refused(UnknownId, "in_trash", given="0003", id=make_id(3)):
        library.find("0003")
    assert library.restore("0003").id == entry.id
    assert ids(library) == [make_id(n) for n in (4, 3, 2)]
    assert library.undo().benchmarks == (make_id(1),)
    with refused(UnknownId, "nothing_to_undo"):
        library.undo()
    with refused(UnknownId, "trash_empty"):
        library.restore("0003")


def test_one_unknown_id_removes_nothing(store: Store) -> None:
    going = info(9, RUNNING)
    library, runs = open_library(store, going)
    with pytest.raises(UnknownId):
        library.remove(["0001", "0009", "zzzz"], cancel=True)
    assert (ids(library), runs.cancelled) == ([make_id(n) for n in (4, 3, 2, 1)], [])


def test_active_run_is_cancelled_only_on_request(store: Store) -> None:
    library, runs = open_library(
        store, info(9, RUNNING), saves=lambda _: store.benchmarks.add(make_small(9), Metadata())
    )
    with pytest.raises(StillRunning) as caught:
        library.remove(["0001", "0009"])
    assert caught.value.reason == because("runs_still_running", ids=[make_id(9)])
    assert [run.id for run in caught.value.runs] == [make_id(9)] and not runs.cancelled
    removal = library.remove(["0001", "0009"], cancel=True)
    assert runs.cancelled == [make_id(9)]
    assert removal.entry is not None and set(removal.entry.benchmarks) == {make_id(1), make_id(9)}
    assert [run.state for run in removal.cancelled] == [CANCELLED]


def test_run_without_measurements_leaves_nothing_to_remove(store: Store) -> None:
    library, _ = open_library(store, info(9, RUNNING))
    assert library.remove(["0009"], cancel=True).entry is None
    assert library.trash() == ()


@pytest.mark.parametrize(
    ("state", "resumable", "hint"),
    [
        (RUNNING, False, "tuibench attach 0009 follows"),
        (WAITING, False, "tuibench attach 0009 follows"),
        (INTERRUPTED, True, "tuibench resume 0009 measures the rest"),
        (UNSAVED, True, "tuibench export 0009 -x FILE writes the partial result, tuibench resume 0009 saves it"),
        (INTERRUPTED, False, "tuibench remove 0009"),
        (ELSEWHERE, False, "tuibench ps shows the machine"),
    ],
)
def test_unlisted_run_is_named_with_its_possible_commands(store: Store, state: str, resumable: bool, hint: str) -> None:
    library, _ = open_library(store, info(9, state, "mine", resumable=resumable))
    for token in ("0009", "mine"):
        with refused(UnknownId, "run_not_in_store", given=token, state=state, resumable=resumable) as caught:
            library.find(token)
        assert hint in hint_words(caught.value)


def test_unsaved_run_is_deleted_for_good_only_on_request(store: Store) -> None:
    library, runs = open_library(store, info(9, INTERRUPTED, "mine", executions=5))
    for token in ("0009", "mine"):
        assert [run.executions for run in library.targets([token]).unsaved] == [5]
        with refused(NeverSaved, "runs_not_saved", ids=[make_id(9)]):
            library.remove(["0001", token], cancel=True)
    assert not runs.discarded and make_id(1) in ids(library)
    removal = library.remove(["0001", "0009"], discard=True)
    assert removal.entry is not None and removal.entry.benchmarks == (make_id(1),)
    assert runs.discarded == [make_id(9)] and [run.id for run in removal.discarded] == [make_id(9)]


def test_run_saved_during_the_lookup_keeps_its_journal(store: Store) -> None:
    library, runs = open_library(store, info(9, FINISHED, executions=5))

    def tokens() -> Iterator[str]:
        yield "0001"  # the list is read for this run
        store.benchmarks.add(make_small(9), Metadata(name="just saved"))
        yield "0009"

    removal = library.remove(tokens(), discard=True)
    assert removal.entry is not None and removal.entry.benchmarks == (make_id(1), make_id(9))
    assert not runs.discarded and not removal.discarded


def test_journal_of_a_stored_or_removed_result_is_kept(store: Store) -> None:
    library, runs = open_library(store, info(1, FINISHED), info(2, FINISHED), info(9, ELSEWHERE, "away"))
    assert library.remove(["0001"], discard=True).entry is not None
    for token, code in (("0001", "in_trash"), ("0009", "run_not_in_store"), ("away", "run_not_in_store")):
        with refused(UnknownId, code, given=token):
            library.remove([token], discard=True)
    assert not runs.discarded


def test_many_ids_are_resolved_with_one_read_of_the_index(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    places = Places(tmp_path, *(tmp_path / name for name in ("state", "cache", "config")))
    going = [ScriptedRun(places.runs, number, metadata={"name": f"run {number}"}) for number in range(5, 9)]
    for run in going:
        run.begin(host_id="")
    real = run_services.Runs(Settings(places, "nobody"), store)
    counts = Counter[str]()

    def count(kind: type, name: str) -> None:
        call = getattr(kind, name)

        def counted(*given: Any, **options: Any) -> Any:
            counts[name] += 1
            return call(*given, **options)

        monkeypatch.setattr(kind, name, counted)

    for kind, name in ((Benchmarks, "rows"), (run_services.Runs, "directories"), (Trash, "entries")):
        count(kind, name)
    count(RunDirectory, "request")
    library = Library(store, lambda: real)
    saved = [make_id(number) for number in (1, 2, 3)]
    names = [f"run {number}" for number in (5, 6)]
    targets = library.targets([*saved, "0004", *names, *(run.id for run in going[2:])])
    assert targets.ids == (*saved, make_id(4), *(run.id for run in going))
    # Rows also show saved runs, read again at the end for those saved meanwhile; names are read once.
    assert counts == {"rows": 3, "directories": 1, "entries": 1, "request": 4 + 4}


def test_name_means_the_benchmark_before_a_run(store: Store) -> None:
    library, runs = open_library(store, info(9, RUNNING, "name 1"))
    assert library.remove(["name 1"], cancel=True).cancelled == ()
    assert not runs.cancelled and make_id(1) not in ids(library)


def test_trash_is_emptied_and_the_store_is_checked(store: Store) -> None:
    library, runs = open_library(store)
    library.remove(["0001"])
    entries = [entry.id for entry in library.trash()]
    count, size = library.empty_trash(entries)
    assert count == 1 and size > 1000 and library.trash() == () and runs.forgotten == {make_id(1)}
    assert library.empty_trash(entries) == library.empty_trash() == (0, 0)
    assert library.check(read_data=True).exit_code == 0
    assert library.migrate().migrated == 0


@pytest.mark.parametrize(
    ("state", "executions", "said"), [(FINISHED, 3, True), (FINISHED, 0, False), (RUNNING, 3, False)]
)
def test_store_check_knows_runs_that_can_restore_lost_records(
    store: Store, tmp_path: Path, state: str, executions: int, said: bool
) -> None:
    (path,) = tmp_path.glob(f"hosts/*/records/*/{make_id(2)}.json")
    path.write_bytes(b"{")
    library, _ = open_library(store, replace(info(2, state), executions=executions))
    (problem,) = library.check().problems
    assert ("tuibench resume 0002 --finish" in reason_words(problem.detail)) == said


def test_unsaved_run_is_described_by_its_measurements(store: Store) -> None:
    measured, empty = info(9, INTERRUPTED, executions=5), info(8, CANCELLED)
    library, _ = open_library(store, measured, empty)
    with refused(NeverSaved, "runs_not_saved", ids=[make_id(9)], first=make_id(9)):
        library.remove(["0008", "0009"])
    with refused(NeverSaved, "runs_without_measurements", ids=[make_id(8)]):
        library.remove(["0008"])
