"""Base class of form fields: one line per field, its error below."""

from __future__ import annotations

from typing import Any, ClassVar

from rich.cells import cell_len
from textual.geometry import Size
from textual.message import Message

from tuibench.tui.widgets.painted import Painted
from tuibench.tui.widgets.row import Row, Span, cut_middle, fit, safe, wrapped

LABEL = 12
"""Columns for the focus sign and the label."""


class Field(Painted):
    """Label, control and hint in one line, with the error in lines below; subclasses provide the control."""

    is_labelled: ClassVar[bool] = True
    """True if the label is painted before the control."""
    DEFAULT_CSS = "Field { height: auto; width: 1fr; }"

    class Changed(Message):
        """The user changed the value of a field."""

        def __init__(self, field: Field) -> None:
            super().__init__()
            self.field = field

        @property
        def control(self) -> Field:
            """The field, for `@on` with a selector."""
            return self.field

    def __init__(
        self,
        key: str,
        label: str,
        *,
        hint: str = "",
        label_width: int = LABEL,
        id: str | None = None,  # noqa: A002 - Textual's name
        classes: str | None = None,
    ) -> None:
        """Create a field; `key` is its name within the screen."""
        super().__init__(id=id, classes=classes)
        self.key = key
        self.label = label
        self.label_width = label_width
        self._hint = safe(hint)
        self._error = ""

    @property
    def answer(self) -> Any:
        """The user's value; its type depends on the subclass."""
        raise NotImplementedError

    def control_row(self) -> Row:
        """Return the spans between label and hint."""
        raise NotImplementedError

    @property
    def error(self) -> str:
        """The error text; '' for none."""
        return self._error

    def show_error(self, text: str) -> None:
        """Show an error with the allowed values; '' clears it."""
        before = self._error_rows(self.size.width)
        self._error = safe(text)
        if len(self._error_rows(self.size.width)) != len(before):
            self.refresh(layout=True)
        self.repaint()

    def show_hint(self, text: str) -> None:
        """Show the allowed values, or a value computed from the input."""
        self._hint = safe(text)
        self.repaint()

    def row(self, y: int) -> Row:
        """Return the field's line for 0, else a line of its error."""
        if y == 0:
            return (*self._label_row(), *self.control_row(), self.hint_span())
        errors = self._error_rows(self.size.width)
        return errors[y - 1] if y <= len(errors) else ()

    def hint_span(self) -> Span:
        """Return the hint, preceded by the full label if the label was cut."""
        label = self.legible(safe(self.label))
        cut = label.strip() if cell_len(label) > self.label_width - 2 and self.is_labelled else ""
        text = ": ".join(filter(None, (cut, self._hint)))
        return (f"  {text}" if text else "", "dim")

    def _label_row(self) -> Row:
        here = self.has_focus_within or self.has_focus
        sign = self.glyphs.cursor if here else " "
        room = self.label_width - 2
        # Names of a model's dims differ at their ends.
        text = fit(cut_middle(self.legible(safe(self.label)), room, self.glyphs.ellipsis), room)
        return ((f"{sign}{text} ", "title" if here else ""),)

    def _error_rows(self, width: int) -> list[Row]:
        if not self._error:
            return []
        room = max(width - self.label_width, 1)
        rows = wrapped(((f"! {self.legible(self._error)}", "bad"),), room)
        return [((" " * self.label_width, ""), *row) for row in rows]

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """Return one line plus those of the error."""
        return 1 + len(self._error_rows(width))

    def on_descendant_focus(self) -> None:
        """Repaint the label, which shows the focus."""
        self.repaint()

    def on_descendant_blur(self) -> None:
        """Repaint the label, which shows the focus."""
        self.repaint()

    def changed(self) -> None:
        """Post Changed."""
        self.post_message(self.Changed(self))
