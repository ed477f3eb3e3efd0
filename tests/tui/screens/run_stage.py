"""A run's page over a scripted services, with placeholders for the screens it opens."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from textual.pilot import Pilot

from tests.tui.frame import frame, rows
from tests.tui.pilot import open_app, press, settle, status_of
from tests.tui.screens.run_services import RUN, RunServices
from tests.tui.screens.stage import answers_of
from tuibench.core.activity import RunView
from tuibench.core.errors import TuibenchError
from tuibench.tui import route
from tuibench.tui.app import Dashboard
from tuibench.tui.screens.run.screen import RunScreen
from tuibench.tui.widgets.status_line import StatusLine


class Watched:
    """A run's open page with its app and services."""

    def __init__(self, app: Dashboard, pilot: Pilot[int], services: RunServices) -> None:
        self.app, self.pilot, self.services = app, pilot, services

    @property
    def page(self) -> RunScreen:
        """Return the page of the run."""
        page = self.app.page
        assert isinstance(page, RunScreen), page
        return page

    async def press(self, *keys: str) -> None:
        """Press keys one after the other."""
        await press(self.pilot, *keys)

    async def look(self) -> None:
        """Poll once now, as the page does every second."""
        self.page.load()
        await settle(self.pilot)

    @property
    def text(self) -> str:
        """Return the whole terminal."""
        return frame(self.app)

    @property
    def status(self) -> StatusLine:
        """The line of the last result or the open question."""
        return status_of(self.app)

    @property
    def answers(self) -> tuple[str, ...]:
        """The keys that answer the open question; none without one."""
        return answers_of(self.status)

    @property
    def news(self) -> str:
        """Return the status line."""
        return rows(self.app)[-3]


@asynccontextmanager
async def watched(
    *views: RunView | TuibenchError, size: tuple[int, int] = (80, 24), log: tuple[str, ...] = (), **given: Any
) -> AsyncIterator[Watched]:
    """Open the page and take its first poll; the test triggers later polls."""
    services = RunServices(*views, log=log)
    async with open_app(size, services=services, **given) as (app, pilot):
        app.go(route.run(RUN))
        await settle(pilot)
        yield Watched(app, pilot, services)
