"""A project's screen over a filled store, for several tests of screens."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

from textual.pilot import Pilot

from tests.tui.frame import rows
from tests.tui.pilot import open_app, press, replace_methods, settle, status_of
from tests.tui.sample_data import make_going, rich_project
from tuibench.core.activity import RunRow
from tuibench.services.api import Services
from tuibench.tui import route
from tuibench.tui.app import Dashboard
from tuibench.tui.screens.project.screen import ProjectScreen
from tuibench.tui.terminal import Display
from tuibench.tui.widgets.status_line import StatusLine


class Shown:
    """A project's open screen with its app and store."""

    def __init__(
        self, app: Dashboard, pilot: Pilot[int], services: Services, project: str, ids: tuple[str, ...]
    ) -> None:
        self.app, self.pilot, self.services, self.project, self.ids = app, pilot, services, project, ids

    @property
    def page(self) -> ProjectScreen:
        page = self.app.page
        assert isinstance(page, ProjectScreen)
        return page

    async def press(self, *keys: str) -> None:
        await press(self.pilot, *keys)

    @property
    def cursor(self) -> str | None:
        return self.page.benchmarks.table.cursor_key

    @property
    def status(self) -> StatusLine:
        """The line of the last result or the open question."""
        return status_of(self.app)

    @property
    def answers(self) -> tuple[str, ...]:
        """The keys that answer the open question; none without one."""
        return answers_of(self.status)

    @property
    def keys(self) -> list[str]:
        return list(self.page.benchmarks.table.keys)


def answers_of(line: StatusLine) -> tuple[str, ...]:
    """Return the keys that answer a line's question; none without one."""
    return () if line._asked is None else tuple(line._asked.answers)


def offered(app: Dashboard) -> list[str]:
    """Return the keys in the two last lines of the terminal."""
    return [pair.split()[0] for line in rows(app)[-2:] for pair in line.split("  ") if pair.strip()]


def with_runs(services: Services, *runs: RunRow) -> Services:
    """Return the services with these active runs."""
    real = services.monitor.look
    return replace_methods(services, monitor__look=lambda: replace(real(), runs=runs))


@asynccontextmanager
async def shown(
    size: tuple[int, int] = (80, 24), *, going: bool = False, display: Display | None = None
) -> AsyncIterator[Shown]:
    services = Services()
    project, ids = rich_project(services)
    services = with_runs(services, *(make_going(project) if going else ()))
    async with open_app(size, services=services, display=display) as (app, pilot):
        app.go(route.project(project))
        await settle(pilot)
        yield Shown(app, pilot, services, project, ids)
