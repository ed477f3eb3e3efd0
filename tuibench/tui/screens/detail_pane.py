"""Base class of the tabs of a benchmark: a tab gets the record once and redraws when a choice changes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from textual.containers import Horizontal, Vertical

from tuibench.core.card import StoredBenchmark
from tuibench.tui import key
from tuibench.tui.widgets.calm import Bare

if TYPE_CHECKING:
    from tuibench.tui.app import Dashboard
    from tuibench.tui.screens.base import Page


class DetailPane(Bare, Vertical):
    """One tab; subclasses show `self.stored`."""

    DEFAULT_CSS = "DetailPane { height: 1fr; width: 1fr; }"

    def __init__(self, stored: StoredBenchmark, *, id: str) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id)
        self.stored = stored

    @property
    def dashboard(self) -> Dashboard:
        """The app with its own type."""
        return cast("Dashboard", self.app)

    def shown_key(self, name: str) -> str:
        """Return a key as bound by the user."""
        app = self.dashboard
        return key.shown(name, app.keymap, app.ascii_only)

    @property
    def around(self) -> str:
        """The keys for the previous and the next value, joined without a blank if both are single characters."""
        keys = self.shown_key("previous-value"), self.shown_key("next-value")
        return ("" if max(map(len, keys)) == 1 else " ").join(keys)

    @property
    def choices(self) -> dict[str, Any]:
        """Choices made on any tab of this page."""
        return cast("Page", self.screen).choices

    def focus_first(self) -> None:
        """Focus the first focusable widget."""
        first = next((widget for widget in self.query("*") if widget.focusable), None)
        self.screen.set_focus(first)


class Beside(Bare, Horizontal):
    """A container that puts the parts of a tab side by side."""
