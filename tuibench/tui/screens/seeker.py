"""Lists whose cursor goes to what `u` brought back."""

from __future__ import annotations

from tuibench.tui.screens.base import Page
from tuibench.tui.widgets.record_table import RecordTable


class Seeker(Page):
    """To be inherited by screens that list what can be removed: `load` takes along what is sought when it begins."""

    sought: frozenset[str] = frozenset()
    """What came back and was in no list that was shown since."""

    def seek(self, ids: frozenset[str]) -> None:
        """Read again, and put the cursor there."""
        self.sought = ids
        self.load()

    def stand_on(self, sought: frozenset[str]) -> None:
        """These were sought when what is shown now began to be read; where a list does not have them it never will."""
        # What was read before somebody sought has nothing to say of it: it may be older than the undo.
        if sought:
            self.sought -= sought
            for table in self.query(RecordTable):
                table.move_to_first(sought)
