"""Keys of a page that shows one record alone: there is nothing to mark on it, and it goes with its record."""

from __future__ import annotations

from tuibench.core.short_id import short_id
from tuibench.tui.desk import Removed
from tuibench.tui.screens.benchmark_actions import BenchmarkActions


class RecordActions(BenchmarkActions):
    """To be mixed into the pages of a benchmark and of a profile."""

    def _show_past(self, one: str, base: str | None) -> None:
        """There is nothing to mark on this page."""
        if base:
            super()._show_past(one, base)
        else:
            self.say(f"{short_id(one)} is no re-run: in the list, space marks two and c compares them", "warn")

    def _show_removed(self, removed: Removed) -> None:
        """What was removed here is not looked at any longer."""
        if removed.entry is None:
            super()._show_removed(removed)
            return
        self.dashboard.look()
        self.dashboard.go_back()
        self.dashboard.page.say(f"{removed.words}; u brings it back")
