"""Form fields: base class, text field, columns and pairs of fields, filter line; the question for a text."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.geometry import Size
from textual.message import Message
from textual.screen import ModalScreen
from textual.widget import Widget
from textual.widgets import Input

from tuibench.core.text import cut_middle, fit, width_of
from tuibench.present.plots.drawing import Row, Span, wrapped
from tuibench.tui.key import bindings
from tuibench.tui.widgets.painted import Painted, QuietScreen, safe
from tuibench.tui.widgets.title_line import RuleLine, TitleLine

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

    def __init__(
        self,
        key: str,
        label: str,
        *,
        hint: str = "",
        label_width: int = LABEL,
        **attributes: str | None,
    ) -> None:
        """Create a field; `key` is its name within the screen."""
        super().__init__(**attributes)
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
        cut = label.strip() if width_of(label) > self.label_width - 2 and self.is_labelled else ""
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
        placeholder: str = "",
        width: int = 24,
        label_width: int = LABEL,
        **attributes: Any,
    ) -> None:
        """Create a field; `width` 0 uses the rest of the line."""
        super().__init__(key, label, label_width=label_width, **attributes)
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
    def fields(self) -> dict[str, Field]:
        """All fields by key, from top to bottom."""
        return {field.key: field for field in self.query(Field)}

    def label_of(self, key: str) -> str:
        """Return the label of a field; the key itself if no field has it."""
        return self.fields[key].label if key in self.fields else key

    def show_errors(self, errors: Mapping[str, str]) -> None:
        """Show all errors at once, each beside its field; clear those of the other fields."""
        for key, field in self.fields.items():
            field.show_error(errors.get(key, ""))

    def focus_field(self, key: str) -> bool:
        """Focus a field; return False if no field has that key."""
        field = self.fields.get(key)
        stops = [stop for stop in self.stops() if field is not None and field in stop.ancestors_with_self]
        if stops:
            self.screen.set_focus(stops[0])
        return bool(stops)

    def stops(self) -> list[Widget]:
        """Return the focusable widgets from the first to the last, without hidden fields."""
        shown = [widget for widget in self.query("*") if widget.focusable]
        # Textual also counts hidden widgets as focusable.
        return [widget for widget in shown if all(each.display for each in widget.ancestors_with_self)]

    def _step(self, by: int) -> bool:
        stops, focused = self.stops(), self.screen.focused
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

        def can_replace(self, message: Message) -> bool:
            """Replace an unhandled older message: only the latest text counts."""
            return isinstance(message, FilterLine.Typed) and message.line is self.line

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
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
        wrong: str = "",
    ) -> None:
        """`fields` are labels with initial texts; `check` returns an error in the first answer, or ''.

        `wrong` is an error in the first text that is already known.
        """
        super().__init__()
        self._heading = title
        self._fields = tuple(fields)
        self._check = check
        self._hint = hint
        self._wrong = wrong

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

    def on_mount(self) -> None:
        """Show the known error."""
        if self._wrong:
            self.query_one(FieldColumn).show_errors({"0": self._wrong})

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
