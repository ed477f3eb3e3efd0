"""The services on real stores: its answers, also over damaged, busy, full or newer stores."""

from __future__ import annotations

import errno
import os
import shutil
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT
from tests.refusal import refused
from tests.services.script import SHA, ScriptedRun
from tests.store.build import make_store
from tests.store.data import make_id, make_small
from tests.store.disks.failing import FailingDisk
from tests.test_fresh_interpreter import modules_after
from tuibench.core import activity, engine
from tuibench.core.errors import (
    ModelError,
    StoreBusy,
    StoreDamaged,
    StoreReadOnly,
    TuibenchError,
    UnknownId,
    UsageError,
)
from tuibench.core.model import CHANGED, GONE, UNCHANGED
from tuibench.core.schema import NEWEST
from tuibench.core.stored import DAMAGED, FileStamp, Metadata, ModelReference
from tuibench.present.outcome import removal_words
from tuibench.services.api import Services
from tuibench.services.library import NeverSaved, StillRunning
from tuibench.store import index
from tuibench.store.store import Store

TINY = ROOT / "tuibench" / "data" / "samples" / "tiny.onnx"
MODEL = ModelReference("m.onnx", FileStamp("/models/m.onnx", 1, 2, SHA), SHA)


def at(root: Path, **changes: Any) -> Services:
    """Return services with a test store."""
    services = Services(hidden=True)
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
def services(data: Path) -> Services:
    return at(data, wait_s=0.0)


def add(store: Store, *numbers: int, project: str | None = None) -> None:
    for number in numbers:
        store.benchmarks.add(make_small(number), Metadata(name=f"run {number}", project=project))


def record_of(data: Path, number: int) -> Path:
    (found,) = data.glob(f"hosts/*/records/*/{make_id(number)}.json")
    return found


def test_fresh_home_is_empty_and_stays_empty(services: Services, home: Path) -> None:
    before = sorted(home.rglob("*"))
    first = services.monitor.look()
    assert (first.runs, first.notices) == ((), ())
    assert services.monitor.look() == first
    assert (services.projects.list(), services.library.list(), services.library.trash()) == ((), (), ())
    with refused(UnknownId, "nothing_to_undo"):
        services.library.undo()
    assert sorted(home.rglob("*")) == before


def test_work_of_other_session_appears_at_next_poll(services: Services, store: Store) -> None:
    add(store, 1)
    before = services.monitor.look()
    assert [row.id for row in services.library.list()] == [make_id(1)]
    add(store, 2)
    assert services.monitor.look().stamp != before.stamp
    assert [row.id for row in services.library.list()] == [make_id(2), make_id(1)]


def test_active_run_is_removed_only_on_request(services: Services, home: Path) -> None:
    run = ScriptedRun(home / "tuibench" / "state" / "runs")
    run.hold()
    run.begin(pid=None)
    run.plan()
    with refused(StillRunning, "runs_still_running", ids=[run.id]):
        services.library.remove([run.id])
    run.let_go()
    with refused(NeverSaved, "runs_without_measurements", ids=[run.id]):
        services.library.remove([run.id])
    assert removal_words(services.library.remove([run.id], discard=True)) == "deleted 0001 permanently: 0 executions"
    assert services.monitor.look().runs == ()


def test_files_of_unlisted_run_are_deleted(services: Services, home: Path) -> None:
    run = ScriptedRun(home / "tuibench" / "state" / "runs")
    run.begin()
    run.plan()
    run.done(0, 1)
    run.directory.log.write_text("its last words\n")
    (row,) = services.monitor.look().runs
    assert (row.info.state, row.info.executions) == (activity.INTERRUPTED, 1)
    assert services.runs.log(run.id) == ("runner.log:", "  its last words")
    assert services.runs.command(run.id).startswith("tuibench benchmark /models/m.onnx -e ")
    assert services.runs.discard(run.id).executions == 1
    assert not run.directory.path.exists()


def test_model_lookup_finds_project_once_created(services: Services, tmp_path: Path) -> None:
    path = tmp_path / "net.onnx"
    shutil.copy(TINY, path)
    found = services.models.find(f" {path} ")
    assert (found.name, found.project, found.dims, found.source.path) == ("net", "", (), str(path))
    row = services.projects.create(found.source, "my net", "for tests", {"seq": 8})[0]
    assert (row.project.name, row.project.description, dict(row.project.dims)) == ("my net", "for tests", {"seq": 8})
    again = services.models.find(str(path))
    assert (again.project, again.name) == (row.project.id, "net")
    assert services.projects.newest_state(row.project.id).state == UNCHANGED
    path.write_bytes(path.read_bytes() + b"\0")
    assert services.projects.newest_state(row.project.id).state == CHANGED
    path.unlink()
    assert services.projects.newest_state(row.project.id).state == GONE
    with refused(ModelError, "file_missing", path=str(path), is_model=True):
        services.theory.costs(row.project.id)


@pytest.mark.parametrize("text", ["", "sample:no", "zoo:x", "http://example.org/x.onnx"])
def test_unresolvable_name_is_invalid_request(services: Services, text: str) -> None:
    with pytest.raises(UsageError):
        services.models.find(text)


def test_copied_text_is_saved_to_file(services: Services) -> None:
    assert Path(services.keep_copy("tuibench benchmark x")).read_text() == "tuibench benchmark x\n"


def test_machine_is_read_once(services: Services, monkeypatch: pytest.MonkeyPatch) -> None:
    machine = services.machine.read()
    assert [one.name for one in machine.engines] == list(engine.names(hidden=True))
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0})
    assert services.machine.read() is machine
    assert [one.name for one in Services().machine.read().engines] == list(engine.names())


def test_path_completion_includes_samples(services: Services, tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    assert services.models.complete("sample:t") == ("sample:text", "sample:tiny")
    assert services.models.complete(f"{tmp_path}/d") == (f"{tmp_path}/deep/",)


def test_damaged_record_is_listed_and_hides_no_other(services: Services, store: Store, data: Path) -> None:
    add(store, 1, 2)
    record_of(data, 1).write_bytes(b"{")
    for path in data.glob("hosts/*/tuibench.json*"):
        path.unlink()
    assert [(row.id, row.status) for row in services.library.list()] == [
        (make_id(2), "finished"),
        (make_id(1), DAMAGED),
    ]
    assert services.library.get(make_id(2)).metadata.name == "run 2"
    with refused(StoreDamaged, "record_damaged", id=make_id(1)):
        services.library.get(make_id(1))
    assert any("made from the 2 records" in notice for notice in services.monitor.look().notices)


def test_locked_store_names_lock_owner(services: Services, store: Store) -> None:
    add(store, 1)
    with store.benchmarks.locked(store._context.own()):
        assert len(services.library.list()) == 1
        with refused(StoreBusy, "store_busy", pid=os.getpid(), command="test"):
            services.library.edit(make_id(1), "x", None)


@pytest.mark.parametrize(("number", "code"), [(errno.EROFS, "store_read_only"), (errno.ENOSPC, "store_disk_full")])
def test_unwritable_disk_still_shows_everything(store: Store, data: Path, number: int, code: str) -> None:
    add(store, 1)
    services = at(data, disk=FailingDisk(1, number, lasting=True))
    assert [row.id for row in services.library.list()] == [make_id(1)]
    assert services.library.get(make_id(1)).result.id == make_id(1)
    with refused(TuibenchError, code):
        services.library.edit(make_id(1), "x", None)
    with refused(TuibenchError, code):
        services.library.remove([make_id(1)])
    assert services.monitor.look().runs == ()


def test_record_of_newer_version_is_shown_and_unchanged(services: Services, store: Store, data: Path) -> None:
    add(store, 1)
    path = record_of(data, 1)
    text = path.read_text()
    path.write_text(text.replace(f'"schema": {NEWEST}', '"schema": 99', 1))
    assert len(services.library.list()) == 1
    with refused(StoreReadOnly, "newer_read_only", schema=99):
        services.library.edit(make_id(1), "x", None)


def test_unknown_id_lists_available_ids(services: Services, store: Store) -> None:
    add(store, 1)
    acts: list[Callable[[str], object]] = [
        services.library.get,
        services.reruns.plan,
        services.runs.watch,
        services.runs.cancel,
        services.runs.resume_detached,
    ]
    acts += [
        lambda one: services.library.remove([one]),
        lambda one: services.exchange.export(one, "/x.json"),
        services.library.command,
    ]
    for act in acts:
        with pytest.raises(UnknownId):
            act("zzzz")


def test_concurrent_list_requests_read_once(services: Services, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
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
    asks: list[Callable[[], object]] = [services.projects.list, services.library.list, services.projects.list]
    threads = [threading.Thread(target=ask) for ask in asks]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(reads) == 1


def test_concurrent_threads_get_same_list(services: Services, store: Store) -> None:
    add(store, 1, 2, 3)
    barrier, found, failed = threading.Barrier(6), [], []

    def ask(act: Callable[[], object]) -> None:
        barrier.wait()
        try:
            found.append(act())
        except TuibenchError as error:
            failed.append(error)

    acts = [lambda: services.machine, lambda: services.monitor, lambda: services.forms] * 2
    threads = [threading.Thread(target=ask, args=[act]) for act in acts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    assert len({id(one) for one in found}) == 3


def test_session_imports_no_model_runtime(home: Path, store: Store) -> None:
    add(store, 1, 2)
    code = (
        "from tuibench.services.api import Services; b = Services(); b.monitor.look(); "
        "f = b.models.find('sample:tiny'); p = b.projects.create(f.source, 'tiny', '', {})[0]; b.projects.list(); "
        "s = b.forms.open(project=p.project.id); c = b.forms.check(s.values, s.summary); assert not c.errors; "
        "one, two = [row.id for row in b.library.list()]; b.library.get(one); b.exchange.side_by_side(one, two); "
        f"b.exchange.export(one, '{home}/out.md'); b.reruns.plan(one); b.forms.open(benchmark=one); "
        "b.library.command(one); b.projects.newest_state(p.project.id); b.library.remove([one]); b.library.undo(); "
        "b.machine.read(); b.machine.examine(); b.monitor.look(); b.models.complete('sam')"
    )
    loaded = {name.split(".")[0] for name in modules_after(code)}
    assert loaded & {"numpy", "onnx", "onnxruntime", "openvino", "cpuinfo", "textual"} == set()
    assert {"tinydb", "tuibench"} <= loaded


def test_first_rows_do_not_wait_for_unneeded_data(home: Path, store: Store) -> None:
    add(store, 1)
    loaded = modules_after(
        "from tuibench.services.api import Services; b = Services(); b.projects.list(); b.library.list()"
    )
    late = ("core.cell", "core.result", "runs", "present", "stats", "model", "engines", "services.runs")
    assert {name for name in loaded if name.startswith(tuple(f"tuibench.{one}" for one in late))} == set()


def test_command_of_imported_result_is_refused(services: Services) -> None:
    imported = services.exchange.import_file(str(ROOT / "tests/fixtures/import/deepsparse-0.10.0.json"))
    with refused(UsageError, "no_command", tool="deepsparse.benchmark 0.10.0"):
        services.library.command(imported.row.id)
