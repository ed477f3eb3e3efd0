from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from textual.widgets import Input

from tests.tui.frame import frame, rows
from tests.tui.pilot import look, replace_methods, settle, type_text
from tests.tui.sample_data import make_broken, make_going, make_id
from tests.tui.screens.stage import Shown, shown, with_runs
from tests.tui.stub_page import StubPage, opened_page, stub_routes
from tuibench.core.errors import StoreBusy
from tuibench.core.ids import short_id
from tuibench.core.reason import LEGACY_TEXT
from tuibench.core.stored import Removal
from tuibench.services.api import Services
from tuibench.services.form_values import RerunPlan
from tuibench.tui.screens.benchmark.actions import remove_words
from tuibench.tui.widgets.field import TextQuestion
from tuibench.tui.widgets.status_line import Notice

OWNER = "pid 7 of me, run abcd, about 2m00 left"


def said(seen: Shown) -> str:
    """Return the status line."""
    return rows(seen.app)[-3]


def script(seen: Shown, name: str, answer: Callable[..., Any]) -> list[tuple[Any, ...]]:
    """Script the answer to one query; return the recorded calls."""
    calls: list[tuple[Any, ...]] = []

    def call(*given: Any, **options: Any) -> Any:
        calls.append((*given, *options.values()))
        return answer(*given)

    replace_methods(seen.app.services, **{name: call})
    return calls


# Rerun


async def test_key_r_asks_and_starts_or_offers_new_version(monkeypatch: pytest.MonkeyPatch) -> None:
    stub_routes(monkeypatch, "run")
    async with shown() as seen:
        # key r shows cost once and y starts
        script(seen, "reruns__plan", lambda one: RerunPlan(one, 15, 360.0, ""))
        note = "kept elsewhere"
        calls = script(seen, "reruns__start", lambda one: ("01RUN", (note,)))
        await seen.press("r")
        assert {f"{short_id(seen.ids[0])}:", "15", "~6m00,"} <= set(said(seen).split())
        assert seen.answers == ("y",) and calls == []
        await seen.press("y")
        assert calls == [(seen.ids[0], False)] and opened_page(seen.app) == ("run", ("01RUN",), {})
        assert note in frame(seen.app)
        # key r changed model offers to measure new version
        await seen.press("escape")
        script(seen, "reruns__plan", lambda one: RerunPlan(one, 0, 0.0, "", "the model has changed.", changed=True))
        calls = script(seen, "reruns__start", lambda one: ("01RUN", ()))
        await seen.press("r")
        assert f"{short_id(seen.ids[0])}:" in said(seen) and seen.answers == ("y",)
        await seen.press("y")
        assert calls == [(seen.ids[0], True)]


async def test_rerun_and_removal_questions_name_reasons_and_losses() -> None:
    async with shown() as seen:
        # key r question names lock owner and escape cancels
        script(seen, "reruns__plan", lambda one: RerunPlan(one, 1, 3.0, OWNER))
        calls = script(seen, "reruns__start", lambda one: ("", ()))
        await seen.press("r")
        assert OWNER[:22] in said(seen) and seen.answers == ("y",)
        # Other keys do nothing while a question is open.
        await seen.press("d", "escape")
        assert calls == [] and not seen.status.asking and seen.cursor == seen.ids[0]
        # key r question shows the load of the machine
        for load in ("quiet", "busy (1.7 of 2 CPUs)"):
            script(seen, "reruns__plan", lambda one, load=load: RerunPlan(one, 200, 3600.0, "", load=load))
            await seen.press("r")
            assert load in said(seen) and seen.answers == ("y",)
            await seen.press("escape")
        # key r impossible rerun shows reason
        reason = "the model is gone: put it back"
        script(seen, "reruns__plan", lambda one: RerunPlan(one, 0, 0.0, "", reason))
        await seen.press("r")
        assert reason in said(seen) and seen.status.kind == "bad" and not seen.status.asking
        # key d asks and u restores
        await seen.press("d")
        assert f"{short_id(seen.ids[0])}?" in said(seen) and seen.answers == ("y",)
        await seen.press("escape")
        assert seen.keys[0] == seen.ids[0]
        await seen.press("d", "y")
        assert seen.keys[0] == seen.ids[1] and " u " in said(seen)
        assert [row.id for row in Services().store.benchmarks.rows()] == list(seen.ids[1:])
        await seen.press("G", "u")
        assert seen.keys == list(seen.ids) and seen.status.kind == "info"
        assert seen.page.benchmarks.table.cursor_key == seen.ids[-1]
        # key d on unsaved run warns of permanent loss
        with_runs(seen.app.services, make_broken(seen.project))
        seen.app.poll()
        await settle(seen.pilot)
        calls = script(seen, "library__remove", lambda *_: Removal(None))
        await seen.press("g", "d")
        assert short_id(make_id(11, 600)) in said(seen) and " u " not in said(seen)
        await seen.press("y")
        assert calls == [((make_id(11, 600),), False, True)]
        # key d mixed selection names permanent losses
        going, broken = make_going(seen.project)[0], make_broken(seen.project)
        with_runs(seen.app.services, going, broken)
        seen.app.poll()
        await settle(seen.pilot)
        calls = script(seen, "library__remove", lambda *_: Removal(None))
        for one in (going, broken):
            seen.page.benchmarks.table.move_to(one.info.id)
            await seen.press("space")
        await seen.press("d")
        assert f"{short_id(broken.info.id)}, " in said(seen) and f"{short_id(going.info.id)}?" in said(seen)
        await seen.press("y")
        assert [(set(ids), *flags) for ids, *flags in calls] == [({going.info.id, broken.info.id}, True, True)]


# Compare


async def test_keys_R_and_c_open_form_or_comparison(monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: N802 - the key
    stub_routes(monkeypatch, "comparison", "form")
    async with shown() as seen:
        # key R opens the form with the settings of the benchmark
        await seen.press("R")
        assert opened_page(seen.app) == ("form", (), {"benchmark": seen.ids[0]})
        await seen.press("escape")
        # key c on rerun compares with original
        await seen.press("c")
        assert opened_page(seen.app) == ("comparison", (seen.ids[2], seen.ids[0]), {})
        # key c without rerun shows instructions
        await seen.press("escape")
        await seen.press("down", "c")
        assert seen.status.said and not isinstance(seen.app.screen, StubPage)
        # key c one marked compares with cursor row
        await seen.press("g", "space", "down", "c")
        assert opened_page(seen.app) == ("comparison", (seen.ids[2], seen.ids[0]), {})
        # key c two marked uses the older as base
        await seen.press("escape", "escape")
        assert seen.page.marked() == ()
        seen.page.benchmarks.table.move_to(seen.ids[1])
        await seen.press("space", "down", "space", "c")
        assert opened_page(seen.app) == ("comparison", (seen.ids[3], seen.ids[1]), {})


async def test_keys_on_active_run_name_follower_cancel_it_and_show_log(monkeypatch: pytest.MonkeyPatch) -> None:
    stub_routes(monkeypatch, "detail")
    async with shown(going=True) as seen:
        # key c names the key that follows it
        going = make_going(seen.project)[0]
        name = short_id(going.info.id)
        for rerun_of in ("", seen.ids[0]):
            with_runs(seen.app.services, replace(going, rerun_of=rerun_of))
            await look(seen.app, seen.pilot)
            await seen.press("g", "c")
            assert {name, "enter", "c"} <= set(said(seen).split())
            await seen.press("space", "down", "c")
            assert {name, "enter"} <= set(said(seen).split()) and "attach" not in frame(seen.app)
            await seen.press("escape")
            assert seen.page.marked() == ()
        # key d cancels it first
        await seen.press("g", "d")
        assert name in said(seen) and seen.answers == ("y",)
        calls = script(seen, "library__remove", lambda *_: Removal(None))
        await seen.press("y")
        assert calls == [((going.info.id,), True, False)]
        # key L shows the log of the run, or that of a record in its tab
        calls = script(seen, "runs__log", lambda one: ("engine: \x1b[31mno such kernel", "last"))
        await seen.press("L")
        assert calls == [(going.info.id,)]
        assert "\\e[31mno" in frame(seen.app) and isinstance(seen.app.screen, Notice)
        await seen.press("escape", "down", "L")
        assert opened_page(seen.app) == ("detail", (seen.ids[0], "log"), {})


# Remove


async def test_marked_rows_are_removed_and_export_may_be_private(tmp_path: Path) -> None:
    async with shown() as seen:
        # key d marked rows form one removal
        await seen.press("space", "down", "space", "d", "y")
        assert seen.keys == [one for n, one in enumerate(seen.ids) if n not in (0, 2)]
        assert seen.page.marked() == () and len(Services().store.trash.entries()) == 1
        # key x option includes private paths
        await export_to(seen, tmp_path / "out.json", "up", "right", "down")
        assert "/models/resnet50.onnx" in (tmp_path / "out.json").read_text()


async def test_ignored_marks_and_store_refusal_are_shown() -> None:
    async with shown() as seen:
        # single row key with marks says marks are ignored
        script(seen, "reruns__plan", lambda one: RerunPlan(one, 15, 360.0, ""))
        await seen.press("space", "down", "x")
        assert f" {short_id(seen.ids[2])}, " in frame(seen.app) and "marks" in frame(seen.app)
        await seen.press("escape", "r")
        assert f"{short_id(seen.ids[2])}:" in said(seen) and "marks" in said(seen)
        # store refusal is shown
        await seen.press("escape")

        def refuse(*_: object) -> None:
            raise StoreBusy(LEGACY_TEXT, text="held", hint="retry")

        script(seen, "library__remove", refuse)
        await seen.press("d", "y")
        assert {"held;", "retry"} <= {*said(seen).split()} and seen.status.kind == "bad"
        assert seen.keys == list(seen.ids)


def test_removal_question_states_result_for_each_kind() -> None:
    a, b, c = (make_id(number) for number in (1, 2, 3))
    x, y, z = map(short_id, (a, b, c))
    removed, cancelled = "remove", "cancel and remove"
    for (ids, going, unsaved), said, answer in (
        (([a], [], []), f"Remove {x}? u restores it.", removed),
        (([a, b], [a, b], []), f"{x}, {y} are still running: cancel and remove?", cancelled),
        (([a, b], [b], []), f"Cancel {y}, and remove {x}, {y}?", cancelled),
        (([a, b, c], [], [a]), f"Delete unsaved {x} and remove 2 more?", removed),
        (([a, b, c], [c], [b]), f"Delete unsaved {y}, cancel {z}?", cancelled),
    ):
        assert remove_words(ids, going, unsaved) == (said, answer)


# Name, note, export, command and log


async def test_key_e_saves_only_changed_fields() -> None:
    async with shown() as seen:
        # key e edits name and note
        row = Services().store.benchmarks.rows()[0]
        await seen.press("e")
        assert [field.value for field in seen.app.screen.query(Input)] == [row.name, row.note]
        await type_text(seen.pilot, "warm")
        await seen.press("tab")
        await type_text(seen.pilot, "cold")
        await seen.press("enter")
        row = Services().store.benchmarks.rows()[0]
        assert (row.name, row.note) == ("warm", "cold")
        assert "warm" in said(seen) and '"warm"' in frame(seen.app)
        # key e preserves concurrent changes
        one = Services().store.benchmarks.rows()[0].id
        await seen.press("e")
        Services().library.edit(one, note="theirs")
        await type_text(seen.pilot, "warm")
        await seen.press("enter", "enter")
        row = Services().store.benchmarks.rows()[0]
        assert (row.name, row.note) == ("warm", "theirs")


async def test_key_x_checks_path_writes_file_and_asks_before_overwrite(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "out.json"
    looked: list[threading.Thread] = []
    there = os.path.lexists

    def look_for(one: Any) -> bool:
        if one == str(path):
            looked.append(threading.current_thread())
        return there(one)

    async with shown((200, 24)) as seen:
        # a bad path shows its error beside the field
        for bad, word in ((tmp_path, "directory"), (tmp_path / "no" / "f.json", "no directory")):
            await export_to(seen, bad)
            assert seen.app.screen.is_modal and word in frame(seen.app), bad
            await seen.press("escape")
        # a thread looks for an existing file
        with monkeypatch.context() as patch:
            patch.setattr(os.path, "lexists", look_for)
            await export_to(seen, path)
        assert looked and threading.main_thread() not in looked
        written = json.loads(path.read_text())
        assert written["tuibench"]["id"] == seen.ids[0] and "/models/resnet50.onnx" not in json.dumps(written)
        assert "out.json" in said(seen)
        # an existing file is overwritten on y only
        path.write_text("mine")
        await export_to(seen, path)
        assert seen.answers == ("y",)
        await seen.press("escape")
        assert path.read_text() == "mine"
        await export_to(seen, path)
        await seen.press("y")
        assert json.loads(path.read_text())["tuibench"]["id"] == seen.ids[0]


async def export_to(seen: Shown, path: Path, *before: str) -> None:
    await seen.press("x", *before)
    await type_text(seen.pilot, str(path))
    await seen.press("enter")


def read(path: str) -> str:
    return Path(path).read_text(encoding="utf-8")


async def test_name_edit_save_fails_typed_text_is_kept() -> None:
    async with shown((120, 24)) as seen:
        real = seen.app.services.library.edit

        def busy(*given: object) -> None:
            raise StoreBusy(LEGACY_TEXT, text="the store is busy")

        replace_methods(seen.app.services, library__edit=busy)
        await seen.press("e")
        await type_text(seen.pilot, "after")
        await seen.press("enter", "enter")
        assert isinstance(seen.app.screen, TextQuestion) and "after" in frame(seen.app)
        replace_methods(seen.app.services, library__edit=real)
        await seen.press("enter", "enter")
        assert {row.id: row.name for row in seen.services.store.benchmarks.rows()}[seen.ids[0]] == "after"
