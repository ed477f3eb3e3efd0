"""Actions on the page of a single record: no marks, and the page closes when its record is removed."""

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
    """Mixin for the pages of a benchmark and of a profile."""

    # Set by the page; None if the record could not be read.
    stored: StoredBenchmark | None

    def with_stored(self, then: Callable[[str], object]) -> None:
        """Call `then` with the record; an unreadable one can only be removed."""
        if self.stored is None:
            self.say("there is no record here that this key could use", "warn")
        else:
            super().with_stored(then)

    def without_record(self, error: TuibenchError) -> tuple[list[Fact], tuple[str, ...]]:
        """Return the error with possible actions, and their keys."""
        facts = [Fact(f" {self.dashboard.glyphs.differs}", error.message, "bad", "bad"), Fact(" ", error.hint)]
        if isinstance(error, UnknownId):
            undo = "u brings back what was removed last; the trash has the rest"
            return [*facts, Fact(" ", undo)], ("undo", "trash", "back")
        remove = "d moves it to the trash, from where u brings it back; others are not touched"
        return [*facts, Fact(" ", ""), Fact(" ", remove)], ("remove", "back")

    def _show_past(self, one: str, base: str | None) -> None:
        """Show the comparison; this page has no marks to compare instead."""
        if base:
            super()._show_past(one, base)
        else:
            self.say(f"{short_id(one)} is no re-run: in the list, space marks two and c compares them", "warn")

    def _show_removed(self, removed: Removed) -> None:
        """Leave the page of a removed record."""
        if removed.entry is None:
            super()._show_removed(removed)
            return
        self.dashboard.look()
        leave_with(self, f"{removed.words}; u brings it back")


def leave_with(page: Page, words: str) -> None:
    """Go back from the page of a removed record, once no other screen covers it."""
    app = page.dashboard

    def leave() -> None:
        app.go_back()
        app.page.say(words)

    if app.screen is not page:
        app.page.say(words)
    page.when_shown(leave)
