"""The tabs of a benchmark: their names, the reasons why one is empty, and their creation when first shown."""

from __future__ import annotations

from collections.abc import Callable

from textual.widget import Widget
from textual.widgets import ContentSwitcher

from tuibench.core.card import StoredBenchmark
from tuibench.plots.scaling import axes_of
from tuibench.tui.glyph import Glyphs
from tuibench.tui.screens.detail_baseline import BaselinePane
from tuibench.tui.screens.detail_comparison import ComparisonPane, Past
from tuibench.tui.screens.detail_fact import FactBlock
from tuibench.tui.screens.detail_key import AXES
from tuibench.tui.screens.detail_pane import DetailPane
from tuibench.tui.screens.detail_scaling import ScalingPane
from tuibench.tui.screens.detail_text import INDENT, environment_facts, log_facts
from tuibench.tui.widgets.calm import Bare

TABS = ("baseline", "cores", "batches", "shapes", "comparison", "environment", "log")
NAMES = ("Base", "Cores", "Batch", "Shape", "Compare", "Env", "Log")
_WHY = {
    "cores": "only one number of cores was measured: R with more of them shows how they scale",
    "batches": "only one batch was measured: R with several shows how they scale",
    "shapes": "no shape has several values: R with several of them shows how they scale",
    "comparison": "one side alone was measured, and it is no re-run: R with another engine compares two",
}


def refusals(stored: StoredBenchmark | None) -> dict[str, str]:
    """Map each tab to the reason why it is empty; '' if it is not."""
    if stored is None:
        return dict.fromkeys(TABS, "it is not read yet")
    axes = axes_of(stored.result)
    found = {name: _WHY[name] if name in AXES and AXES[name] not in axes else "" for name in TABS}
    if not stored.result.comparisons and not stored.metadata.partner:
        found["comparison"] = _WHY["comparison"]
    return found


class DetailTabs(Bare, ContentSwitcher):
    """Shows one tab and focuses its first focusable widget."""

    def __init__(self, cell: str = "") -> None:
        """Create the switcher; `cell` is the key of the cell that the first tab starts with."""
        super().__init__(id="panes")
        self._cell = cell
        self.past: Past | None = None
        """The earlier benchmark for the comparison tab, if it compares with one."""

    async def show_tab(self, name: str, stored: StoredBenchmark, glyphs: Glyphs, now: float) -> None:
        """Show a tab; hide it until it is complete, so that a slow line gets no empty page first."""
        pane: Widget | None = next(iter(self.query(f"#{name}")), None)
        if pane is None:
            pane = self._make(name, stored, glyphs, now)
            pane.display = False
            await self.mount(pane)
        elif isinstance(pane, ScalingPane):
            pane.take_up()
        self.current = name
        if isinstance(pane, DetailPane):
            pane.focus_first()
        else:
            self.screen.set_focus(pane)

    def _make(self, name: str, stored: StoredBenchmark, glyphs: Glyphs, now: float) -> Widget:
        makers: dict[str, Callable[[], Widget]] = {
            "baseline": lambda: BaselinePane(stored, id=name, cell=self._cell),
            "comparison": lambda: ComparisonPane(stored, self.past, id=name),
            "environment": lambda: FactBlock(environment_facts(stored.result, glyphs), INDENT, id=name),
            "log": lambda: FactBlock(log_facts(stored, now), INDENT, id=name),
        }
        return makers[name]() if name in makers else ScalingPane(stored, AXES[name], id=name)
