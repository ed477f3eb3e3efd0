"""Keys typed while the dashboard starts apply to its first screen."""

from __future__ import annotations

from typing import Any

import pytest
from textual import events

from tests.tui.counting import CountingDriver
from tests.tui.pilot import open_app, press
from tests.tui.sample_data import add_project
from tuibench.services.api import Services
from tuibench.tui.app import Dashboard
from tuibench.tui.screens.project.home import HomeScreen
from tuibench.tui.screens.project.screen import ProjectScreen


def early(*keys: events.Key) -> type[CountingDriver]:
    """Return a driver whose input already contains these keys when the dashboard starts."""

    class Early(CountingDriver):
        def start_application_mode(self) -> None:
            super().start_application_mode()
            for key in keys:
                key.set_sender(self._app)
                self.send_message(key)

    return Early


@pytest.fixture
def two() -> list[str]:
    """Return the names of two listed projects; the first was the last one open."""
    services = Services()
    for n, name in enumerate(("older", "newer")):
        add_project(services, name, f"{n:064x}")
    return ["newer", "older"]


def under_cursor(app: Dashboard) -> str:
    assert isinstance(app.page, HomeScreen)
    row = app.page.chosen()
    return row.project.name if row is not None else ""


async def open_with(driver: type[Any]) -> str:
    async with open_app(headless=False, driver=driver) as (app, _):
        return under_cursor(app)


async def test_keys_typed_before_start_move_in_first_list(two: list[str]) -> None:
    async with open_app() as (app, pilot):
        await press(pilot, "enter", "escape")
        assert under_cursor(app) == two[0]
        app.remembered.keep()
    assert await open_with(early()) == two[0]
    assert await open_with(early(events.Key("j", "j"))) == two[1]


@pytest.mark.usefixtures("two")
@pytest.mark.parametrize(("name", "character"), [("enter", "\r"), ("ctrl+j", "\n")])
async def test_return_translated_to_line_feed_is_enter(name: str, character: str) -> None:
    async with open_app(headless=False, driver=early(events.Key(name, character))) as (app, _):
        assert isinstance(app.page, ProjectScreen)
