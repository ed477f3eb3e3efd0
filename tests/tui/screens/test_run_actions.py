"""Keys of a run in lists, over scripted runs beside a real store."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.tui.frame import rows
from tests.tui.pilot import look, open_app, press, replace_methods
from tests.tui.screens.run_services import make_broken as broken_view
from tests.tui.screens.run_services import make_waiting, sketch_view
from tests.tui.screens.stage import Shown, shown, with_runs
from tests.tui.stock import make_broken, make_going, rich_project
from tuibench.core.activity import RunView
from tuibench.core.ids import short_id
from tuibench.services.api import Services
from tuibench.tui.app import Dashboard
from tuibench.tui.screens.project.home import HomeScreen


class _Feed:
    def __init__(self, view: RunView) -> None:
        self.view, self.closed = view, False

    def look(self) -> RunView:
        return self.view

    def close(self) -> None:
        self.closed = True


def script(app: Dashboard, run: str, view: RunView) -> list[tuple[Any, ...]]:
    """Script the run's state; return the recorded control requests."""
    asked: list[tuple[Any, ...]] = []

    def watch(one: str) -> _Feed:
        assert one == run
        return _Feed(replace(view, info=replace(view.info, id=run)))

    def request(name: str, result: object) -> Any:
        def call(one: str, **options: Any) -> object:
            asked.append((name, one, *(key for key, value in options.items() if value)))
            return result

        return call

    replace_methods(app.services, runs__watch=watch, runs__resume_detached=request("resume", run))
    for name in ("cancel", "finish", "extend"):
        replace_methods(app.services, **{f"runs__{name}": request(name, replace(view.info, id=run))})
    return asked


def said(app: Dashboard) -> str:
    return rows(app)[-3]


async def test_key_X_in_list_names_run_in_question() -> None:  # noqa: N802 - the key
    async with shown(going=True) as seen:
        run = seen.keys[0]
        asked = script(seen.app, run, sketch_view())
        await seen.press("g", "X")
        assert f"Cancel run {short_id(run)}? 14 cells measured so far are kept." in said(seen.app)
        await seen.press("escape")
        assert asked == []
        await seen.press("X", "y")
        assert asked == [("cancel", run)] and "executions saved" in said(seen.app)


@pytest.mark.parametrize(
    ("key", "wish", "words"), [("p", "finish", "execution is the last"), ("+", "extend", "gets its time once more")]
)
async def test_keys_p_and_plus_in_list_act_at_once(key: str, wish: str, words: str) -> None:
    async with shown(going=True) as seen:
        asked = script(seen.app, seen.keys[0], sketch_view())
        await seen.press("g", key)
        assert asked == [(wish, seen.keys[0])] and words in said(seen.app)


async def _show_broken(seen: Shown) -> str:
    row = make_broken(seen.project)
    with_runs(seen.app.services, replace(row, info=replace(row.info, state="interrupted")))
    await look(seen.app, seen.pilot)
    await seen.press("g")
    return row.info.id


async def test_keys_o_and_p_in_list_resume_and_save_interrupted_run() -> None:
    async with shown() as seen:
        run = await _show_broken(seen)
        assert "o resumes it, p saves it as it is" in "\n".join(rows(seen.app))
        asked = script(seen.app, run, broken_view())
        await seen.press("o")
        assert asked == [("resume", run)] and "resumed" in said(seen.app)
        await seen.press("p")
        assert asked[1:] == [("resume", run, "finish")] and "saving" in said(seen.app)


async def test_key_o_in_list_asks_when_machine_changed() -> None:
    async with shown() as seen:
        run = await _show_broken(seen)
        asked = script(seen.app, run, broken_view(other_machine=True))
        await seen.press("o")
        assert "The machine changed." in said(seen.app) and asked == []
        await seen.press("m")
        assert asked == [("resume", run, "mixed")]


@pytest.mark.parametrize("key", ["X", "p", "+", "o"])
async def test_run_keys_on_stored_benchmark_say_it_is_no_run(key: str) -> None:
    async with shown() as seen:
        await seen.press(key)
        assert "no active or interrupted run under the cursor" in said(seen.app)


async def test_run_keys_at_home_act_on_unassigned_run() -> None:
    services = Services()
    project, _ = rich_project(services)
    mine, lost = make_going(project)
    services = with_runs(services, mine, replace(lost, project=""))
    async with open_app(services=services) as (app, pilot):
        await look(app, pilot)
        home = app.page
        assert isinstance(home, HomeScreen)
        asked = script(app, lost.info.id, make_waiting())
        home.table.move_to(project)
        await press(pilot, "X")
        assert "enter, then X, p, + or o on a run of resnet50" in said(app) and asked == []
        home.table.move_to(lost.info.id)
        await press(pilot, "X")
        assert f"Cancel run {short_id(lost.info.id)}? Nothing measured yet." in said(app)
        await press(pilot, "y")
        assert asked == [("cancel", lost.info.id)]


async def test_result_keys_at_home_on_unassigned_run_explain_refusal() -> None:
    services = Services()
    project, _ = rich_project(services)
    lost = replace(make_going(project)[1], project="")
    async with open_app(services=with_runs(services, lost)) as (app, pilot):
        await look(app, pilot)
        home = app.page
        assert isinstance(home, HomeScreen)
        home.table.move_to(lost.info.id)
        name = short_id(lost.info.id)
        for key in "rRx":
            await press(pilot, key)
            assert f"{name} has no saved result yet" in said(app), key
        for key, words in (
            ("e", "cannot be named before it is saved"),
            ("D", f"run {name} has no project yet"),
            ("d", "cancel and remove"),
        ):
            await press(pilot, key)
            assert words in said(app), key
