"""Asks where to an export is written, and whether it may tell what belongs to this machine alone."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, cast

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.screen import ModalScreen

from tuibench.core.short_id import short_id
from tuibench.core.text import show
from tuibench.tui.key import bindings
from tuibench.tui.widgets.calm import Calm
from tuibench.tui.widgets.choice_field import Choice, ChoiceField
from tuibench.tui.widgets.field_column import FieldColumn
from tuibench.tui.widgets.text_block import TextBlock
from tuibench.tui.widgets.text_field import TextField
from tuibench.tui.widgets.title_line import RuleLine, TitleLine

if TYPE_CHECKING:
    from tuibench.tui.app import Dashboard

_TOLD = (
    " .csv has a line per cell, .md is a page with figures, any other is JSON.",
    " Paths, names of this machine and its users are left out unless you ask.",
)


@dataclass(frozen=True, slots=True)
class Export:
    """What was answered."""

    benchmark: str
    path: str
    private: bool
    replaces: bool
    """Whether a file of that name is there."""


class ExportQuestion(Calm, ModalScreen[Export | None]):
    """A path and a choice at the bottom of the screen."""

    DEFAULT_CSS = """
    ExportQuestion { background: transparent; align: center bottom; }
    ExportQuestion FieldColumn { height: auto; max-height: 70%; }
    ExportQuestion TextBlock { height: 2; }
    """
    AUTO_FOCUS = "Input"
    BINDINGS: ClassVar[list[BindingType]] = bindings(only=("back",))

    def __init__(self, benchmark: str) -> None:
        super().__init__()
        self._benchmark = benchmark

    def compose(self) -> ComposeResult:
        """What is written, then the fields; the path comes last, as enter there ends it."""
        name = short_id(self._benchmark)
        yield RuleLine()
        yield TitleLine((f"Export {name}", "title"), ("up: private or not  enter write  esc back ", "dim"))
        yield TextBlock([(line, "dim") for line in _TOLD])
        with FieldColumn():
            yield ChoiceField(
                "private", "include", (Choice("no", "numbers and settings"), Choice("yes", "private paths, too")), "no"
            )
            yield TextField("path", "file", f"{name}.json", width=0)

    def on_field_column_finished(self, message: FieldColumn.Finished) -> None:
        """The answers, or what is wrong with the path."""
        message.stop()
        fields = message.column.fields
        typed, private = str(fields["path"].answer).strip(), fields["private"].answer == "yes"

        def look() -> tuple[str, Export]:
            path = os.path.expanduser(typed)
            return _refuse(path), Export(self._benchmark, path, private, os.path.lexists(path))

        # Not here: a directory of elsewhere may let one wait.
        cast("Dashboard", self.app).page.ask(look, self._looked, group="export-path")

    def _looked(self, found: tuple[str, Export]) -> None:
        wrong, export = found
        if not self.is_current:
            return  # its user left meanwhile
        if wrong:
            self.query_one(FieldColumn).show_errors({"path": wrong})
        else:
            self.dismiss(export)

    def action_back(self) -> None:
        """Write nothing."""
        self.dismiss(None)


def _refuse(path: str) -> str:
    """What is wrong with a path, and what is allowed; '' for nothing."""
    if not path:
        return "a file name is needed, such as result.json"
    if os.path.isdir(path):
        return f"{show(path, 60)} is a directory: add a file name"
    parent = os.path.dirname(path) or "."
    return "" if os.path.isdir(parent) else f"there is no directory {show(parent, 60)}"
