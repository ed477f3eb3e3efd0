"""Stands in for screens that a test only wants to see opened, and remembers what they were opened with."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from textual.app import App

from tuibench.tui import route
from tuibench.tui.screens.base import Page


class Landing(Page):
    """An empty page that knows how it was called."""

    def __init__(self, name: str, *given: Any, **options: Any) -> None:
        super().__init__()
        self.called = (name, given, options)

    def title_parts(self) -> tuple[str, ...]:
        """Its name."""
        return (self.called[0],)


def land(monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    """Let these ways of `route` end on a Landing."""

    def way(name: str) -> Callable[..., Page]:
        return lambda *given, **options: Landing(name, *given, **options)

    for name in names:
        monkeypatch.setattr(route, name, way(name))


def landed(app: App[Any]) -> tuple[str, tuple[Any, ...], dict[str, Any]]:
    """What the page in sight was opened as."""
    page = app.screen
    assert isinstance(page, Landing), page
    return page.called
