"""A form field for one line of text."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.widgets import Input

from tuibench.tui.widgets.field import LABEL, Field
from tuibench.tui.widgets.row import Row, safe


class SafeInput(Input):
    """Textual's Input with control characters made visible; Textual sends pasted or stored ones to the terminal."""

    def validate_value(self, value: str) -> str:
        """Make control characters visible."""
        return safe(value)


class TextField(Field):
    """A text between brackets, selected on focus, so that typing replaces it."""

    DEFAULT_CSS = """
    TextField { layout: horizontal; overflow: hidden; }
    TextField Input, TextField Input:focus {
        height: 1; border: none; padding: 0; background: transparent;
    }
    """

    def __init__(
        self,
        key: str,
        label: str,
        value: str = "",
        *,
        hint: str = "",
        placeholder: str = "",
        width: int = 24,
        label_width: int = LABEL,
        id: str | None = None,  # noqa: A002 - Textual's name
        classes: str | None = None,
    ) -> None:
        """Create a field; `width` 0 uses the rest of the line."""
        super().__init__(key, label, hint=hint, label_width=label_width, id=id, classes=classes)
        self._columns = width
        self.input = SafeInput(placeholder=safe(placeholder), compact=True, select_on_focus=True)
        self._given = value
        self.input.cursor_blink = False
        self.input.auto_links = False
        self.input.styles.margin = (0, 0, 0, label_width + 1)

    def compose(self) -> ComposeResult:
        """Yield the input; everything around it is painted."""
        # Set only now: setting the value needs the app.
        self.input.value = self._given
        yield self.input

    @property
    def answer(self) -> str:
        """The text without surrounding blanks; an unchanged value is returned exactly as given."""
        untouched = not self.is_mounted or self.input.value == safe(self._given)
        return self._given if untouched else self.input.value.strip()

    def put(self, text: str) -> None:
        """Replace the text and put the cursor behind it."""
        self._given = text
        if self.is_mounted:
            self.input.value = text
            self.input.cursor_position = len(self.input.value)

    def _room(self) -> int:
        left = self.size.width - self.label_width - 2
        return max(min(self._columns or left, left), 1)

    def on_resize(self) -> None:
        """Fit the input into the line."""
        self.input.styles.width = self._room()
        self.repaint()

    def control_row(self) -> Row:
        """Return the brackets around the text."""
        return (("[", "dim"), (" " * self._room(), ""), ("]", "dim"))

    def on_input_changed(self, event: Input.Changed) -> None:
        """Post the field's own message instead."""
        event.stop()
        self.changed()
