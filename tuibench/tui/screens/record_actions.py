"""Keys of a page that shows one record alone: there is nothing to mark on it, and it goes with its record."""

from __future__ import annotations

from collections.abc import Callable

from tuibench.core.card import StoredBenchmark
from tuibench.core.errors import TuibenchError, UnknownId
from tuibench.core.short_id import short_id
from tuibench.tui.desk import Removed
from tuibench.tui.screens.base import Page
from tuibench.tui.screens.benchmark_actions import BenchmarkActions
from tuibench.tui.screens.detail_fact import Fact


class RecordActions(BenchmarkActions):
    """To be mixed into the pages of a benchmark and of a profile."""

    # The page's own, None where it could not be read.
    stored: StoredBenchmark | None

    def with_stored(self, then: Callable[[str], object]) -> None:
        """What could not be read can only be removed."""
        if self.stored is None:
            self.say("there is no record here that this key could use", "warn")
        else:
            super().with_stored(then)

    def without_record(self, error: TuibenchError) -> tuple[list[Fact], tuple[str, ...]]:
        """Why there is nothing to show and what can be done, and the keys of that."""
        facts = [Fact(f" {self.dashboard.glyphs.differs}", error.message, "bad", "bad"), Fact(" ", error.hint)]
        if isinstance(error, UnknownId):
            undo = "u brings back what was removed last; the trash has the rest"
            return [*facts, Fact(" ", undo)], ("undo", "trash", "back")
        remove = "d moves it to the trash, from where u brings it back; others are not touched"
        return [*facts, Fact(" ", ""), Fact(" ", remove)], ("remove", "back")

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
        leave_with(self, f"{removed.words}; u brings it back")


def leave_with(page: Page, words: str) -> None:
    """Back from the page of what is gone, once nothing that its user opened meanwhile stands over it."""
    app = page.dashboard

    def leave() -> None:
        app.go_back()
        app.page.say(words)

    if app.screen is not page:
        app.page.say(words)
    page.when_shown(leave)
