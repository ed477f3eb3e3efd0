"""A dialog for one or two lines of text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.screen import ModalScreen

from tuibench.core.text import width_of
from tuibench.tui.key import bindings
from tuibench.tui.widgets.field import LABEL, FieldColumn, TextField
from tuibench.tui.widgets.painted import QuietScreen
from tuibench.tui.widgets.row import safe
from tuibench.tui.widgets.title_line import RuleLine, TitleLine

Answers = tuple[str, ...]


class TextQuestion(QuietScreen, ModalScreen[Answers | None]):
    """Fields at the bottom of the screen; the result is their texts, None for escape."""

    DEFAULT_CSS = """
    TextQuestion { background: transparent; align: center bottom; }
    TextQuestion FieldColumn { height: auto; max-height: 70%; }
    """
    AUTO_FOCUS = "Input"
    BINDINGS: ClassVar[list[BindingType]] = bindings(only=("back",))

    def __init__(
        self,
        title: str,
        fields: Sequence[tuple[str, str]],
        *,
        check: Callable[[Answers], str] | None = None,
        hint: str = "",
    ) -> None:
        """`fields` are labels with initial texts; `check` returns an error in the first answer, or ''."""
        super().__init__()
        self._heading = title
        self._fields = tuple(fields)
        self._check = check
        self._hint = hint

    def compose(self) -> ComposeResult:
        """Yield a title and the fields."""
        yield RuleLine()
        # Enter means the same as in a form, so that a note typed after the name does not go to the list below.
        enter = "enter next, then done" if len(self._fields) > 1 else "enter done"
        keys = f"{safe(self._hint)}  {enter}  esc back ".lstrip()
        yield TitleLine((self._heading, "title"), (keys, "dim"))
        labels = max(LABEL, *(width_of(label) + 2 for label, _ in self._fields))
        with FieldColumn():
            for n, (label, value) in enumerate(self._fields):
                yield TextField(str(n), label, value, width=0, label_width=labels)

    def on_field_column_finished(self, message: FieldColumn.Finished) -> None:
        """Close with the answers, or show the error in them."""
        message.stop()
        answers = tuple(str(field.answer) for field in message.column.fields.values())
        wrong = self._check(answers) if self._check is not None else ""
        if wrong:
            message.column.show_errors({"0": wrong})
            message.column.focus_field("0")
        else:
            self.dismiss(answers)

    def action_back(self) -> None:
        """Close without an answer."""
        self.dismiss(None)
