"""Messages within the dashboard: answers and errors of worker threads, snapshots of runs, progress of downloads."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from textual.message import Message

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


class InstallMoved(Message):
    """The installation of an engine went on or ended; it replaces an unhandled older one."""

    def can_replace(self, message: Message) -> bool:
        """Replace an unhandled older message."""
        return isinstance(message, InstallMoved)
