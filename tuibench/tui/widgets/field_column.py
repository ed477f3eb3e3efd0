"""A form's fields below each other, with the keys that go from one to the next."""

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
    """Enter and down go to the next field, up to the one before; what is focused is scrolled into sight."""

    DEFAULT_CSS = """
    FieldColumn { height: 1fr; scrollbar-size-vertical: 1; }
    """
    BINDINGS: ClassVar[list[BindingType]] = bindings(only=("next-field", "previous-field"))

    class Finished(Message):
        """Enter in the last field."""

        def __init__(self, column: FieldColumn) -> None:
            super().__init__()
            self.column = column

        @property
        def control(self) -> FieldColumn:
            """The column, for `@on` with a selector."""
            return self.column

    @property
    def fields(self) -> dict[str, Field]:
        """All fields by their keys, from the first to the last."""
        return {field.key: field for field in self.query(Field)}

    def show_errors(self, errors: Mapping[str, str]) -> None:
        """Say all that is wrong at once, each beside its field; fields that are not named are right."""
        for key, field in self.fields.items():
            field.show_error(errors.get(key, ""))

    def focus_field(self, key: str) -> bool:
        """Go to a field; False where there is none of that key."""
        field = self.fields.get(key)
        stops = [stop for stop in self._stops() if field is not None and field in stop.ancestors_with_self]
        if stops:
            self.screen.set_focus(stops[0])
        return bool(stops)

    def _stops(self) -> list[Widget]:
        shown = [widget for widget in self.query("*") if widget.focusable]
        # Textual counts what is not displayed as focusable, too.
        return [widget for widget in shown if all(each.display for each in widget.ancestors_with_self)]

    def _step(self, by: int) -> bool:
        stops, focused = self._stops(), self.screen.focused
        at = stops.index(focused) + by if focused in stops else 0
        if not 0 <= at < len(stops):
            return False
        # At once: what is typed ahead over a slow line is meant for the next field.
        self.screen.set_focus(stops[at])
        return True

    def on_resize(self) -> None:
        """What has the focus stays in sight."""
        focused = self.screen.focused
        if focused is not None and self in focused.ancestors:
            self.call_after_refresh(focused.scroll_visible, animate=False)

    def action_next_field(self) -> None:
        """The next field."""
        self._step(1)

    def action_previous_field(self) -> None:
        """The field before."""
        self._step(-1)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Enter in a text, which Textual keeps to itself."""
        event.stop()
        if not self._step(1):
            self.post_message(self.Finished(self))


class FieldPair(Horizontal):
    """Two fields in one line, or below each other where that is narrow."""

    DEFAULT_CSS = """
    FieldPair { height: auto; }
    FieldPair.-stacked { layout: vertical; }
    """
    NARROW = 60

    def on_resize(self, event: events.Resize) -> None:
        """As the width allows."""
        self.set_class(event.size.width < self.NARROW, "-stacked")
