"""The trash page: removals that can be restored; the only page that deletes permanently."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import ClassVar

from textual.binding import BindingType
from textual.widget import Widget

from tuibench.core.stored import TrashEntry
from tuibench.core.units import count_of, size
from tuibench.present.listing import TRASH_COLUMNS
from tuibench.present.outcome import emptied_words, restored_words
from tuibench.tui import key
from tuibench.tui.screens.base import Page
from tuibench.tui.widgets.field import TextQuestion
from tuibench.tui.widgets.record_table import RecordTable, line_of
from tuibench.tui.widgets.title_line import RuleLine

_HINTS = ("open", "undo", "empty-trash", "back", "help")
_EMPTY_HINTS = ("back", "palette", "help")
_WORD = "empty"
_EMPTY = ("The trash is empty.", "", "esc   back")


class TrashScreen(Page):
    """One line per removal; a removal is restored as a whole."""

    BINDINGS: ClassVar[list[BindingType]] = [*key.bindings(only=("empty-trash", "trash"))]
    hints: tuple[str, ...] = _HINTS
    words: ClassVar[Mapping[str, str]] = {**key.ONE_WORD, "open": "restore", "undo": "restore last"}
    about = (
        "All removals, the latest first. Enter restores a removal as a whole, u the latest. E deletes all of them "
        "permanently, after you type a word. Runs that were never saved are not kept here."
    )

    def __init__(self) -> None:
        super().__init__()
        self._entries: dict[str, TrashEntry] = {}

    def body(self) -> Iterable[Widget]:
        """Yield the list."""
        yield RuleLine()
        yield RecordTable(TRASH_COLUMNS, empty=_EMPTY, id="removed", classes="body")

    def title_parts(self) -> tuple[str, ...]:
        """Return the title with the trash's size on disk."""
        total = size(sum(entry.size_bytes for entry in self._entries.values()))
        return ("tuibench", f"Trash ({len(self._entries)}, {total})" if self._entries else "Trash")

    def load(self) -> None:
        """Read the removals."""
        self.request(lambda: self.services.library.trash(), self._show, group="trash")

    def _show(self, entries: tuple[TrashEntry, ...]) -> None:
        self._entries = {entry.id: entry for entry in entries}
        now = self.dashboard.now
        table = self.query_one("#removed", RecordTable)
        table.show_rows(
            TRASH_COLUMNS,
            list(self._entries),
            lambda one: line_of(TRASH_COLUMNS, one, (self._entries[one], "", now())),
        )
        self.show_title()
        hints = _HINTS if entries else _EMPTY_HINTS
        if hints != self.hints:
            self.hints = hints
            self.show_keys()

    def on_record_table_opened(self, message: RecordTable.Opened) -> None:
        """Restore the removal under the cursor."""
        message.stop()
        one = message.key
        self.submit(
            self.dashboard.removals.in_turn(lambda: self.services.library.restore(one)),
            lambda entry: self._tell(restored_words(entry)),
        )

    def _tell(self, words: str) -> None:
        self.say(words)
        self.dashboard.poll()
        self.load()

    def action_trash(self) -> None:
        """Go back: the key that opened the page also closes it."""
        self.action_back()

    def action_empty_trash(self) -> None:
        """Delete everything in the trash permanently, after a typed confirmation."""
        if not self._entries:
            self.say("the trash is empty")
            return
        # Delete only the listed entries: another session may remove more meanwhile.
        asked = tuple(self._entries)

        def empty(answers: tuple[str, ...] | None) -> None:
            if answers is not None:
                work = self.dashboard.removals.in_turn(lambda: self.services.library.empty_trash(asked))
                self.submit(work, lambda emptied: self._tell(emptied_words(*emptied)))

        about = f"{count_of(len(asked), 'removal')} will be deleted permanently: type {_WORD}"
        self.app.push_screen(TextQuestion(about, (("", ""),), check=lambda answers: _refuse(answers[0])), empty)


def _refuse(text: str) -> str:
    return "" if text == _WORD else f"{_WORD} deletes them, esc cancels"
