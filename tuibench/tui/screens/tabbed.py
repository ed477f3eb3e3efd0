"""Pages with tabs: the keys that switch them, the switcher, and the base class of a tab."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any, cast

from textual.containers import Vertical
from textual.widget import Widget
from textual.widgets import ContentSwitcher

from tuibench.tui.screens.base import Page
from tuibench.tui.widgets.painted import QuietContainer

if TYPE_CHECKING:
    from tuibench.tui.app import Dashboard

MOST_TABS = 9
"""Each tab has the key of its number."""


class TabbedPage(Page):
    """A page with tabs; a key with a number shows the tab of that number."""

    _tab = 0
    """Index of the shown tab."""

    @property
    def tabs(self) -> int:
        """Number of tabs."""
        return MOST_TABS

    def go_to_tab(self, tab: int) -> Awaitable[None] | None:
        """Show a tab by its index."""
        raise NotImplementedError

    def open_tabs(self) -> Sequence[int]:
        """Return the indexes of the tabs with content."""
        return range(self.tabs)

    def _step(self, by: int) -> Awaitable[None] | None:
        shown = self.open_tabs()
        return self.go_to_tab(shown[(shown.index(self._tab) + by) % len(shown)]) if self._tab in shown else None

    def action_tab_next(self) -> Awaitable[None] | None:
        """Show the next tab, wrapping around."""
        return self._step(1)

    def action_tab_previous(self) -> Awaitable[None] | None:
        """Show the previous tab, wrapping around."""
        return self._step(-1)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Disable the keys of missing tabs."""
        if action.startswith("tab_") and action[4:].isdigit():
            return int(action[4:]) <= self.tabs
        return super().check_action(action, parameters)


def _tab_action(tab: int) -> Callable[[TabbedPage], Awaitable[None] | None]:
    return lambda page: page.go_to_tab(tab)


for _tab in range(MOST_TABS):
    setattr(TabbedPage, f"action_tab_{_tab + 1}", _tab_action(_tab))


class Pane(QuietContainer, Vertical):
    """The content of one tab, made when it is first shown."""

    DEFAULT_CSS = "Pane { height: 1fr; width: 1fr; }"

    @property
    def page(self) -> Page:
        """The screen with its own type."""
        return cast("Page", self.screen)

    @property
    def dashboard(self) -> Dashboard:
        """The app with its own type."""
        return self.page.dashboard

    @property
    def choices(self) -> dict[str, Any]:
        """Choices that all tabs of this page share."""
        return self.page.choices

    def update_choices(self) -> None:
        """Show the latest choices, perhaps made on another tab."""

    def focus_first(self) -> None:
        """Focus the first focusable widget."""
        self.screen.set_focus(next((widget for widget in self.query("*") if widget.focusable), None))


class Panes(QuietContainer, ContentSwitcher):
    """Shows one tab and focuses its first focusable widget."""

    def __init__(self) -> None:
        super().__init__(id="panes")

    async def show_pane(self, name: str, make: Callable[[], Widget]) -> None:
        """Show a tab; keep it hidden until complete, so that a slow terminal never shows an empty page."""
        pane = next(iter(self.query(f"#{name}")), None)
        if pane is None:
            pane = make()
            pane.display = False
            await self.mount(pane)
        elif isinstance(pane, Pane):
            pane.update_choices()
        self.current = name
        if isinstance(pane, Pane):
            pane.focus_first()
        else:
            self.screen.set_focus(pane)
