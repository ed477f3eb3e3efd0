"""Dialog that asks for the file of an export."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, cast

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.screen import ModalScreen

from tuibench.core.formats import contents
from tuibench.core.ids import short_id
from tuibench.core.text import cut_middle, show
from tuibench.tui.key import bindings
from tuibench.tui.screens.base import Page
from tuibench.tui.widgets.choice_field import Choice, ChoiceField
from tuibench.tui.widgets.field import FieldColumn, TextField
from tuibench.tui.widgets.painted import QuietScreen
from tuibench.tui.widgets.status_line import confirm
from tuibench.tui.widgets.text_block import TextBlock
from tuibench.tui.widgets.title_line import RuleLine, TitleLine

if TYPE_CHECKING:
    from tuibench.tui.app import Dashboard

_PATH = 30
"""Width of a path in a question."""
_PRIVATE = " Paths and names of this machine and its users are left out by default."


@dataclass(frozen=True, slots=True)
class Export:
    """The user's answer."""

    benchmark: str
    path: str
    private: bool
    replaces: bool
    """True if a file with that name exists."""


class ExportQuestion(QuietScreen, ModalScreen[Export | None]):
    """Fields at the bottom of the screen: a path, and a choice if there is private data."""

    DEFAULT_CSS = """
    ExportQuestion { background: transparent; align: center bottom; }
    ExportQuestion FieldColumn { height: auto; max-height: 70%; }
    ExportQuestion TextBlock { height: auto; }
    """
    AUTO_FOCUS = "Input"
    BINDINGS: ClassVar[list[BindingType]] = bindings(only=("back",))

    def __init__(self, benchmark: str, *, name: str = "", beside: str = "", has_private: bool = True) -> None:
        """Create the dialog; `name` replaces the id of a stored record, and without private data no choice is shown.

        `beside` is a note after the name, about data that the export does not contain.
        """
        super().__init__()
        self._benchmark = benchmark
        self._what = name or short_id(benchmark)
        self._beside = beside
        self._has_private = has_private

    def compose(self) -> ComposeResult:
        """Yield the title, the formats and the fields; the path is last, as enter there closes the dialog."""
        asks = self._has_private
        yield RuleLine()
        keys = f"{'up: private data  ' if asks else ''}enter write  esc cancel "
        yield TitleLine((f"Export {self._what}{self._beside}", "title"), (keys, "dim"))
        lines = [f" {contents(of_profile=not asks)}"] + [_PRIVATE] * asks
        yield TextBlock([(line, "dim") for line in lines])
        with FieldColumn():
            if asks:
                choices = (Choice("no", "numbers and settings"), Choice("yes", "with private paths"))
                yield ChoiceField("private", "include", choices, "no")
            yield TextField("path", "file", f"{self._what.lower()}.json", width=0)

    def on_field_column_finished(self, message: FieldColumn.Finished) -> None:
        """Check the path in a thread."""
        message.stop()
        fields = message.column.fields
        typed = str(fields["path"].answer).strip()
        private = self._has_private and fields["private"].answer == "yes"

        def look() -> tuple[str, Export]:
            path = os.path.expanduser(typed)
            return _refuse(path), Export(self._benchmark, path, private, os.path.lexists(path))

        # In a thread, because a directory on a remote file system may block.
        cast("Dashboard", self.app).page.request(look, self._looked, group="export-path")

    def _looked(self, found: tuple[str, Export]) -> None:
        wrong, export = found
        if not self.is_current:
            return  # the user left meanwhile
        if wrong:
            self.query_one(FieldColumn).show_errors({"path": wrong})
        else:
            self.dismiss(export)

    def action_back(self) -> None:
        """Close without an export."""
        self.dismiss(None)


def carry_out(page: Page, export: Export | None, *, write: Callable[[Export], str]) -> None:
    """Call `write` in a thread and show its result; ask before overwriting a file."""

    def begin() -> None:
        if export is not None:
            page.submit(lambda: write(export), page.say)

    if export is not None and export.replaces:
        # Keep the question short enough to fit beside its keys at 80 columns, however long the path is.
        words = f"{cut_middle(show(export.path), _PATH)} exists"
        confirm(page, words, "overwrite", begin)
    else:
        begin()


def _refuse(path: str) -> str:
    """Return the error in a path with the allowed values; '' for none."""
    if not path:
        return "a file name is needed, such as result.json"
    if os.path.isdir(path):
        return f"{show(path, 60)} is a directory: add a file name"
    parent = os.path.dirname(path) or "."
    return "" if os.path.isdir(parent) else f"there is no directory {show(parent, 60)}"
