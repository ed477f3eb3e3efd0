"""One line of news: what just came of something, on whichever screen one is."""

from __future__ import annotations

from typing import Literal

from tuibench.tui.widgets.painted import Painted
from tuibench.tui.widgets.row import Row, shown

Kind = Literal["info", "warn", "bad"]
_STYLES: dict[Kind, str] = {"info": "accent", "warn": "warn", "bad": "bad"}


class StatusLine(Painted):
    """The latest news; who shows it takes it away again, as with the next key."""

    DEFAULT_CSS = "StatusLine { height: 1; }"

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id, classes=classes)
        self._said: Row = ()
        self.kind: Kind = "info"

    @property
    def said(self) -> str:
        """What it shows; '' for nothing."""
        return "".join(text for text, _ in self._said)

    def say(self, text: str, kind: Kind = "info") -> None:
        """Show news, in the place of older ones."""
        sign = "! " if kind == "bad" else ""
        self.kind = kind
        self._said = shown((sign + text, _STYLES[kind])) if text else ()
        self.repaint()

    def clear(self) -> None:
        """Show nothing."""
        self.say("")

    def row(self, y: int) -> Row:
        """The news, a blank before it."""
        return ((" ", ""), *self._said) if y == 0 and self._said else ()
