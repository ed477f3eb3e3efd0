"""The desk on real stores: its answers, also over damaged, busy, full or newer stores."""

from __future__ import annotations

import errno
import json
import os
import shutil
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT
from tests.services.script import SHA, ScriptedRun
from tests.store.build import make_store
from tests.store.data import make_id, make_small
from tests.store.disks.failing import FailingDisk
from tests.test_fresh_interpreter import modules_after
from tuibench.core import activity
from tuibench.core.errors import (
    ModelError,
    StoreBusy,
    StoreDamaged,
    StoreReadOnly,
    TuibenchError,
    UnknownId,
    UsageError,
    WriteError,
)
from tuibench.core.model import CHANGED, GONE, UNCHANGED
from tuibench.core.stored import DAMAGED, FileStamp, Metadata, ModelReference
from tuibench.services.api import Services
from tuibench.services.library import NeverSaved, StillRunning
from tuibench.store import index
from tuibench.store.store import Store
from tuibench.tui.bridge import Bridge

TINY = ROOT / "tuibench" / "data" / "samples" / "tiny.onnx"
MODEL = ModelReference("m.onnx", FileStamp("/models/m.onnx", 1, 2, SHA), SHA)


def at(root: Path, **changes: Any) -> Services:
    """Return a workbench with a test store."""
    services = Services()
    services.__dict__["store"] = make_store(root, **changes)
    return services


@pytest.fixture
def data(home: Path) -> Path:
    return home / "tuibench" / "data"


@pytest.fixture
def store(data: Path) -> Store:
    """Return the store as another session uses it."""
    return make_store(data)


@pytest.fixture
def bridge(data: Path) -> Bridge:
    return Bridge(at(data, wait_s=0.0), hidden=True)


def add(store: Store, *numbers: int, project: str | None = None) -> None:
    for number in numbers:
        store.benchmarks.add(make_small(number), Metadata(name=f"run {number}", project=project))


def record_of(data: Path, number: int) -> Path:
    (found,) = data.glob(f"hosts/*/records/*/{make_id(number)}.json")
    return found


def test_fresh_home_is_empty_and_stays_empty(bridge: Bridge, home: Path) -> None:
    before = sorted(home.rglob("*"))
    first = bridge.pulse()
    assert (first.runs, first.notices) == ((), ())
    assert bridge.pulse() == first
    assert (bridge.projects(), bridge.benchmarks(), bridge.trash()) == ((), (), ())
    with pytest.raises(UnknownId, match="nothing to undo"):
        bridge.undo()
    assert sorted(home.rglob("*")) == before


def test_work_of_other_session_appears_at_next_poll(bridge: Bridge, store: Store) -> None:
    add(store, 1)
    before = bridge.pulse()
    assert [row.id for row in bridge.benchmarks()] == [make_id(1)]
    add(store, 2)
    assert bridge.pulse().stamp != before.stamp
    assert [row.id for row in bridge.benchmarks()] == [make_id(2), make_id(1)]


def test_benchmarks_are_listed_by_project(bridge: Bridge, store: Store) -> None:
    project = store.projects.create("mine", MODEL).id
    add(store, 1, 2, project=project)
    add(store, 3)
    assert [row.id for row in bridge.benchmarks(project)] == [make_id(2), make_id(1)]
    assert bridge.project(project).benchmarks == 2
    assert [row.project.name for row in bridge.projects("name", "mi")] == ["mine"]
    assert bridge.projects(text="nothing") == ()


def test_metadata_is_edited_and_record_opens(bridge: Bridge, store: Store) -> None:
    add(store, 1)
    assert bridge.edit(make_id(1), "new name", None).name == "new name"
    opened = bridge.open(make_id(1))
    assert (opened.metadata.name, opened.result.id) == ("new name", make_id(1))


def test_removed_benchmark_can_be_restored(bridge: Bridge, store: Store) -> None:
    add(store, 1, 2, 3)
    removed = bridge.remove([make_id(1), make_id(2)])
    assert removed.words == "removed 0001 run 1, 0002 run 2"
    assert removed.entry is not None and removed.entry in bridge.trash()
    assert [row.id for row in bridge.benchmarks()] == [make_id(3)]
    assert bridge.undo() == "restored 0001 run 1, 0002 run 2"
    other = bridge.remove([make_id(3)])
    assert other.entry is not None
    assert bridge.restore(other.entry.id) == "restored 0003 run 3"
    bridge.remove([make_id(3)])
    entries = [entry.id for entry in bridge.trash()]
    assert bridge.empty_trash(entries).startswith("deleted 1 removal, ")
    assert bridge.empty_trash(entries) == "nothing of it was there any more"


def test_active_run_is_removed_only_on_request(bridge: Bridge, home: Path) -> None:
    run = ScriptedRun(home / "tuibench" / "state" / "runs")
    run.hold()
    run.begin(pid=None)
    run.plan()
    with pytest.raises(StillRunning, match="still going on"):
        bridge.remove([run.id])
    run.let_go()
    with pytest.raises(NeverSaved, match="nothing was measured"):
        bridge.remove([run.id])
    assert bridge.remove([run.id], discard=True).words == "removed 0001 for good"
    assert bridge.pulse().runs == ()


def test_files_of_unlisted_run_are_deleted(bridge: Bridge, home: Path) -> None:
    run = ScriptedRun(home / "tuibench" / "state" / "runs")
    run.begin()
    run.plan()
    run.done(0, 1)
    run.directory.log.write_text("its last words\n")
    (row,) = bridge.pulse().runs
    assert (row.info.state, row.info.executions) == (activity.INTERRUPTED, 1)
    assert bridge.run_log(run.id) == ("runner.log:", "  its last words")
    assert bridge.command(run=run.id).startswith("tuibench benchmark /models/m.onnx -e ")
    assert bridge.discard(run.id) == "removed 0001 for good: 1 execution"
    assert not run.directory.path.exists()


def test_project_removal_and_undo_include_benchmarks(bridge: Bridge, store: Store) -> None:
    project = store.projects.create("mine", MODEL).id
    add(store, 1, 2, project=project)
    words = bridge.remove_projects([project]).words
    assert words.startswith("removed ") and words.endswith("mine with 2 benchmarks")
    assert (bridge.projects(), bridge.benchmarks()) == ((), ())
    bridge.undo()
    assert [row.benchmarks for row in bridge.projects()] == [2]


def test_project_with_active_run_is_not_removed(bridge: Bridge, store: Store, home: Path) -> None:
    project = store.projects.create("mine", MODEL).id
    run = ScriptedRun(home / "tuibench" / "state" / "runs", metadata={"project": project})
    run.hold()
    run.begin()
    with pytest.raises(UsageError, match="0001: still measured"):
        bridge.remove_projects([project])
    run.let_go()
    assert bridge.remove_projects([project]).entry is not None


def test_form_saves_only_changed_fields(bridge: Bridge, store: Store) -> None:
    project = store.projects.create("mine", MODEL, "old words")
    store.projects.edit(project.id, description="another session's words")
    row = bridge.edit_project(project, "renamed", "old words", None)
    assert (row.project.name, row.project.description) == ("renamed", "another session's words")
    assert bridge.copy_project(project.id, "second").benchmarks == 0


def test_model_lookup_finds_project_once_created(bridge: Bridge, tmp_path: Path) -> None:
    path = tmp_path / "net.onnx"
    shutil.copy(TINY, path)
    found = bridge.find_model(f" {path} ")
    assert (found.name, found.project, found.dims, found.source.path) == ("net", "", (), str(path))
    row = bridge.create_project(found, "my net", "for tests", {"seq": 8})
    assert (row.project.name, row.project.description, dict(row.project.dims)) == ("my net", "for tests", {"seq": 8})
    again = bridge.find_model(str(path))
    assert (again.project, again.name) == (row.project.id, "net")
    assert bridge.summary(row.project.id) == found.summary
    assert bridge.model_state(row.project.id).state == UNCHANGED
    path.write_bytes(path.read_bytes() + b"\0")
    assert bridge.model_state(row.project.id).state == CHANGED
    path.unlink()
    assert bridge.model_state(row.project.id).state == GONE
    with pytest.raises(ModelError, match="no such file"):
        bridge.summary(row.project.id)


@pytest.mark.parametrize("text", ["", "sample:no", "zoo:x", "http://example.org/x.onnx"])
def test_unresolvable_name_is_invalid_request(bridge: Bridge, text: str) -> None:
    with pytest.raises(UsageError):
        bridge.find_model(text)


def test_file_of_other_type_is_not_model(bridge: Bridge, tmp_path: Path) -> None:
    path = tmp_path / "notes.onnx"
    path.write_text("nothing of the kind")
    with pytest.raises(ModelError, match=r"notes\.onnx"):
        bridge.find_model(str(path))


def test_export_uses_same_path_as_shell(bridge: Bridge, store: Store, home: Path) -> None:
    add(store, 1)
    assert bridge.export(make_id(1), "~/out.json") == f"wrote 0001 to {home}/out.json without private paths"
    assert json.loads((home / "out.json").read_text())["tuibench"]["id"] == make_id(1)
    assert bridge.export(make_id(1), f"{home}/out.csv", private=True) == f"wrote 0001 to {home}/out.csv"
    assert "private" in bridge.export(make_id(1), "~/out.csv")
    with pytest.raises(WriteError, match="cannot be written"):
        bridge.export(make_id(1), "~/nowhere/out.json")
    with pytest.raises(UsageError, match="HTML"):
        bridge.export(make_id(1), "~/out.html")


def test_two_benchmarks_are_compared(bridge: Bridge, store: Store) -> None:
    add(store, 1, 2)
    found = bridge.compare(make_id(1), make_id(2))
    assert (found.old_id, found.new_id, len(found.pairs)) == (make_id(1), make_id(2), 1)


def test_copied_text_is_saved_to_file(bridge: Bridge) -> None:
    assert Path(bridge.keep_copy("tuibench benchmark x")).read_text() == "tuibench benchmark x\n"


def test_machine_is_read_once(bridge: Bridge, monkeypatch: pytest.MonkeyPatch) -> None:
    machine = bridge.machine()
    assert [engine.name for engine in machine.engines] == ["onnxruntime", "openvino", "fake"]
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0})
    assert bridge.machine() is machine
    assert [engine.name for engine in Bridge().machine().engines] == ["onnxruntime", "openvino"]


def test_path_completion_includes_samples(bridge: Bridge, tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    assert bridge.complete("sample:t") == ("sample:text", "sample:tiny")
    assert bridge.complete(f"{tmp_path}/d") == (f"{tmp_path}/deep/",)


def test_damaged_record_is_listed_and_hides_no_other(bridge: Bridge, store: Store, data: Path) -> None:
    add(store, 1, 2)
    record_of(data, 1).write_bytes(b"{")
    for path in data.glob("hosts/*/tuibench.json*"):
        path.unlink()
    assert [(row.id, row.status) for row in bridge.benchmarks()] == [(make_id(2), "finished"), (make_id(1), DAMAGED)]
    assert bridge.open(make_id(2)).metadata.name == "run 2"
    with pytest.raises(StoreDamaged) as caught:
        bridge.open(make_id(1))
    assert caught.value.message == "the record of 0001 is damaged" and caught.value.hint
    assert any("made from the 2 records" in notice for notice in bridge.pulse().notices)


def test_locked_store_names_lock_owner(bridge: Bridge, store: Store) -> None:
    add(store, 1)
    with store.benchmarks.locked(store._context.own()):
        assert len(bridge.benchmarks()) == 1
        with pytest.raises(StoreBusy, match=rf"pid {os.getpid()}, test"):
            bridge.edit(make_id(1), "x", None)


@pytest.mark.parametrize(
    ("code", "words"), [(errno.EROFS, "is read-only"), (errno.ENOSPC, "disk of the store is full")]
)
def test_unwritable_disk_still_shows_everything(store: Store, data: Path, code: int, words: str) -> None:
    add(store, 1)
    bridge = Bridge(at(data, disk=FailingDisk(1, code, lasting=True)))
    assert [row.id for row in bridge.benchmarks()] == [make_id(1)]
    assert bridge.open(make_id(1)).result.id == make_id(1)
    with pytest.raises(TuibenchError, match=words):
        bridge.edit(make_id(1), "x", None)
    with pytest.raises(TuibenchError, match=words):
        bridge.remove([make_id(1)])
    assert bridge.pulse().runs == ()


def test_record_of_newer_version_is_shown_and_unchanged(bridge: Bridge, store: Store, data: Path) -> None:
    add(store, 1)
    path = record_of(data, 1)
    text = path.read_text()
    path.write_text(text.replace('"schema": 3', '"schema": 99', 1))
    assert len(bridge.benchmarks()) == 1
    with pytest.raises(StoreReadOnly, match="schema 99"):
        bridge.edit(make_id(1), "x", None)


def test_unknown_id_lists_available_ids(bridge: Bridge, store: Store) -> None:
    add(store, 1)
    acts: list[Callable[[str], object]] = [bridge.open, bridge.plan_rerun, bridge.watch, bridge.cancel, bridge.resume]
    acts += [lambda one: bridge.remove([one]), lambda one: bridge.export(one, "~/x"), bridge.command]
    for act in acts:
        with pytest.raises(UnknownId):
            act("zzzz")


def test_concurrent_list_requests_read_once(bridge: Bridge, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    add(store, *range(1, 30))
    reads: list[object] = []
    read = index.to_rows

    def count(tables: Any) -> Any:
        reads.append(1)
        both.wait(0.2)
        return read(tables)

    # The first reader waits for a second one, which must not start.
    both = threading.Event()
    monkeypatch.setattr(index, "to_rows", count)
    asks: list[Callable[[], object]] = [bridge.projects, bridge.benchmarks, bridge.projects]
    threads = [threading.Thread(target=ask) for ask in asks]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(reads) == 1


def test_concurrent_threads_get_same_list(bridge: Bridge, store: Store) -> None:
    add(store, 1, 2, 3)
    barrier, found, failed = threading.Barrier(8), [], []

    def ask(act: Callable[[], object]) -> None:
        barrier.wait()
        try:
            found.append(act())
        except TuibenchError as error:
            failed.append(error)

    acts = [bridge.machine, bridge.pulse, lambda: bridge._presence, lambda: bridge._starter] * 2
    threads = [threading.Thread(target=ask, args=[act]) for act in acts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    assert len({id(one) for one in found if not isinstance(one, tuple) and one != bridge.pulse()}) == 3


def test_session_imports_no_model_runtime(home: Path, store: Store) -> None:
    add(store, 1, 2)
    code = (
        "from tuibench.tui.bridge import Bridge; b = Bridge(); b.pulse(); "
        "f = b.find_model('sample:tiny'); p = b.create_project(f, 'tiny', '', {}); b.projects(); b.benchmarks(); "
        "s = b.form(project=p.project.id); c = b.check_form(s.values, s.summary); assert not c.errors; "
        "one, two = [row.id for row in b.benchmarks()]; b.open(one); b.compare(one, two); b.export(one, '~/out.md'); "
        "b.plan_rerun(one); b.form(benchmark=one); b.command(one); b.model_state(p.project.id); "
        "b.remove([one]); b.undo(); b.machine(); b.examine(); b.pulse(); b.complete('sam')"
    )
    loaded = {name.split(".")[0] for name in modules_after(code)}
    assert loaded & {"numpy", "onnx", "onnxruntime", "openvino", "cpuinfo", "textual"} == set()
    assert {"tinydb", "tuibench"} <= loaded


def test_first_rows_do_not_wait_for_unneeded_data(home: Path, store: Store) -> None:
    add(store, 1)
    loaded = modules_after("from tuibench.tui.bridge import Bridge; b = Bridge(); b.projects(); b.benchmarks()")
    late = ("core.cell", "core.result", "runs", "present", "stats", "engines", "services.runs")
    assert {name for name in loaded if name.startswith(tuple(f"tuibench.{one}" for one in late))} == set()


def test_command_of_imported_result_is_refused(bridge: Bridge) -> None:
    imported = bridge._services.exchange.import_file(str(ROOT / "tests/fixtures/import/deepsparse-0.10.0.json"))
    with pytest.raises(TuibenchError, match=r"no command repeats it: deepsparse.benchmark 0.10.0 measured it"):
        bridge.command(imported.row.id)
