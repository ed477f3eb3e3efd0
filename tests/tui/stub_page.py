"""A placeholder for screens that a test only opens; it records the arguments it was opened with."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from textual.app import App

from tuibench.tui import route
from tuibench.tui.screens.base import Page


class StubPage(Page):
    """An empty page that records its arguments."""

    def __init__(self, name: str, *given: Any, **options: Any) -> None:
        super().__init__()
        self.called = (name, given, options)

    def title_parts(self) -> tuple[str, ...]:
        """Return the page's name as its title."""
        return (self.called[0],)


def stub_routes(monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    """Make these functions of `route` open a StubPage."""

    def way(name: str) -> Callable[..., Page]:
        return lambda *given, **options: StubPage(name, *given, **options)

    for name in names:
        monkeypatch.setattr(route, name, way(name))


def opened_page(app: App[Any]) -> tuple[str, tuple[Any, ...], dict[str, Any]]:
    """Return the name and arguments with which the current page was opened."""
    page = app.screen
    assert isinstance(page, StubPage), page
    return page.called
