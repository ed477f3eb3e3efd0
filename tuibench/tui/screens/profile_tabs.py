"""The tabs of a profile, each created when first shown."""

from __future__ import annotations

from collections.abc import Callable

from textual.widget import Widget
from textual.widgets import ContentSwitcher

from tuibench.core.card import StoredBenchmark
from tuibench.tui.glyph import Glyphs
from tuibench.tui.screens.detail_fact import FactBlock
from tuibench.tui.screens.detail_text import INDENT, environment_facts, log_facts
from tuibench.tui.screens.profile_book import Book
from tuibench.tui.screens.profile_depth import DepthPane
from tuibench.tui.screens.profile_layers import LayersPane
from tuibench.tui.screens.profile_pane import ProfilePane
from tuibench.tui.screens.profile_summary import SummaryPane
from tuibench.tui.widgets.calm import Bare

TABS = ("summary", "layers", "depth", "environment", "log")
NAMES = ("Summary", "Layers", "Depth", "Env", "Log")
OF_THEORY = 3
"""Number of tabs that need no record."""


class ProfileTabs(Bare, ContentSwitcher):
    """Shows one tab and focuses its movable widget."""

    def __init__(self) -> None:
        super().__init__(id="panes")

    async def show_tab(self, name: str, book: Book, stored: StoredBenchmark | None, glyphs: Glyphs, now: float) -> None:
        """Show a tab; keep it hidden until complete, so that a slow terminal never shows an empty page."""
        pane: Widget | None = next(iter(self.query(f"#{name}")), None)
        if pane is None:
            pane = self._make(name, book, stored, glyphs, now)
            pane.display = False
            await self.mount(pane)
        elif isinstance(pane, ProfilePane):
            pane.take_up()
        self.current = name
        if isinstance(pane, ProfilePane):
            pane.focus_first()
        else:
            self.screen.set_focus(pane)

    def _make(self, name: str, book: Book, stored: StoredBenchmark | None, glyphs: Glyphs, now: float) -> Widget:
        makers: dict[str, Callable[[], Widget]] = {
            "summary": lambda: SummaryPane(book, id=name),
            "layers": lambda: LayersPane(book, id=name),
            "depth": lambda: DepthPane(book, id=name),
        }
        if stored is not None:
            makers["environment"] = lambda: FactBlock(environment_facts(stored.result, glyphs), INDENT, id=name)
            makers["log"] = lambda: FactBlock(log_facts(stored, now), INDENT, id=name)
        return makers[name]()
