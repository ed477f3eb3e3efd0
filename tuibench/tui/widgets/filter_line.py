"""Input line for a list's filter, visible only while it is used."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Input

from tuibench.tui.widgets.field import Field
from tuibench.tui.widgets.text_field import TextField


class FilterLine(Widget):
    """A filter line opened by `open_with`: enter and down keep the filter and return the focus, escape clears it."""

    DEFAULT_CSS = """
    FilterLine { height: 1; display: none; }
    FilterLine.-open { display: block; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "clear", show=False),
        Binding("down", "keep", show=False),
    ]

    class Typed(Message):
        """The filter text changed."""

        def __init__(self, line: FilterLine, text: str) -> None:
            super().__init__()
            self.line = line
            self.text = text

        @property
        def control(self) -> FilterLine:
            """The line, for `@on` with a selector."""
            return self.line

        def can_replace(self, message: Message) -> bool:
            """Replace an unhandled older message: only the latest text counts."""
            return isinstance(message, FilterLine.Typed) and message.line is self.line

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id, classes=classes)
        self._back: Widget | None = None

    def compose(self) -> ComposeResult:
        """Yield the text field."""
        yield TextField("filter", "filter", width=0, label_width=8)

    @property
    def _field(self) -> TextField:
        return self.query_one(TextField)

    def open_with(self, text: str) -> None:
        """Open with `text` in the field and the cursor behind it."""
        if not self.has_class("-open"):
            self._back = self.screen.focused
        self.add_class("-open")
        self._field.put(text)
        self._field.input.select_on_focus = False
        self._field.input.focus()

    def _close(self) -> None:
        if not self.has_class("-open"):
            return
        self.remove_class("-open")
        back, self._back = self._back, None
        self.screen.set_focus(back if back is not None and back.is_attached else None)

    def on_field_changed(self, message: Field.Changed) -> None:
        """Apply the filter while the user types."""
        message.stop()
        if self.has_class("-open"):
            self.post_message(self.Typed(self, self._field.answer))

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Close and keep the filter."""
        event.stop()
        self._close()

    def action_keep(self) -> None:
        """Close, keep the filter and focus the list."""
        self._close()

    def action_clear(self) -> None:
        """Clear the filter and close."""
        self._field.put("")
        self.post_message(self.Typed(self, ""))
        self._close()
