"""Actions on the page of one stored record."""

from __future__ import annotations

from collections.abc import Callable

from tuibench.core.errors import TuibenchError, UnknownId
from tuibench.core.ids import short_id
from tuibench.core.stored import Removal, StoredBenchmark
from tuibench.present.ages import ago_words
from tuibench.present.error.words import hint_words, message_words
from tuibench.present.outcome import removal_words
from tuibench.tui.screens.base import Page
from tuibench.tui.screens.benchmark.actions import BenchmarkActions
from tuibench.tui.screens.detail.facts import Fact, FactBlock, log_facts

WIDE = 80
"""Columns from which a page has room beside its tabs, and for all common keys."""


class RecordActions(BenchmarkActions):
    """Mixin for the pages of a benchmark and of a profile."""

    # Set by the page; None if the record could not be read.
    stored: StoredBenchmark | None

    def with_stored(self, then: Callable[[str], object]) -> None:
        """Call `then` with the record; an unreadable one can only be removed."""
        if self.stored is None:
            self.say("no record is loaded", "warn")
        else:
            super().with_stored(then)

    def error_facts(self, error: TuibenchError) -> tuple[list[Fact], tuple[str, ...]]:
        """Return the error with possible actions, and their keys."""
        sign = f" {self.dashboard.glyphs.differs}"
        facts = [Fact(sign, message_words(error), "bad", "bad"), Fact(" ", hint_words(error))]
        if isinstance(error, UnknownId):
            undo = "u restores the last removal; f3 opens the trash"
            return [*facts, Fact(" ", undo)], ("undo", "trash", "back")
        remove = "d moves it to the trash, u restores it; other records are not affected"
        return [*facts, Fact(" ", ""), Fact(" ", remove)], ("remove", "back")

    def record_words(self) -> str:
        """Return an unusual end, the age and the grade, for the line of tabs; '' on narrow terminals."""
        stored = self.stored
        if stored is None or self.app.size.width < WIDE:
            return ""
        ended = stored.row.status if stored.row.kind and stored.row.status != "finished" else ""
        grade = f"grade {stored.row.grade}" if stored.row.grade else ""
        parts = (ended, ago_words(stored.row.started_utc, self.dashboard.now()), grade)
        return f" {self.dashboard.glyphs.dot} ".join(filter(None, parts))

    def update_log(self) -> None:
        """Update the ages in the log tab, if it was shown."""
        if self.stored is not None:
            for log in self.query("#log").results(FactBlock):
                log.update_facts(log_facts(self.stored, self.dashboard.now()))

    def _compare_with_original(self, one: str, base: str | None) -> None:
        """Show the comparison; this page has no marks to compare instead."""
        if base:
            super()._compare_with_original(one, base)
        else:
            self.say(f"{short_id(one)} is not a re-run: in the list, mark two with space, then press c", "warn")

    def _show_removed(self, removed: Removal) -> None:
        """Leave the page of a removed record."""
        if removed.entry is None:
            super()._show_removed(removed)
            return
        self.dashboard.poll()
        leave_with(self, f"{removal_words(removed)}; u restores it")


def leave_with(page: Page, words: str) -> None:
    """Go back from the page of a removed record, once no other screen covers it."""
    app = page.dashboard

    def leave() -> None:
        app.go_back()
        app.page.say(words)

    if app.screen is not page:
        app.page.say(words)
    page.when_shown(leave)
