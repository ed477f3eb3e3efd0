"""Runs of a newer version, or with unknown options: named as such and never executed."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.refusal import refused
from tests.runs.profile_script import make_profile_spec
from tests.services.script import ScriptedRun
from tuibench.core import activity
from tuibench.core.errors import StoreNewer
from tuibench.core.machine import Places
from tuibench.core.profile import LOSS, ProfileSpec
from tuibench.core.reason import Reason, because
from tuibench.core.record import to_plain
from tuibench.core.schema import BENCHMARK, NEWEST, PROFILE, require_form, schema_of
from tuibench.core.spec import BenchmarkSpec
from tuibench.present.error.words import hint_words, message_words
from tuibench.present.reason import reason_words
from tuibench.runs.directory import REQUEST, RunDirectory
from tuibench.runs.journal import NAME, decode, encode, read_events
from tuibench.runs.observer import read_replay
from tuibench.runs.session import open_journal
from tuibench.services.library import Library, NeverSaved
from tuibench.services.monitor import Monitor
from tuibench.services.opening import open_store
from tuibench.services.runs import RunOptions, Runs
from tuibench.services.saving import result_of
from tuibench.services.settings import Settings

PROFILE_SPEC = make_profile_spec(Path("/models/m.onnx"))
Change = Callable[[RunDirectory], None]


@pytest.fixture
def places(tmp_path: Path) -> Places:
    return Places(*(tmp_path / name for name in ("data", "state", "cache", "config")))


@pytest.fixture
def run(places: Places) -> ScriptedRun:
    """A run that measured something and broke off."""
    run = ScriptedRun(places.runs, spec=PROFILE_SPEC)
    run.begin()
    run.let_go()
    return run


def of_a_newer_version(run: RunDirectory) -> None:
    events = [event | {"v": NEWEST + 1} for event in read_events(run.path)]
    events[0]["versions"] = {"tuibench": "9.9"}
    (run.path / NAME).write_bytes(b"".join(map(encode, events)))


def asked_by_a_newer_version(run: RunDirectory) -> None:
    request = json.loads((run.path / REQUEST).read_text())
    (run.path / REQUEST).write_text(json.dumps(request | {"v": NEWEST + 1, "spec": {"what": "a newer one knows"}}))


def of_an_unknown_kind(run: RunDirectory) -> None:
    spec = {"spec": to_plain(replace(PROFILE_SPEC, profile=ProfileSpec("energy")))}
    request = json.loads((run.path / REQUEST).read_text())
    (run.path / REQUEST).write_text(json.dumps(request | spec))
    first, *rest = (run.path / NAME).read_bytes().splitlines(keepends=True)
    (run.path / NAME).write_bytes(b"".join([encode((decode(first) or {}) | spec), *rest]))


CASES = [
    (
        of_a_newer_version,
        because("run_newer", schema=NEWEST + 1, version="9.9"),
        "this run was written by tuibench 9.9 (schema 5): this version cannot read it",
    ),
    (
        asked_by_a_newer_version,
        because("run_newer", schema=NEWEST + 1, version=None),
        "this run was written by a newer tuibench (schema 5): this version cannot read it",
    ),
    (
        of_an_unknown_kind,
        because("profile_kind_unknown", kind="energy"),
        "this run is a profile of a kind unknown to this version: energy",
    ),
]


@pytest.mark.parametrize(("change", "why", "words"), CASES)
def test_newer_run_is_listed_as_such_and_never_resumed(
    places: Places, run: ScriptedRun, change: Change, why: Reason, words: str
) -> None:
    change(run.directory)
    store = open_store(places.data)
    runs = Runs(Settings(places, "nobody"), store)
    (info,) = runs.every()
    assert (info.state, info.resumable, info.cells) == (activity.INTERRUPTED, False, 0)
    (row,) = Monitor(runs, store).look().runs
    assert row.info.detail == info.detail
    for act in (runs.resume, runs.resume_detached, lambda one: runs.resume_detached(one, finish=True)):
        with refused(StoreNewer, why.code, **why.fields) as caught:
            act(run.id)
        assert message_words(caught.value) == words
        assert hint_words(caught.value).startswith("use that version or a newer one")
    with refused(NeverSaved, "run_unread", run=run.id, why=info.detail):
        Library(store, lambda: runs).remove([run.id])
    assert not list(places.data.rglob(f"{run.id}*"))


@pytest.mark.parametrize(
    ("change", "code"), [(of_a_newer_version, "run_newer"), (of_an_unknown_kind, "profile_kind_unknown")]
)
def test_journal_of_a_newer_run_yields_no_result(run: ScriptedRun, change: Change, code: str) -> None:
    change(run.directory)
    for act in (read_replay, result_of):
        with refused(StoreNewer, code):
            act(run.directory)


def test_newer_run_is_named_while_a_newer_version_measures(places: Places, run: ScriptedRun) -> None:
    of_a_newer_version(run.directory)
    run.hold()
    store = open_store(places.data)
    (row,) = Monitor(Runs(Settings(places, "nobody"), store), store).look().runs
    run.let_go()
    assert row.info.state == activity.RUNNING and "tuibench 9.9 (schema 5)" in reason_words(row.info.detail)


@pytest.mark.parametrize(
    ("spec", "form"),
    [
        (replace(PROFILE_SPEC, profile=None), BENCHMARK),
        (PROFILE_SPEC, PROFILE),
        (replace(PROFILE_SPEC, profile=ProfileSpec(LOSS)), PROFILE),
    ],
)
def test_profile_journal_and_request_name_the_newer_schema(places: Places, spec: BenchmarkSpec, form: int) -> None:
    runs = Runs(Settings(places, "nobody"), open_store(places.data))
    _, request, _ = runs._compose(spec, RunOptions())
    assert request["v"] == form == schema_of(to_plain(spec))
    directory = RunDirectory(places.runs / request["id"])
    directory.make(request)
    for resume in (None, {"finish": True}):
        journal, _ = open_journal(directory, request | {"resume": resume})
        journal.append("run_start", run=request["id"], spec=request["spec"])
        journal.close()
    assert [event["v"] for event in read_events(directory.path)] == [NEWEST, NEWEST]


@pytest.mark.parametrize("number", [None, 0, 1, NEWEST, "9", True, 9.5])
def test_invalid_schema_number_causes_no_warning(number: Any) -> None:
    require_form(number)
