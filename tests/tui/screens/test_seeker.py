"""After `u` the cursor stands on what came back, at once or never."""

from __future__ import annotations

from dataclasses import replace
from itertools import count

from tests.tui.pilot import look, open_app, press, settle, type_text
from tests.tui.screens.profile_stage import profile_run, profiled
from tests.tui.screens.stage import shown
from tests.tui.stock import add_project, make_going, rich_project
from tuibench.tui import route
from tuibench.tui.app import Dashboard
from tuibench.tui.desk import Desk, Pulse
from tuibench.tui.screens.home import HomeScreen
from tuibench.tui.screens.profile_layers import LayersPane
from tuibench.workbench.hall import Workbench


def with_a_run_that_goes_on(desk: Desk, project: str) -> None:
    """Beside which somebody measures: how long it still takes differs at each look."""
    going, waiting = make_going(project)
    real, looks = desk.pulse, count()

    def pulse() -> Pulse:
        info = replace(going.info, eta_s=190.0 - next(looks))
        return replace(real(), runs=(replace(going, info=info), waiting))

    desk.pulse = pulse  # type: ignore[method-assign]


def home_of(app: Dashboard) -> HomeScreen:
    page = app.page
    assert isinstance(page, HomeScreen)
    return page


async def test_a_benchmark_is_looked_at_though_a_run_goes_on() -> None:
    async with shown() as seen:
        with_a_run_that_goes_on(seen.app.desk, seen.project)
        await look(seen.app, seen.pilot)
        seen.page.benchmarks.table.move_to(seen.ids[0])
        await seen.press("d", "y", "G", "u")
        assert seen.cursor == seen.ids[0]


async def test_a_project_is_looked_at_though_a_run_goes_on() -> None:
    project, _ = rich_project(Workbench())
    other = add_project(Workbench(), "bert", "f" * 64)
    async with open_app() as (app, pilot):
        with_a_run_that_goes_on(app.desk, project)
        await look(app, pilot)
        home_of(app).table.move_to(other)
        await press(pilot, "d", "y")
        assert home_of(app).table.cursor_key == project
        await press(pilot, "u")
        assert home_of(app).table.cursor_key == other


async def test_what_another_look_had_read_already_is_looked_at_as_well() -> None:
    async with shown() as seen:
        await seen.press("d", "y", "G")
        undo = seen.app.desk.undo
        seen.app.removals._own.clear()
        restored = undo()
        await look(seen.app, seen.pilot)
        assert seen.ids[0] in seen.keys and seen.cursor == seen.ids[-1]
        seen.app.desk.undo = lambda: restored  # type: ignore[method-assign]
        await seen.press("u")
        assert seen.cursor == seen.ids[0]


async def test_what_a_filter_hides_takes_the_cursor_neither_then_nor_later() -> None:
    async with shown() as seen:
        await seen.press("d", "y", "slash")
        await type_text(seen.pilot, "openvino")
        await seen.press("enter")
        under = seen.cursor
        await seen.press("u")
        assert seen.ids[0] not in seen.keys and seen.cursor == under
        await seen.press("escape")
        assert seen.ids[0] in seen.keys and seen.cursor == under


async def test_home_forgets_what_it_could_not_show() -> None:
    project, ids = rich_project(Workbench())
    other = add_project(Workbench(), "bert", "f" * 64)
    async with open_app() as (app, pilot):
        home_of(app).table.move_to(project)
        app.desk.remove((ids[0],))
        await press(pilot, "u")
        assert home_of(app).sought == frozenset()
        home_of(app).table.move_to(other)
        await press(pilot, "d", "y", "slash")
        await type_text(pilot, "resnet")
        await press(pilot, "enter", "u", "escape")
        assert set(home_of(app).table.keys) == {project, other} and home_of(app).table.cursor_key == project


async def test_rows_of_a_profile_stay_where_they_are() -> None:
    async with profiled((120, 36), profile_run(1, 60), profile_run(2, 90)) as seen:
        seen.app.desk.remove((seen.ids[0],))
        await seen.go(route.profile(seen.ids[1]))
        await seen.press("2", "slash")
        await seen.type("gemm")
        await seen.press("enter")
        table = seen.app.page.query_one(LayersPane).table
        under = table.cursor_key
        await seen.press("u")
        assert "restored" in seen.news
        await seen.press("escape")
        assert len(table.keys) > 1 and table.cursor_key == under


async def test_a_page_without_lists_has_nothing_to_do_with_it() -> None:
    async with shown() as seen:
        await seen.press("d", "y", "f2", "u")
        await settle(seen.pilot)
        assert seen.ids[0] in {row.id for row in seen.bench.store.benchmarks.rows()}
        await seen.press("q")
        assert seen.ids[0] in seen.keys and seen.cursor == seen.ids[1]
