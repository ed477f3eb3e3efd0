"""Memory of closed pages: widgets, painted lines and records are freed when the page closes."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator
from typing import Any

import pytest
from textual.screen import Screen
from textual.widget import Widget

from tests.tui.counting import CountingDriver
from tests.tui.idle import until
from tests.tui.pilot import open_app, press
from tests.tui.sample_data import rich_project
from tuibench.core.result import RunResult
from tuibench.services.api import Services
from tuibench.tui import route
from tuibench.tui.app import Dashboard
from tuibench.tui.screens.base import Page

OPENINGS = 3


def parts_of(page: Page) -> Iterator[weakref.ref[Any]]:
    """Yield weak references to the page, its widgets and their painted lines."""
    for widget in page.walk_children(Widget, with_self=True):
        yield weakref.ref(widget)
        yield weakref.ref(widget._styles_cache)


def live_results() -> list[RunResult]:
    gc.collect()
    return [one for one in gc.get_objects() if isinstance(one, RunResult)]


def all_gone(parts: list[weakref.ref[Any]]) -> bool:
    gc.collect()
    return all(part() is None for part in parts)


def page_of(app: Dashboard, name: str, project: str, one: str) -> Screen[None]:
    if name == "benchmark":
        return route.detail(one)
    return route.form(project_id=project) if name == "form" else route.help_for(app.page, app.focused)


@pytest.mark.parametrize("name", ["benchmark", "form", "help"])
async def test_closed_page_is_freed_with_its_lines_and_records(name: str) -> None:
    project, ids = rich_project(Services())
    async with open_app(headless=False, driver=CountingDriver) as (app, pilot):
        await press(pilot, "enter")
        results = len(live_results())
        parts: list[weakref.ref[Any]] = []
        for one in ids[:OPENINGS]:
            app.go(page_of(app, name, project, one))
            await press(pilot, "down")
            parts += parts_of(app.page)
            await press(pilot, "escape")
        assert len(parts) > OPENINGS * 10
        # A query's thread may still end after its page has closed.
        await until(lambda: len(live_results()) <= results)
        await until(lambda: all_gone(parts))
