"""What is told inside the dashboard: past tense for what happened once, state for what may replace itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from textual.message import Message

from tuibench.core.errors import TuibenchError
from tuibench.core.remote import FetchProgress
from tuibench.tui.desk import Pulse


class Answered(Message):
    """A worker thread has what a screen asked for."""

    def __init__(self, then: Callable[[Any], object], value: Any, mark: object = None) -> None:
        """`mark` is by what keys wait for it."""
        super().__init__()
        self.then = then
        self.value = value
        self.mark = mark


class Refused(Message):
    """A worker thread got an error that the user should know."""

    def __init__(
        self, error: TuibenchError, otherwise: Callable[[TuibenchError], object] | None, mark: object = None
    ) -> None:
        """`mark` is by what keys waited for an answer."""
        super().__init__()
        self.error = error
        self.otherwise = otherwise
        self.mark = mark


class PulseTaken(Message):
    """The look of this second; an older one that nobody has read yet is worth nothing beside it."""

    def __init__(self, pulse: Pulse) -> None:
        super().__init__()
        self.pulse = pulse

    def can_replace(self, message: Message) -> bool:
        """As above."""
        return isinstance(message, PulseTaken)


class Heard(Message):
    """How much of a model from elsewhere is here; the newest counts."""

    def __init__(self, about: str, progress: FetchProgress) -> None:
        super().__init__()
        self.about = about
        self.progress = progress

    def can_replace(self, message: Message) -> bool:
        """As above."""
        return isinstance(message, Heard)
