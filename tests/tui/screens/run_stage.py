"""The page of a run over a scripted desk, between stand-ins of the screens that it leads to."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from textual.pilot import Pilot

from tests.tui.frame import frame, rows
from tests.tui.pilot import open_app, press, settle
from tests.tui.screens.run_desk import RUN, RunDesk
from tuibench.core.errors import TuibenchError
from tuibench.core.watch import RunView
from tuibench.tui import route
from tuibench.tui.app import Dashboard
from tuibench.tui.screens.run import RunScreen


class Watched:
    """The page with what it stands on."""

    def __init__(self, app: Dashboard, pilot: Pilot[int], desk: RunDesk) -> None:
        self.app, self.pilot, self.desk = app, pilot, desk

    @property
    def page(self) -> RunScreen:
        """The page of the run."""
        page = self.app.page
        assert isinstance(page, RunScreen), page
        return page

    async def press(self, *keys: str) -> None:
        """One after the other."""
        await press(self.pilot, *keys)

    async def look(self) -> None:
        """The look of the next second, now."""
        self.page.load()
        await settle(self.pilot)

    @property
    def text(self) -> str:
        """The whole terminal."""
        return frame(self.app)

    @property
    def news(self) -> str:
        """The line of news, and of questions."""
        return rows(self.app)[-3]


@asynccontextmanager
async def watched(
    *views: RunView | TuibenchError, size: tuple[int, int] = (80, 24), log: tuple[str, ...] = (), **given: Any
) -> AsyncIterator[Watched]:
    """The page at rest, its first look taken; the others are taken when the test says so."""
    desk = RunDesk(*views, log=log)
    async with open_app(size, desk=desk.as_desk(), **given) as (app, pilot):
        app.go(route.run(RUN))
        await settle(pilot)
        yield Watched(app, pilot, desk)
