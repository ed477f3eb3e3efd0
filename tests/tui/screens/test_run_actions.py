"""Keys of a run in lists, over scripted runs beside a real store."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tests.tui.frame import rows
from tests.tui.pilot import look, open_app, press, replace_methods, status_of
from tests.tui.sample_data import make_broken, make_going, rich_project
from tests.tui.screens.run_services import make_broken as broken_view
from tests.tui.screens.run_services import make_waiting, sketch_view
from tests.tui.screens.stage import Shown, answers_of, shown, with_runs
from tuibench.core.activity import RunView
from tuibench.core.ids import short_id
from tuibench.present.outcome import extend_words, finish_words
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


async def test_keys_X_p_and_plus_in_list_act_on_run() -> None:  # noqa: N802 - the key
    async with shown(going=True) as seen:
        run = seen.keys[0]
        asked = script(seen.app, run, sketch_view())
        await seen.press("g", "X")
        assert {f"{short_id(run)}?", "14"} <= {*said(seen.app).split()} and seen.answers == ("y",)
        await seen.press("escape")
        assert asked == []
        await seen.press("X", "y")
        assert asked == [("cancel", run)] and " 45 " in said(seen.app)
        # p and + act at once
        for key, wish, words in (("p", "finish", finish_words), ("+", "extend", extend_words)):
            asked.clear()
            await seen.press(key)
            assert asked == [(wish, run)]
            assert words(replace(sketch_view().info, id=run))[:60] in seen.status.said


async def _show_broken(seen: Shown) -> str:
    row = make_broken(seen.project)
    with_runs(seen.app.services, replace(row, info=replace(row.info, state="interrupted")))
    await look(seen.app, seen.pilot)
    await seen.press("g")
    return row.info.id


async def test_keys_o_and_p_in_list_resume_and_save_interrupted_run() -> None:
    async with shown() as seen:
        run = await _show_broken(seen)
        asked = script(seen.app, run, broken_view())
        await seen.press("o")
        assert asked == [("resume", run)] and "resumed" in said(seen.app)
        await seen.press("p")
        assert asked[1:] == [("resume", run, "finish")] and "saving" in said(seen.app)
        # o asks if the machine changed
        asked = script(seen.app, run, broken_view(other_machine=True))
        await seen.press("o")
        assert "m" in seen.answers and asked == []
        await seen.press("m")
        assert asked == [("resume", run, "mixed")]
        # a stored benchmark is no run
        seen.page.benchmarks.table.move_to(seen.ids[0])
        asked.clear()
        for key in ("X", "p", "+", "o"):
            await seen.press(key)
            assert seen.status.said and seen.status.kind == "warn" and asked == [], key


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
        assert "resnet50" in said(app) and status_of(app).kind == "warn" and asked == []
        home.table.move_to(lost.info.id)
        await press(pilot, "X")
        assert f"{short_id(lost.info.id)}?" in said(app)
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
        for key in "rRxeD":
            await press(pilot, key)
            assert name in said(app) and status_of(app).kind == "warn", key
        await press(pilot, "d")
        assert name in said(app) and answers_of(status_of(app)) == ("y",)
