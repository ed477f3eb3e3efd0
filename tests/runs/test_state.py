"""Run states, each made on disk as it occurs and read by another process's view."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.build import make_cell, make_execution, make_spec
from tests.services.script import SUMMARY
from tuibench.core import activity
from tuibench.core.model import Point, Reference
from tuibench.core.reason import Reason
from tuibench.core.record import to_plain
from tuibench.present.reason import reason_words
from tuibench.runs.directory import LOCK, RunDirectory
from tuibench.runs.journal import NAME, Follower, Journal
from tuibench.runs.observer import StateContext, read_state, resume_refusal, this_boot

BOOT, OTHER_BOOT = "b" * 36, "c" * 36
HERE, ELSEWHERE = "a" * 16, "e" * 16
RUN = "01M7QJXH866DK1S3FNRAFAA4P6"
REQUEST = {"id": RUN, "spec": to_plain(make_spec(Path("/m/model.onnx"))), "card": {"name": "mine"}}
OBSERVER = StateContext(HERE, BOOT, now=lambda: 2e9)


@pytest.fixture
def run(tmp_path: Path) -> RunDirectory:
    """A run that has begun."""
    directory = RunDirectory(tmp_path / RUN)
    directory.make(REQUEST)
    return directory


def write(run: RunDirectory, *events: tuple[str, dict[str, Any]], start: dict[str, Any] | None = None) -> None:
    cell = make_cell("p0")
    point = Point("p0", 0, 1, 1, {}, {}, (), None, 1, Reference(None, None, None))
    journal = Journal(run.path)
    journal.append(
        "run_start",
        **{"run": RUN, "spec": to_plain(make_spec(Path("/m/model.onnx"))), "host_id": HERE, "boot_id": BOOT, "pid": 7}
        | {"started_utc": "2026-11-18T10:00:00Z"}
        | (start or {}),
    )
    journal.append("plan", models=[to_plain(SUMMARY)], points=[to_plain(point)], cells=[to_plain(cell)])
    journal.append(
        "execution_done", cell=cell.key, n=1, round=1, anchor=False, wall_s=1.0, result=to_plain(make_execution())
    )
    for name, fields in events:
        journal.append(name, **fields)
    journal.close()


@contextmanager
def a_runner(run: RunDirectory) -> Iterator[None]:
    descriptor = os.open(run.path / LOCK, os.O_RDWR | os.O_CREAT, 0o600)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    yield
    os.close(descriptor)


def end(**fields: Any) -> tuple[str, dict[str, Any]]:
    return "run_end", fields


@pytest.mark.parametrize(
    ("events", "state", "word"),
    [
        ([], activity.INTERRUPTED, "its runner died"),
        ([end(status="finished", saved=True)], activity.FINISHED, ""),
        ([end(status="cancelled", reason="SIGTERM", saved=True)], activity.CANCELLED, "ended by its user"),
        ([end(status="finished", saved=False, why="disk full")], activity.UNSAVED, "disk full"),
        ([end(status="failed", error={"message": "no such model"})], activity.FAILED, "no such model"),
        ([end(status="interrupted", reason="the disk is full")], activity.INTERRUPTED, "the disk is full"),
        ([end(status="interrupted", reason="x", saved=True)], activity.FINISHED, "as far as it was measured"),
        ([end(status="interrupted", reason="x"), ("sitting", {"boot_id": BOOT})], activity.INTERRUPTED, "runner died"),
    ],
)
def test_last_event_decides_without_a_runner(run: RunDirectory, events: Any, state: str, word: str) -> None:
    write(run, *events)
    info = read_state(run, OBSERVER)
    assert (info.state, info.pid, info.eta_s) == (state, None, None)
    assert word in reason_words(info.detail)
    assert (info.cells, info.cells_done, info.executions) == (1, 0, 1)
    assert (info.name, info.models, info.started_utc) == ("mine", ("model.onnx",), "2026-11-18T10:00:00Z")


def test_run_cancelled_before_measuring_is_not_reported_as_saved(run: RunDirectory) -> None:
    counts = {"cells": 0, "cells_done": 0, "executions": 0}
    write(run, end(status="cancelled", reason="cancelled on request", **counts))
    info = read_state(run, OBSERVER)
    assert info.executions == 0
    assert resume_refusal(info) == Reason("cancelled_unmeasured")
    assert resume_refusal(replace(info, executions=3)) == Reason("cancelled_and_saved")


def test_runner_that_holds_the_lock_is_alive_with_any_journal(run: RunDirectory) -> None:
    write(run, ("progress", {"cell": None, "eta_s": 12.5}))
    with a_runner(run):
        info = read_state(run, OBSERVER)
        assert (info.state, info.pid, info.eta_s) == (activity.RUNNING, 7, 12.5)
        # A look must not take the lock from its owner.
        assert run.is_held()
    assert not run.is_held()


def test_waiting_run_shows_its_place_and_the_holder(run: RunDirectory) -> None:
    holder = {"pid": 9, "user": "ada", "run": "R", "eta_s": 3.0, "stopped": False}
    write(run, ("waiting", {"place": 2, "holder": holder}))
    with a_runner(run):
        info = read_state(run, OBSERVER)
        assert (info.state, info.place) == (activity.WAITING, 2)
        assert info.holder is not None
        assert (info.holder.pid, info.holder.user, info.holder.eta_s) == (9, "ada", 3.0)
    write_more(run, "granted", waited_s=1.0, shared=False)
    with a_runner(run):
        assert read_state(run, OBSERVER).state == activity.RUNNING


def write_more(run: RunDirectory, name: str, **fields: Any) -> None:
    journal = Journal(run.path, 90)
    journal.append(name, **fields)
    journal.close()


def test_other_boot_id_means_a_reboot(run: RunDirectory) -> None:
    write(run, start={"boot_id": OTHER_BOOT})
    info = read_state(run, OBSERVER)
    assert (info.state, resume_refusal(info)) == (activity.REBOOTED, None)
    write_more(run, "sitting", boot_id=BOOT)
    assert read_state(run, OBSERVER).state == activity.INTERRUPTED


def test_run_of_another_host_is_not_judged_by_the_local_lock(run: RunDirectory) -> None:
    write(run, start={"host_id": ELSEWHERE})
    os.utime(run.path / NAME, (2e9 - 60, 2e9 - 60))
    info = read_state(run, OBSERVER)
    assert (info.state, info.heartbeat_age_s) == (activity.ELSEWHERE, 60.0)
    assert "another machine" in reason_words(resume_refusal(info))


def test_stored_record_overrides_the_journal(run: RunDirectory) -> None:
    context = StateContext(HERE, BOOT, is_saved=lambda wanted: wanted == RUN)
    write(run)
    assert read_state(run, context).state == activity.FINISHED
    write_more(run, "run_end", status="finished", saved=False, why="busy")
    assert read_state(run, context).state == activity.FINISHED
    write_more(run, "run_end", status="finished", saved=True)
    gone = read_state(run, StateContext(HERE, BOOT, is_saved=lambda _: False))
    assert (gone.state, gone.resumable) == (activity.UNSAVED, True)
    assert "no longer in the store" in reason_words(gone.detail)


@pytest.mark.parametrize("line", [0, 1, 2])
def test_damage_is_reported_and_readable_events_count(run: RunDirectory, line: int) -> None:
    write(run, end(status="finished", saved=True))
    lines = (run.path / NAME).read_bytes().splitlines(keepends=True)
    lines[line] = b"00000000 {}\n"
    (run.path / NAME).write_bytes(b"".join(lines))
    info = read_state(run, OBSERVER)
    assert info.state == activity.FINISHED
    assert "1 line of its journal cannot be read" in reason_words(info.detail)
    assert (info.cells, info.executions) == {0: (1, 1), 1: (0, 0), 2: (1, 0)}[line]


@pytest.mark.parametrize(
    "content",
    [b"", b"\x00" * 100, b"[1, 2", b'"text"', b"{}", b'{"spec": 1}', b'{"spec": {}}', b"\xff", b"[" * 100_000],
)
def test_damaged_request_is_reported(run: RunDirectory, content: bytes) -> None:
    write(run)
    (run.path / "request.json").write_bytes(content)
    info = read_state(run, OBSERVER)
    assert info.state == activity.INTERRUPTED
    assert "request" in reason_words(info.detail)


def test_invalid_metadata_in_a_request_is_reported(run: RunDirectory) -> None:
    write(run)
    (run.path / "request.json").write_text(json.dumps({**REQUEST, "card": 5}), encoding="ascii")
    assert "request" in reason_words(read_state(run, OBSERVER).detail)


def test_journal_of_another_version_is_reported_without_raising(run: RunDirectory) -> None:
    write(run, ("granted", {"something": "else"}))
    info = read_state(run, OBSERVER)
    assert "cannot be read" in reason_words(info.detail)


def test_run_directory_without_a_journal_is_reported(tmp_path: Path) -> None:
    (tmp_path / "x").mkdir()
    assert "cannot be read" in reason_words(read_state(RunDirectory(tmp_path / "x"), OBSERVER).detail)


def test_boot_id_is_read_from_the_kernel(tmp_path: Path) -> None:
    assert len(this_boot()) == 36
    assert this_boot(tmp_path) == ""


@pytest.mark.parametrize("now", [0.0, 2e9, -1e9])
def test_clock_jump_changes_no_state(run: RunDirectory, now: float) -> None:
    write(run)
    context = StateContext(HERE, BOOT, now=lambda: now)
    assert read_state(run, context).state == activity.INTERRUPTED
    with a_runner(run):
        assert read_state(run, context).state == activity.RUNNING


def test_requests_are_restored_equal_and_are_private(run: RunDirectory) -> None:
    assert run.request() == REQUEST
    assert json.loads((run.path / "request.json").read_bytes())["id"] == RUN
    assert {oct(os.stat(run.path / name).st_mode & 0o777) for name in ("request.json", ".")} == {"0o600", "0o700"}


@pytest.mark.parametrize("fields", [{"saved": True}, {"saved": False, "why": "full"}, {}])
@pytest.mark.parametrize("status", ["finished", "cancelled", "interrupted"])
def test_head_and_tail_of_an_ended_run_give_the_same_state(
    run: RunDirectory, monkeypatch: pytest.MonkeyPatch, status: str, fields: dict[str, Any]
) -> None:
    counts = {"cells": 1, "cells_done": 0, "executions": 1}
    write(run, end(status=status, reason="x", **fields, **counts))
    calls: list[Follower] = []

    def read_all(follower: Follower) -> list[dict[str, Any]]:
        calls.append(follower)
        return read(follower)

    read = Follower.read
    monkeypatch.setattr(Follower, "read", read_all)
    by_ends = read_state(run, OBSERVER)
    assert calls == [], "a list must not read what all runs measured"
    monkeypatch.setattr("tuibench.runs.observer.read_ends", lambda run: None)
    assert read_state(run, OBSERVER) == by_ends
    assert calls


def test_run_before_its_first_line_is_beginning(run: RunDirectory) -> None:
    with a_runner(run):
        begins = read_state(run, OBSERVER)
    over = read_state(run, OBSERVER)
    assert (begins.state, begins.detail, begins.resumable) == (activity.RUNNING, Reason("beginning"), False)
    assert (over.state, over.detail, over.resumable) == (activity.INTERRUPTED, Reason("not_begun"), True)
