"""A benchmark's screen over its own store, for the tests of its tabs."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from textual.pilot import Pilot

from tests.tui.frame import frame, rows
from tests.tui.pilot import open_app, press, settle, status_of
from tests.tui.sample_data import add, add_project
from tuibench.core.result import RunResult
from tuibench.services.api import Services
from tuibench.tui import route
from tuibench.tui.app import Dashboard
from tuibench.tui.screens.detail.screen import TABS, DetailScreen
from tuibench.tui.terminal import Display
from tuibench.tui.widgets.status_line import StatusLine


class Detail:
    """A benchmark's open screen with its app and store."""

    def __init__(self, app: Dashboard, pilot: Pilot[int], services: Services, one: str) -> None:
        self.app, self.pilot, self.services, self.one = app, pilot, services, one

    @property
    def page(self) -> DetailScreen:
        page = self.app.page
        assert isinstance(page, DetailScreen)
        return page

    async def press(self, *keys: str) -> None:
        await press(self.pilot, *keys)

    @property
    def tab(self) -> str:
        """Return the name of the tab in brackets."""
        line = rows(self.app)[1]
        return TABS[int(line.partition("[")[2][0]) - 1]

    @property
    def status(self) -> StatusLine:
        """The line of the last result or the open question."""
        return status_of(self.app)

    @property
    def text(self) -> str:
        return frame(self.app)

    @property
    def rows(self) -> list[str]:
        return rows(self.app)

    @property
    def choices(self) -> str:
        """Return the line of selectors of the current tab."""
        return next(line for line in self.rows[2:5] if "]" in line)

    @property
    def chosen(self) -> dict[str, str]:
        """Return the chosen value of each selector of the current tab."""
        values = re.findall(r"(\S+) (?:‹[^\[›]*)?\[([^\]]+)\]", self.choices)
        return dict(values)

    @property
    def cell(self) -> list[int]:
        """Return the numbers in the selector of cells: position and count of many, cores, batch and dims."""
        return [int(number) for number in re.findall(r"\d+", self.choices.partition("]")[0])]

    @property
    def said(self) -> str:
        """Return the status line."""
        return self.rows[-3]


@asynccontextmanager
async def detail(
    result: RunResult | str,
    *others: RunResult,
    size: tuple[int, int] = (80, 24),
    tab: str = "",
    display: Display | None = None,
    driver: type[Any] | None = None,
    **metadata: str,
) -> AsyncIterator[Detail]:
    """Open the screen of a result stored beside `others`, or of the stored result with that id."""
    services = Services()
    if isinstance(result, str):
        one = result
    else:
        project = next((each.id for each in services.store.projects.all()), "") or add_project(services)
        for other in others:
            add(services, other, project)
        one = add(services, result, project, **metadata)
    headless = driver is None
    async with open_app(size, services=services, display=display, driver=driver, headless=headless) as (
        app,
        pilot,
    ):
        app.go(route.detail(one, tab))
        await settle(pilot)
        yield Detail(app, pilot, services, one)
