"""Opens the form over a scripted services, between placeholders for the screens around it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.timer import Timer

from tests.tui.pilot import open_app, settle
from tests.tui.screens.form_services import FormServices
from tests.tui.stub_page import stub_routes
from tuibench.core.ids import make_ulid
from tuibench.tui import route
from tuibench.tui.app import Dashboard
from tuibench.tui.screens.base import Page
from tuibench.tui.screens.form.screen import CHECK_S, LOOK_S, CheckedForm, FormScreen

BENCHMARK = make_ulid(1_789_000_000_000, b"0123456789")


class Timers:
    """Timers that fire when the test says so."""

    def __init__(self) -> None:
        self.waits: list[float] = []
        self.waiting: list[_Timer] = []

    def add(self, delay: float, callback: Callable[[], None]) -> _Timer:
        """Add a timer."""
        timer = _Timer(callback)
        self.waits.append(delay)
        self.waiting.append(timer)
        return timer

    def ring(self) -> int:
        """Fire all timers that were not stopped; return their number."""
        due, self.waiting = [timer for timer in self.waiting if not timer.stopped], []
        for timer in due:
            timer.callback()
        return len(due)


class _Timer:
    def __init__(self, callback: Callable[[], None]) -> None:
        self.callback = callback
        self.stopped = False

    def stop(self) -> None:
        self.stopped = True


@pytest.fixture
def timers(monkeypatch: pytest.MonkeyPatch) -> Timers:
    """Replace the form's timers by timers that the test fires."""
    timers = Timers()

    def set_timer(form: CheckedForm, delay: float, callback: Callable[[], None], **given: Any) -> _Timer | Timer:
        return (
            Page.set_timer(form, delay, callback, **given)
            if delay not in (CHECK_S, LOOK_S)
            else timers.add(delay, callback)
        )

    monkeypatch.setattr(CheckedForm, "set_timer", set_timer)
    return timers


@pytest.fixture(autouse=True)
def neighbours(monkeypatch: pytest.MonkeyPatch) -> None:
    """Replace the screens around the form by placeholders."""
    stub_routes(monkeypatch, "home", "run", "system")


@asynccontextmanager
async def open_form(
    services: FormServices, size: tuple[int, int] = (80, 24), *, project: str = "", benchmark: str = "", path: str = "",
    **given: Any,
) -> AsyncIterator[tuple[Dashboard, Pilot[int]]]:  # fmt: skip
    """Open the form and wait for its first check."""
    async with open_app(size, services=services, **given) as (app, pilot):
        await open_page(app, pilot, project, benchmark, path)
        yield app, pilot


async def open_page(app: Dashboard, pilot: Pilot[int], project: str = "", benchmark: str = "", path: str = "") -> None:
    """Go to the form and wait until it accepts keys."""
    app.go(route.form(project, benchmark, path))
    for _ in range(1000):
        await settle(pilot)
        if isinstance(app.page, FormScreen) and app.page.ready:
            break
    await settle(pilot)


def form_of(app: Dashboard) -> FormScreen:
    """Return the form on the screen."""
    page = app.page
    assert isinstance(page, FormScreen)
    return page


def focused(app: Dashboard) -> str:
    """Return the name of the focused field; RUN for the button."""
    form = form_of(app)
    return "RUN" if form.summary.button.has_focus else form.column.focused_field
