"""A form's fields in a column, with keys that move between them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from textual import events
from textual.binding import BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Input

from tuibench.tui.key import bindings
from tuibench.tui.widgets.field import Field


class FieldColumn(VerticalScroll, can_focus=False):
    """A column of fields: enter and down focus the next, up the previous; the focused one is scrolled into view."""

    DEFAULT_CSS = """
    FieldColumn { height: 1fr; scrollbar-size-vertical: 1; }
    """
    BINDINGS: ClassVar[list[BindingType]] = bindings(only=("next-field", "previous-field"))

    class Finished(Message):
        """Enter was pressed in the last field."""

        def __init__(self, column: FieldColumn) -> None:
            super().__init__()
            self.column = column

        @property
        def control(self) -> FieldColumn:
            """The column, for `@on` with a selector."""
            return self.column

    @property
    def fields(self) -> dict[str, Field]:
        """All fields by key, from top to bottom."""
        return {field.key: field for field in self.query(Field)}

    def show_errors(self, errors: Mapping[str, str]) -> None:
        """Show all errors at once, each beside its field; clear those of the other fields."""
        for key, field in self.fields.items():
            field.show_error(errors.get(key, ""))

    def focus_field(self, key: str) -> bool:
        """Focus a field; return False if no field has that key."""
        field = self.fields.get(key)
        stops = [stop for stop in self._stops() if field is not None and field in stop.ancestors_with_self]
        if stops:
            self.screen.set_focus(stops[0])
        return bool(stops)

    def _stops(self) -> list[Widget]:
        shown = [widget for widget in self.query("*") if widget.focusable]
        # Textual also counts hidden widgets as focusable.
        return [widget for widget in shown if all(each.display for each in widget.ancestors_with_self)]

    def _step(self, by: int) -> bool:
        stops, focused = self._stops(), self.screen.focused
        at = stops.index(focused) + by if focused in stops else 0
        if not 0 <= at < len(stops):
            return False
        # Set the focus at once: over a slow line, keys typed ahead belong to the next field.
        self.screen.set_focus(stops[at])
        return True

    def on_resize(self) -> None:
        """Keep the focused widget in view."""
        focused = self.screen.focused
        if focused is not None and self in focused.ancestors:
            self.call_after_refresh(focused.scroll_visible, animate=False)

    def action_next_field(self) -> None:
        """Focus the next field."""
        self._step(1)

    def action_previous_field(self) -> None:
        """Focus the previous field."""
        self._step(-1)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Handle enter in a text field; Textual's Input does not pass the key on."""
        event.stop()
        if not self._step(1):
            self.post_message(self.Finished(self))


class FieldPair(Horizontal):
    """Two fields in one line, or in two lines if the width is small."""

    DEFAULT_CSS = """
    FieldPair { height: auto; }
    FieldPair.-stacked { layout: vertical; }
    """
    NARROW = 60

    def on_resize(self, event: events.Resize) -> None:
        """Stack the fields below NARROW columns."""
        self.set_class(event.size.width < self.NARROW, "-stacked")
