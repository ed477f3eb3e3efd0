"""What the tabs of a benchmark share: they get the record once, and redraw where something was chosen."""

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
        """The app, by its own type."""
        return cast("Dashboard", self.app)

    def shown_key(self, name: str) -> str:
        """A key as the user has bound it."""
        app = self.dashboard
        return key.shown(name, app.keymap, app.ascii_only)

    @property
    def around(self) -> str:
        """The two keys to the values before and after, as short as they can be told apart."""
        keys = self.shown_key("previous-value"), self.shown_key("next-value")
        return ("" if max(map(len, keys)) == 1 else " ").join(keys)

    @property
    def choices(self) -> dict[str, Any]:
        """What was chosen on any tab of this page."""
        return cast("Page", self.screen).choices

    def focus_first(self) -> None:
        """Give the focus to what moves."""
        first = next((widget for widget in self.query("*") if widget.focusable), None)
        self.screen.set_focus(first)


class Beside(Bare, Horizontal):
    """Parts of a tab beside each other."""
