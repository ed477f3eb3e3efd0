"""Navigation to a started run from a page that stays and from one that is replaced."""

from __future__ import annotations

import pytest
from textual.widgets import Input

from tests.store.build import make_id
from tests.tui.pilot import open_app, press, settle, status_of
from tests.tui.screens.system_services import SystemServices
from tests.tui.stub_page import opened_page, stub_routes
from tests.tui.tour import go_home
from tuibench.core.errors import TuibenchError
from tuibench.core.ids import short_id
from tuibench.core.reason import LEGACY_TEXT
from tuibench.tui.screens.benchmark.actions import show_started
from tuibench.tui.screens.project.home import HomeScreen
from tuibench.tui.screens.system import SystemScreen

RUN = make_id(7)
NOTES = ("measured once", "saved nowhere")
UNKNOWN = TuibenchError(LEGACY_TEXT, text="not examined")


async def test_started_run_opens_and_shows_notes(monkeypatch: pytest.MonkeyPatch) -> None:
    stub_routes(monkeypatch, "run")
    async with open_app(services=SystemServices(UNKNOWN)) as (app, pilot):
        looks: list[int] = []
        monkeypatch.setattr(app, "poll", lambda: looks.append(1))
        for replace, below in ((False, SystemScreen), (True, HomeScreen)):
            await press(pilot, "f2")
            looks.clear()
            show_started(app.page, RUN, NOTES, replace=replace)
            await settle(pilot)
            assert opened_page(app) == ("run", (RUN,), {}) and app.started == RUN and looks == [1]
            assert status_of(app).said == "; ".join(NOTES)
            await press(pilot, "escape")
            assert type(app.page) is below
            app.started = ""
            if not replace:
                await press(pilot, "escape")


async def test_screen_opened_during_start_stays_and_shows_notes(monkeypatch: pytest.MonkeyPatch) -> None:
    stub_routes(monkeypatch, "run")
    async with open_app(services=SystemServices(UNKNOWN)) as (app, pilot):
        for replace in (False, True):
            await press(pilot, "f2")
            page = app.page
            await press(pilot, "f3")
            show_started(page, RUN, NOTES[1:], replace=replace)
            await settle(pilot)
            assert short_id(RUN) in status_of(app).said and app.page is not page
            await press(pilot, "escape")
            assert opened_page(app) == ("run", (RUN,), {})
            assert status_of(app).said == NOTES[1]
            await go_home(app, pilot)


async def test_key_after_start_reaches_run_page(monkeypatch: pytest.MonkeyPatch) -> None:
    stub_routes(monkeypatch, "run")
    async with open_app(services=SystemServices(UNKNOWN)) as (app, pilot):
        await press(pilot, "f2")
        page = app.page
        # Two screens change at once: neither may replace the other.
        show_started(page, RUN, ("saved nowhere",), replace=True)
        app.action_palette()
        await settle(pilot)
        assert page not in app.screen_stack and app.screen.is_modal and app.screen.query(Input)
        await press(pilot, "escape")
        assert opened_page(app) == ("run", (RUN,), {})
