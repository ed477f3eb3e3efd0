"""Relative times on an idle dashboard: once a minute, pages and lists update those that changed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, runtime_checkable

from textual.screen import Screen

AGES_S = 60.0
"""Seconds between two updates."""


@runtime_checkable
class ShowsAges(Protocol):
    """A page or widget with relative times."""

    def show_ages(self) -> None:
        """Update the relative times; only lines whose text changes are sent."""


class Ages:
    """Calls `show_ages` on a page and its widgets."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._last_s = now()

    def advance(self, page: Screen[None]) -> None:
        """Update the page if a minute has passed; a page below a dialog is updated once the dialog is closed."""
        now = self._now()
        # A clock may be set back.
        if not (page.is_mounted and page.app.screen is page) or abs(now - self._last_s) < AGES_S:
            return
        self._last_s = now
        for each in (page, *page.query("*")):
            if isinstance(each, ShowsAges):
                each.show_ages()
