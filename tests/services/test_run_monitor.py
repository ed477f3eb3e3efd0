from __future__ import annotations

import os
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.build import make_spec
from tests.services.script import SHA, ScriptedRun
from tests.store.build import make_store
from tests.store.data import make_id, make_small
from tuibench.core import activity
from tuibench.core.activity import RunRow
from tuibench.core.machine import Places
from tuibench.core.stored import FileStamp, Metadata, ModelReference
from tuibench.present.reason import reason_words
from tuibench.runs import journal, observer
from tuibench.services.monitor import Monitor
from tuibench.services.runs import Runs
from tuibench.services.settings import Settings
from tuibench.store.store import Store


@pytest.fixture
def places(tmp_path: Path) -> Places:
    return Places(*(tmp_path / name for name in ("data", "state", "cache", "config")))


@pytest.fixture
def store(places: Places) -> Store:
    return make_store(places.data)


@pytest.fixture
def monitor(places: Places, store: Store) -> Monitor:
    return Monitor(Runs(Settings(places, "nobody"), store), store)


@pytest.fixture
def run(places: Places) -> Iterator[ScriptedRun]:
    made = ScriptedRun(places.runs, 1, metadata={"name": "mine", "note": "why", "rerun_of": make_id(9)})
    yield made
    made.let_go()


def look(monitor: Monitor, store: Store) -> tuple[RunRow, ...]:
    return monitor.look().runs


def add_line(directory: Path, body: bytes) -> None:
    """Append an event as another version may write it, with a valid checksum."""
    with (directory / journal.NAME).open("ab") as handle:
        handle.write(b"%08x %s\n" % (zlib.crc32(body), body))


def the(rows: tuple[RunRow, ...]) -> RunRow:
    (row,) = rows
    return row


def test_snapshot_without_any_run_is_empty(monitor: Monitor, store: Store, tmp_path: Path) -> None:
    assert look(monitor, store) == ()
    assert list(tmp_path.iterdir()) == []


def test_active_run_is_a_row_with_its_request(monitor: Monitor, store: Store, run: ScriptedRun) -> None:
    run.hold()
    assert the(look(monitor, store)).info.state == activity.RUNNING
    run.begin()
    run.plan()
    row = the(look(monitor, store))
    assert (row.info.id, row.info.name, row.info.models, row.info.cells) == (run.id, "mine", ("m.onnx",), 2)
    assert (row.engines, row.scenarios, row.cores, row.batches) == ("fake", "sync", "1,2", "")
    assert (row.note, row.rerun_of, row.project) == ("why", make_id(9), "")


def test_each_snapshot_continues_from_the_last(
    monitor: Monitor, store: Store, run: ScriptedRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    run.hold()
    run.begin()
    run.plan()
    look(monitor, store)
    decoded: list[bytes] = []
    decode = journal.decode

    def count(line: bytes) -> Any:
        decoded.append(line)
        return decode(line)

    monkeypatch.setattr(journal, "decode", count)
    for n in range(1, 4):
        run.done(0, n)
        run.progress(0, eta_s=100.0 - n)
        info = the(look(monitor, store)).info
        assert (info.executions, info.eta_s) == (n, 100.0 - n)
    assert len(decoded) == 3 * 2
    run.finish(0)
    assert the(look(monitor, store)).info.cells_done == 1


def test_snapshot_without_news_has_the_same_rows(monitor: Monitor, store: Store, run: ScriptedRun) -> None:
    run.hold()
    run.begin()
    run.plan()
    first = the(look(monitor, store))
    assert the(look(monitor, store)) is first
    run.say("heartbeat")
    assert the(look(monitor, store)) is first


def test_saved_run_is_in_the_list_and_no_row(monitor: Monitor, store: Store, run: ScriptedRun) -> None:
    run.hold()
    run.begin(host_id="")
    run.plan()
    run.done(0, 1)
    assert len(look(monitor, store)) == 1
    store.benchmarks.add(make_small(1), Metadata())
    run.say("run_end", status="finished", saved=True)
    assert look(monitor, store) == ()
    run.let_go()
    assert look(monitor, store) == ()


@pytest.mark.parametrize(
    ("end", "state"),
    [
        ({"status": "finished", "saved": False, "why": "the disk is full"}, activity.UNSAVED),
        ({"status": "failed", "error": {"message": "not a model"}}, activity.FAILED),
        ({"status": "interrupted", "reason": "the disk is full"}, activity.INTERRUPTED),
    ],
)
def test_ended_unsaved_run_stays_a_row(
    monitor: Monitor, store: Store, run: ScriptedRun, end: dict[str, object], state: str
) -> None:
    run.hold()
    run.begin()
    run.plan()
    run.done(0, 1)
    run.end(**end)  # type: ignore[arg-type]
    assert the(look(monitor, store)).info.state == state


def test_dead_runner_is_seen_in_the_next_snapshot(monitor: Monitor, store: Store, run: ScriptedRun) -> None:
    run.hold()
    run.begin()
    run.plan()
    run.done(0, 1)
    assert the(look(monitor, store)).info.state == activity.RUNNING
    run.let_go()
    info = the(look(monitor, store)).info
    assert (info.state, info.resumable, info.executions) == (activity.INTERRUPTED, True, 1)


def test_resumed_run_is_followed_again(monitor: Monitor, store: Store, run: ScriptedRun) -> None:
    run.begin()
    run.plan()
    run.done(0, 1)
    assert the(look(monitor, store)).info.state == activity.INTERRUPTED
    run.hold()
    run.say("sitting", boot_id="b" * 36, pid=os.getpid(), started_utc="2026-11-18T12:00:00Z")
    run.done(1, 1)
    info = the(look(monitor, store)).info
    assert (info.state, info.executions) == (activity.RUNNING, 2)


def test_ended_runs_are_not_read_again(
    monitor: Monitor, store: Store, places: Places, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(1, 6):
        run = ScriptedRun(places.runs, number)
        run.begin()
        run.plan()
        run.end("interrupted", reason="x")
    assert len(look(monitor, store)) == 5

    def refuse(*_: object) -> None:
        raise AssertionError("it was read again")

    for module in (journal, observer):
        monkeypatch.setattr(module, "open_regular", refuse)
    monkeypatch.setattr("tuibench.runs.directory.RunDirectory.is_held", refuse)
    assert len(look(monitor, store)) == 5
    made = store.projects.create("of the model", ModelReference("m", FileStamp("/models/m.onnx", 1, 1, SHA), SHA))
    assert {row.project for row in look(monitor, store)} == {made.id}


def test_store_changes_are_seen_in_ended_runs(monitor: Monitor, store: Store, run: ScriptedRun) -> None:
    run.begin()
    run.plan()
    run.done(0, 1)
    run.end("interrupted", reason="x")
    assert the(look(monitor, store)).info.state == activity.INTERRUPTED
    store.benchmarks.add(make_small(1), Metadata())
    assert look(monitor, store) == ()


@pytest.mark.parametrize(
    ("end", "state", "detail"),
    [
        ({"status": "cancelled", "reason": "SIGTERM", "saved": True}, activity.CANCELLED, "ended by its user"),
        ({"status": "finished", "saved": True}, activity.FINISHED, ""),
        ({"status": "interrupted", "reason": "x", "saved": True}, activity.FINISHED, "saved as far as it was measured"),
    ],
)
@pytest.mark.parametrize("tidies", [False, True])
def test_end_of_an_observed_run_is_reported(
    monitor: Monitor, store: Store, run: ScriptedRun, end: dict[str, Any], state: str, detail: str, tidies: bool
) -> None:
    run.hold()
    run.begin(host_id="")
    run.plan()
    run.done(0, 1)
    look(monitor, store)
    assert not monitor.look().ended
    store.benchmarks.add(make_small(1), Metadata())
    run.say("run_end", **end, cells=2, cells_done=1, executions=1)
    if not tidies:
        run.let_go()
    assert look(monitor, store) == ()
    (info,) = monitor.look().ended
    assert (info.id, info.state, reason_words(info.detail), info.executions) == (run.id, state, detail, 1)
    assert look(monitor, store) == () and monitor.look().ended == (info,)


def test_run_cancelled_while_waiting_ended_as_cancelled(monitor: Monitor, store: Store, run: ScriptedRun) -> None:
    run.hold()
    run.begin()
    run.say("waiting", place=1, holder=None)
    assert the(look(monitor, store)).info.state == activity.WAITING
    run.end("cancelled", reason="", executions=0)
    assert look(monitor, store) == ()
    assert [(info.state, info.executions) for info in monitor.look().ended] == [(activity.CANCELLED, 0)]


def test_run_ended_before_the_first_snapshot_is_not_reported(monitor: Monitor, store: Store, run: ScriptedRun) -> None:
    run.begin()
    run.plan()
    run.end("cancelled", reason="")
    assert look(monitor, store) == () and monitor.look().ended == ()


@pytest.mark.parametrize("damage", ["spec", "end", "time"])
def test_nonsense_journal_hides_no_other_run(
    monitor: Monitor, store: Store, places: Places, run: ScriptedRun, damage: str
) -> None:
    other = ScriptedRun(places.runs, 2)
    other.begin()
    run.begin(**({"spec": {"models": 3}} if damage == "spec" else {}))
    run.plan()
    if damage == "time":
        add_line(run.directory.path, b'{"ev":"execution_start","seq":9,"t_ns":1e999,"cell":"x","n":1}')
    run.end("failed", **({"error": [], "executions": "many"} if damage == "end" else {}))
    assert [row.info.id for row in look(monitor, store)] == [other.id, run.id]


def test_run_with_a_removed_directory_disappears(monitor: Monitor, store: Store, run: ScriptedRun) -> None:
    run.begin()
    assert len(look(monitor, store)) == 1
    run.directory.remove()
    assert look(monitor, store) == ()


def test_rows_are_newest_first(monitor: Monitor, store: Store, places: Places) -> None:
    for number in (2, 5, 3):
        ScriptedRun(places.runs, number).begin()
    assert [row.info.id for row in look(monitor, store)] == [make_id(number) for number in (5, 3, 2)]


@pytest.mark.parametrize("damage", ["request", "journal", "other version"])
def test_unreadable_run_is_a_row_with_its_reason(monitor: Monitor, store: Store, run: ScriptedRun, damage: str) -> None:
    run.hold()
    run.begin()
    if damage == "request":
        (run.directory.path / "request.json").write_bytes(b"\xff{")
    elif damage == "journal":
        (run.directory.path / journal.NAME).write_bytes(b"nothing of ours\n" * 3)
    else:
        run.say("plan", models="of another kind")
    row = the(look(monitor, store))
    assert (row.info.id, row.info.state) == (run.id, activity.RUNNING)
    run.let_go()
    assert the(look(monitor, store)).info.id == run.id


def test_row_knows_its_project_by_metadata_model_or_path(monitor: Monitor, store: Store, places: Places) -> None:
    by_path = ModelReference("p.onnx", FileStamp("/models/p.onnx", 1, 1, "b" * 64), "b" * 64)
    by_model = ModelReference("m.onnx", FileStamp("/elsewhere/m.onnx", 1, 1, SHA), SHA)
    projects = [store.projects.create("by path", by_path), store.projects.create("by model", by_model)]
    named = ScriptedRun(places.runs, 3, metadata={"project": "by path"})
    planned = ScriptedRun(places.runs, 2)
    planned.hold()
    planned.begin()
    early = ScriptedRun(places.runs, 1, spec=make_spec(Path("/models/p.onnx")))
    named.begin()
    early.begin()
    first, second = projects[0].id, projects[1].id
    assert [row.project for row in look(monitor, store)] == [first, "", first]
    planned.plan()
    assert [row.project for row in look(monitor, store)] == [first, second, first]
    planned.let_go()


def test_ended_run_of_another_host_is_not_listed(monitor: Monitor, store: Store, places: Places) -> None:
    assert store.host_id
    ended, going = ScriptedRun(places.runs, 1), ScriptedRun(places.runs, 2)
    for one in (ended, going):
        one.begin(host_id="f" * 16)
        one.plan()
    ended.end(saved=True)
    assert [(row.info.id, row.info.state) for row in look(monitor, store)] == [(going.id, activity.ELSEWHERE)]
