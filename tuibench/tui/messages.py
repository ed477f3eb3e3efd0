"""Messages within the dashboard, relative times, and threads that end with the process."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, runtime_checkable

from textual.message import Message
from textual.screen import Screen

from tuibench.core.activity import Snapshot
from tuibench.core.errors import TuibenchError
from tuibench.core.model import FetchProgress


class Answered(Message):
    """A worker thread has the answer to a screen's request."""

    def __init__(self, then: Callable[[Any], object], value: Any, mark: object = None) -> None:
        """`mark` identifies the keys that wait for the answer."""
        super().__init__()
        self.then = then
        self.value = value
        self.mark = mark


class Refused(Message):
    """A worker thread got an error to show to the user."""

    def __init__(
        self, error: TuibenchError, otherwise: Callable[[TuibenchError], object] | None, mark: object = None
    ) -> None:
        """`mark` identifies the keys that waited for the answer."""
        super().__init__()
        self.error = error
        self.otherwise = otherwise
        self.mark = mark


class SnapshotTaken(Message):
    """The result of the latest poll; it replaces an unhandled older one."""

    def __init__(self, snapshot: Snapshot) -> None:
        super().__init__()
        self.snapshot = snapshot

    def can_replace(self, message: Message) -> bool:
        """Replace an unhandled older message."""
        return isinstance(message, SnapshotTaken)


class Heard(Message):
    """Download progress of a remote model; it replaces an unhandled older one."""

    def __init__(self, about: str, progress: FetchProgress) -> None:
        super().__init__()
        self.about = about
        self.progress = progress

    def can_replace(self, message: Message) -> bool:
        """Replace an unhandled older message."""
        return isinstance(message, Heard)


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
