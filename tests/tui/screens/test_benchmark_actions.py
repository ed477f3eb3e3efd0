from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.tui.frame import frame, rows
from tests.tui.landing import land, landed
from tests.tui.pilot import look, settle, type_text
from tests.tui.screens.stage import Shown, shown, with_runs
from tests.tui.stock import make_broken, make_going, make_id
from tuibench.core.errors import StoreBusy
from tuibench.core.short_id import short_id
from tuibench.tui.desk import Removed, RerunPlan
from tuibench.tui.screens.remove_words import remove_words
from tuibench.tui.widgets.text_question import TextQuestion
from tuibench.workbench.hall import Workbench


def said(seen: Shown) -> str:
    """The line of news, and of questions."""
    return rows(seen.app)[-3]


def script(seen: Shown, name: str, answer: Callable[..., Any]) -> list[tuple[Any, ...]]:
    """Let one question to the desk be answered by the test; what it was asked."""
    calls: list[tuple[Any, ...]] = []

    def call(*given: Any, **options: Any) -> Any:
        calls.append((*given, *options.values()))
        return answer(*given)

    setattr(seen.app.desk, name, call)
    return calls


# Measure again


async def test_r_asks_once_with_cells_minutes_and_host_and_y_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    land(monkeypatch, "run")
    async with shown() as seen:
        script(seen, "plan_rerun", lambda one: RerunPlan(one, 15, 360.0, ""))
        calls = script(seen, "rerun", lambda one: ("01RUN", ("kept elsewhere",)))
        await seen.press("r")
        assert f"Re-run {short_id(seen.ids[0])}: 15 cells, ~6m00, host free?" in said(seen) and calls == []
        await seen.press("y")
        assert calls == [(seen.ids[0], False)] and landed(seen.app) == ("run", ("01RUN",), {})
        assert "kept elsewhere" in frame(seen.app)


@pytest.mark.parametrize("load", ["quiet", "busy (1.7 of 2 CPUs)"])
async def test_r_says_how_quiet_the_machine_is(load: str) -> None:
    async with shown() as seen:
        script(seen, "plan_rerun", lambda one: RerunPlan(one, 200, 3600.0, "", load=load))
        await seen.press("r")
        assert f", host {load}?  y run" in said(seen)


async def test_r_says_for_whom_it_waits_and_escape_starts_nothing() -> None:
    async with shown() as seen:
        script(seen, "plan_rerun", lambda one: RerunPlan(one, 1, 3.0, "pid 7 of me, run abcd, about 2m00 left"))
        calls = script(seen, "rerun", lambda one: ("", ()))
        await seen.press("r")
        assert ": 1 cell, ~3.0 s, after pid 7 of me, run abcd" in said(seen)
        # No key does anything else while something is asked.
        await seen.press("d", "escape")
        assert calls == [] and "Re-run" not in said(seen) and seen.cursor == seen.ids[0]


async def test_r_says_behind_which_runs_it_would_be_measured() -> None:
    async with shown(going=True) as seen:
        script(seen, "plan_rerun", lambda one: RerunPlan(one, 2, 18.0, "pid 7 of me, run abcd, about 2m00 left"))
        await seen.press("G", "r")
        behind = f"after {short_id(make_id(9, 120))} (~3m10) + 1 more?"
        assert f"Re-run {short_id(seen.ids[-1])}: 2 cells, ~18 s, {behind}  y run" in said(seen)


async def test_r_of_a_model_that_changed_offers_to_measure_the_new_one(monkeypatch: pytest.MonkeyPatch) -> None:
    land(monkeypatch, "run")
    async with shown() as seen:
        script(seen, "plan_rerun", lambda one: RerunPlan(one, 0, 0.0, "", "the model has changed.", changed=True))
        calls = script(seen, "rerun", lambda one: ("01RUN", ()))
        await seen.press("r")
        assert f"The model changed since {short_id(seen.ids[0])}: measure it as it is now?" in said(seen)
        await seen.press("y")
        assert calls == [(seen.ids[0], True)]


async def test_r_says_why_it_cannot() -> None:
    async with shown() as seen:
        script(seen, "plan_rerun", lambda one: RerunPlan(one, 0, 0.0, "", "the model is gone: put it back"))
        await seen.press("r")
        assert "! the model is gone: put it back" in said(seen)


async def test_R_opens_the_form_with_the_settings(monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: N802 - the key
    land(monkeypatch, "form")
    async with shown() as seen:
        await seen.press("down", "R")
        assert landed(seen.app) == ("form", (), {"benchmark": seen.ids[1]})


# Compare


async def test_c_compares_with_what_it_re_ran(monkeypatch: pytest.MonkeyPatch) -> None:
    land(monkeypatch, "comparison")
    async with shown() as seen:
        await seen.press("c")
        assert landed(seen.app) == ("comparison", (seen.ids[2], seen.ids[0]), {})


async def test_c_of_what_is_no_re_run_says_what_to_do() -> None:
    async with shown() as seen:
        await seen.press("down", "c")
        assert "is no re-run: mark another one" in said(seen)


async def test_c_compares_two_marked_the_older_as_the_base(monkeypatch: pytest.MonkeyPatch) -> None:
    land(monkeypatch, "comparison")
    async with shown() as seen:
        await seen.press("down", "space", "down", "space", "c")
        assert landed(seen.app) == ("comparison", (seen.ids[3], seen.ids[1]), {})


async def test_c_compares_the_marked_one_with_the_cursor(monkeypatch: pytest.MonkeyPatch) -> None:
    land(monkeypatch, "comparison")
    async with shown() as seen:
        await seen.press("space", "down", "c")
        assert landed(seen.app) == ("comparison", (seen.ids[2], seen.ids[0]), {})


@pytest.mark.parametrize("again", ["", "0"])
async def test_c_of_a_run_that_goes_on_says_which_key_follows_it(again: str) -> None:
    async with shown(going=True) as seen:
        going = make_going(seen.project)[0]
        going = replace(going, rerun_of=seen.ids[0] if again else "")
        with_runs(seen.app.desk, going)
        await look(seen.app, seen.pilot)
        await seen.press("g", "c")
        name = short_id(going.info.id)
        assert f"{name} is still going on: enter follows it, c compares once it has ended" in said(seen)
        await seen.press("space", "down", "c")
        assert f"{name} is still going on: enter follows it" in said(seen) and "attach" not in frame(seen.app)


async def test_c_of_three_compares_nothing() -> None:
    async with shown() as seen:
        await seen.press("space", "space", "space", "c")
        assert "two can be compared, and 3 are marked" in said(seen)


# Remove


async def test_d_asks_and_u_brings_back() -> None:
    async with shown() as seen:
        await seen.press("d")
        assert f"Remove {short_id(seen.ids[0])}? u brings it back." in said(seen)
        await seen.press("escape")
        assert seen.keys[0] == seen.ids[0]
        await seen.press("d", "y")
        assert seen.keys[0] == seen.ids[1] and "u brings it back" in said(seen)
        assert [row.id for row in Workbench().store.benchmarks.rows()] == list(seen.ids[1:])
        await seen.press("G", "u")
        assert seen.keys == list(seen.ids) and "restored" in said(seen)
        assert seen.page.benchmarks.table.cursor_key == seen.ids[-1]


async def test_d_takes_all_that_are_marked_as_one_removal() -> None:
    async with shown() as seen:
        await seen.press("space", "down", "space", "d", "y")
        assert seen.keys == [one for n, one in enumerate(seen.ids) if n not in (0, 2)]
        assert seen.page.marked() == () and len(Workbench().store.trash.entries()) == 1


async def test_what_is_marked_is_said_not_to_be_meant_where_only_one_is() -> None:
    async with shown() as seen:
        script(seen, "plan_rerun", lambda one: RerunPlan(one, 15, 360.0, ""))
        await seen.press("space", "down", "x")
        assert f"Export {short_id(seen.ids[2])}, not what is marked" in frame(seen.app)
        await seen.press("escape", "r")
        assert f"Not what is marked. Re-run {short_id(seen.ids[2])}: " in said(seen)


async def test_d_of_a_run_that_goes_on_cancels_it_first() -> None:
    async with shown(going=True) as seen:
        await seen.press("g", "d")
        assert f"{short_id(make_id(9, 120))} still goes on: cancel and remove?" in said(seen)
        calls = script(seen, "remove", lambda *_: Removed("gone", None))
        await seen.press("y")
        assert calls == [((make_id(9, 120),), True, False)]


async def test_d_of_a_run_that_was_never_saved_says_that_nothing_brings_it_back() -> None:
    async with shown() as seen:
        with_runs(seen.app.desk, make_broken(seen.project))
        seen.app.look()
        await settle(seen.pilot)
        calls = script(seen, "remove", lambda *_: Removed("gone", None))
        await seen.press("g", "d")
        assert "is not saved: nothing brings back" in said(seen)
        await seen.press("y")
        assert calls == [((make_id(11, 600),), False, True)]


async def test_d_of_runs_that_go_on_and_others_names_what_is_lost_for_good() -> None:
    async with shown() as seen:
        going, broken = make_going(seen.project)[0], make_broken(seen.project)
        with_runs(seen.app.desk, going, broken)
        seen.app.look()
        await settle(seen.pilot)
        calls = script(seen, "remove", lambda *_: Removed("gone", None))
        for one in (going, broken):
            seen.page.benchmarks.table.move_to(one.info.id)
            await seen.press("space")
        await seen.press("d")
        assert f"Remove unsaved {short_id(broken.info.id)} for good, cancel {short_id(going.info.id)}?" in said(seen)
        await seen.press("y")
        assert [(set(ids), *flags) for ids, *flags in calls] == [({going.info.id, broken.info.id}, True, True)]


def test_what_is_asked_before_a_removal_says_of_each_kind_what_becomes_of_it() -> None:
    a, b, c = (make_id(number) for number in (1, 2, 3))
    x, y, z = map(short_id, (a, b, c))
    assert remove_words([a], [], []) == (f"Remove {x}? u brings it back.", "remove")
    assert remove_words([a, b], [a, b], []) == (f"{x}, {y} still go on: cancel and remove?", "cancel and remove")
    assert remove_words([a, b], [b], []) == (f"Cancel {y}, and remove {x}, {y}?", "cancel and remove")
    assert remove_words([a, b, c], [], [a]) == (f"Remove unsaved {x} for good, and 2 more?", "remove")
    both = f"Remove unsaved {y} for good, cancel {z}?"
    assert remove_words([a, b, c], [c], [b]) == (both, "cancel and remove")


async def test_what_the_store_refuses_is_said() -> None:
    async with shown() as seen:

        def refuse(*_: object) -> None:
            raise StoreBusy("the store is held by another session", "try again in a moment")

        script(seen, "remove", refuse)
        await seen.press("d", "y")
        assert "! the store is held by another session: try again in a moment" in said(seen)
        assert seen.keys == list(seen.ids)


# Name, note, export, command, log


async def test_e_changes_name_and_note() -> None:
    async with shown() as seen:
        await seen.press("e")
        assert "after AMX fix" in frame(seen.app) and "new kernel" in frame(seen.app)
        await type_text(seen.pilot, "warm")
        await seen.press("tab")
        await type_text(seen.pilot, "cold room")
        await seen.press("enter")
        row = Workbench().store.benchmarks.rows()[0]
        assert (row.name, row.note) == ("warm", "cold room")
        assert "is now called warm" in said(seen) and '"warm"' in frame(seen.app)


async def test_e_leaves_what_others_changed_meanwhile() -> None:
    async with shown() as seen:
        one = Workbench().store.benchmarks.rows()[0].id
        await seen.press("e")
        Workbench().library.edit(one, note="written by another session")
        await type_text(seen.pilot, "warm")
        await seen.press("enter", "enter")
        row = Workbench().store.benchmarks.rows()[0]
        assert (row.name, row.note) == ("warm", "written by another session")


async def test_e_and_escape_change_nothing() -> None:
    async with shown() as seen:
        await seen.press("e")
        await type_text(seen.pilot, "zzz")
        await seen.press("escape")
        assert Workbench().store.benchmarks.rows()[0].name == "after AMX fix"
        assert seen.page.benchmarks.table.has_focus


async def test_x_writes_a_file_and_asks_before_it_replaces_one(tmp_path: Path) -> None:
    async with shown((200, 24)) as seen:
        await export_to(seen, tmp_path / "out.json")
        written = json.loads((tmp_path / "out.json").read_text())
        assert written["tuibench"]["id"] == seen.ids[0] and "/models/resnet50.onnx" not in json.dumps(written)
        assert "out.json" in said(seen)
        (tmp_path / "out.json").write_text("mine")
        await export_to(seen, tmp_path / "out.json")
        assert "is there already  y overwrite  n esc back" in said(seen)
        await seen.press("escape")
        assert (tmp_path / "out.json").read_text() == "mine"
        await export_to(seen, tmp_path / "out.json")
        await seen.press("y")
        assert json.loads((tmp_path / "out.json").read_text())["tuibench"]["id"] == seen.ids[0]


async def test_x_with_private_paths(tmp_path: Path) -> None:
    async with shown() as seen:
        await export_to(seen, tmp_path / "out.json", "up", "right", "down")
        assert "/models/resnet50.onnx" in (tmp_path / "out.json").read_text()


async def test_x_says_beside_the_field_what_is_wrong_with_a_path(tmp_path: Path) -> None:
    async with shown((120, 36)) as seen:
        for path, words in ((tmp_path, "is a directory"), (tmp_path / "no" / "f.json", "there is no directory")):
            await export_to(seen, path)
            assert words in frame(seen.app), path
            await seen.press("escape")


async def test_x_looks_for_a_file_of_that_name_where_nobody_waits_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked: list[threading.Thread] = []
    there = os.path.lexists

    def look(path: Any) -> bool:
        if path == str(tmp_path / "out.json"):
            looked.append(threading.current_thread())
        return there(path)

    async with shown() as seen:
        with monkeypatch.context() as patch:
            patch.setattr(os.path, "lexists", look)
            await export_to(seen, tmp_path / "out.json")
        assert looked and threading.main_thread() not in looked
        assert (tmp_path / "out.json").exists()


async def export_to(seen: Shown, path: Path, *before: str) -> None:
    await seen.press("x", *before)
    await type_text(seen.pilot, str(path))
    await seen.press("enter")


async def test_y_copies_the_command_and_keeps_it_in_a_file() -> None:
    async with shown((200, 24)) as seen:
        await seen.press("y")
        assert seen.app.clipboard.startswith("tuibench benchmark /models/resnet50.onnx -e onnxruntime -s sync -ncores ")
        kept = said(seen).partition("kept in ")[2].partition(": ")[0]
        assert read(kept).strip() == seen.app.clipboard


def read(path: str) -> str:
    return Path(path).read_text(encoding="utf-8")


async def test_L_shows_the_log_of_a_benchmark_or_a_run(monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: N802 - the key
    land(monkeypatch, "detail")
    async with shown(going=True) as seen:
        calls = script(seen, "run_log", lambda one: ("engine: \x1b[31mno such kernel", "last"))
        await seen.press("L")
        assert calls == [(make_id(9, 120),)]
        assert "engine: \\e[31mno such kernel" in frame(seen.app) and "Log of" in frame(seen.app)
        await seen.press("escape", "down", "down", "L")
        assert landed(seen.app) == ("detail", (seen.ids[0], "log"), {})


async def test_a_name_that_could_not_be_saved_is_there_to_be_saved_again() -> None:
    async with shown((120, 24)) as seen:
        real = seen.app.desk.edit

        def busy(*given: object) -> None:
            raise StoreBusy("the store is busy")

        seen.app.desk.edit = busy  # type: ignore[method-assign, assignment]
        await seen.press("e")
        await type_text(seen.pilot, "after")
        await seen.press("enter", "enter")
        assert f"{short_id(seen.ids[0])} not saved, the store is busy" in frame(seen.app) and "after" in frame(seen.app)
        seen.app.desk.edit = real  # type: ignore[method-assign]
        await seen.press("enter", "enter")
        assert {row.id: row.name for row in seen.bench.store.benchmarks.rows()}[seen.ids[0]] == "after"


async def test_a_name_that_is_too_long_is_said_where_it_was_typed() -> None:
    async with shown((200, 24)) as seen:
        await seen.press("e")
        await type_text(seen.pilot, "x" * 300)
        await seen.press("enter", "enter")
        assert "a name has at most 200" in frame(seen.app) and isinstance(seen.app.screen, TextQuestion)
