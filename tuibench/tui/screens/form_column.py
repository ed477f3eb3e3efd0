"""The fields of the benchmark form: made from a plan, read back as values, one line each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, replace
from typing import Any

from textual.message import Message
from textual.widget import Widget

from tuibench.tui.desk import FormValues
from tuibench.tui.glyph import glyphs_of
from tuibench.tui.screens.form_plan import FieldSpec, RowPlan, TextSpec, effort_hint, further_settings
from tuibench.tui.widgets.choice_field import Choice, ChoiceField, ManyField
from tuibench.tui.widgets.field import LABEL, Field
from tuibench.tui.widgets.field_column import FieldColumn, FieldPair
from tuibench.tui.widgets.row import Row
from tuibench.tui.widgets.text_field import TextField

DIM = "dim:"
"""Prefix of a symbolic dim's name, as in FormCheck."""
_GAP = 3
"""Width of a label's signs and blanks."""


class _OneLine(Field):
    """A field of one line: its error replaces the hint, so that no field moves while the user types."""

    def row(self, y: int) -> Row:
        if y:
            return ()
        label = self._label_row()
        if self._error and label[0][0].startswith(" "):
            # The sign shows the error even if the line has no space for its text.
            label = (("!" + label[0][0][1:], "bad"), *label[1:])
        said = (f"  ! {self._error}", "bad") if self._error else self.hint_span()
        return (*label, *self.control_row(), said)

    def _error_rows(self, width: int) -> list[Row]:
        return []


class LineText(_OneLine, TextField):
    """A text field."""


class LineChoice(_OneLine, ChoiceField, can_focus=True):
    """A choice of one."""


class LineMany(_OneLine, ManyField, can_focus=True):
    """A choice of any number."""


_KNOWN = frozenset(one.name for one in fields(FormValues))


class FormColumn(FieldColumn):
    """All fields of the form."""

    class Edited(Message):
        """The value of a field changed."""

        def __init__(self, name: str) -> None:
            super().__init__()
            self.name = name

    class Filled(Message):
        """All fields are mounted."""

    class Moved(Message):
        """The focus moved to another field, or to none."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id)
        self._given = FormValues()
        self._rows: tuple[RowPlan, ...] = ()
        self._wanted = ""
        self._seen: dict[str, Any] = {}
        self._further = {one.name for one in further_settings()}

    def fill(self, rows: Sequence[RowPlan], values: FormValues) -> None:
        """Make all fields; Filled is sent once they are mounted."""
        self._given, self._rows = values, tuple(rows)
        self.mount_all(list(self._widgets()))
        self.call_after_refresh(self._after_filling)

    def put_dims(self, rows: Sequence[RowPlan], dims: tuple[tuple[str, str], ...]) -> None:
        """Replace only the fields of dims, so that typing in another field is not disturbed."""
        self._given, self._rows = replace(self._given, dims=dims), tuple(rows)
        there = self.fields
        specs = {spec.name: spec for row in rows for spec in row if spec.name.startswith(DIM)}
        for name, field in there.items():
            if name.startswith(DIM) and name not in specs:
                field.remove()
        anchor = there["batches"]
        for name, spec in specs.items():
            field = there[name] if name in there else self._make(spec)
            if name not in there:
                self.mount(field, after=anchor)
            anchor = field

    def _after_filling(self) -> None:
        self._show_effort()
        if self._wanted:
            self.go_to(self._wanted)
            self._wanted = ""
        self.post_message(self.Filled())

    def go_to(self, name: str) -> None:
        """Focus a field at once, so that the next key reaches it; a field that is not mounted yet, once it is."""
        field = self.fields.get(name)
        stop = next((stop for stop in self.stops() if field in stop.ancestors_with_self), None)
        if stop is None:
            self._wanted = name
        else:
            self.screen.set_focus(stop)

    def stops(self) -> list[Widget]:
        """Return the focusable widgets from the first to the last, without hidden fields."""
        return self._stops()

    def _widgets(self) -> Iterable[Widget]:
        for row in self._rows:
            made = [self._make(spec) for spec in row]
            yield made[0] if len(made) == 1 else FieldPair(*made)

    def _make(self, spec: FieldSpec) -> Field:
        label = len(spec.label) + _GAP if spec.beside else LABEL
        field: Field
        if isinstance(spec, TextSpec):
            given = str(self._value(spec.name))
            field = LineText(
                spec.name, spec.label, given, hint=spec.hint, placeholder=spec.empty, width=spec.width,
                label_width=label,
            )  # fmt: skip
        else:
            choices = [Choice(key, text, spec.refusals.get(key, "")) for key, text in spec.choices]
            value = self._value(spec.name)
            if spec.many:
                taken = value if isinstance(value, tuple) else tuple(str(value).split(","))
                field = LineMany(spec.name, spec.label, choices, taken, label_width=label)
            else:
                field = LineChoice(spec.name, spec.label, choices, str(value), label_width=label)
        if spec.beside:
            field.styles.width = spec.beside
        self._seen[spec.name] = field.answer
        return field

    def _value(self, name: str) -> Any:
        if name.startswith(DIM):
            return dict(self._given.dims).get(name.removeprefix(DIM), "")
        return getattr(self._given, name) if name in _KNOWN else dict(self._given.more).get(name, "")

    # Values

    def values(self) -> FormValues:
        """Return the typed values; values without a field are unchanged."""
        answers = {key: field.answer for key, field in self.fields.items()}
        dims = tuple((name, str(answers.get(DIM + name, text))) for name, text in self._given.dims)
        more = tuple((name, str(text)) for name, text in answers.items() if text and name in self._further)
        plain: dict[str, Any] = {
            name: ",".join(answer) if isinstance(answer, tuple) and name != "engines" else answer
            for name, answer in answers.items()
            if name in _KNOWN
        }
        return replace(self._given, dims=dims, more=more, **plain)

    def label_of(self, name: str) -> str:
        """Return the label of a field."""
        return next((spec.label for row in self._rows for spec in row if spec.name == name), name)

    def in_order(self, names: Iterable[str]) -> list[str]:
        """Return names in the order of the fields; names without a field come last."""
        order = [spec.name for row in self._rows for spec in row]
        return sorted(names, key=lambda name: order.index(name) if name in order else len(order))

    @property
    def focused_field(self) -> str:
        """The name of the focused field; '' for none."""
        focused = self.screen.focused
        path = focused.ancestors_with_self if focused is not None else []
        return next((key for key, field in self.fields.items() if field in path), "")

    # Messages from the fields

    def on_field_changed(self, message: Field.Changed) -> None:
        """Post Edited, and update the hint of a new effort."""
        message.stop()
        name, answer = message.field.key, message.field.answer
        if self._seen.get(name, answer) == answer:
            return  # Textual also reports the initial value
        self._seen[name] = answer
        if name == "effort":
            self._show_effort()
        self.post_message(self.Edited(name))

    def on_descendant_focus(self) -> None:
        """Post Moved."""
        self.post_message(self.Moved())

    def on_descendant_blur(self) -> None:
        """Post Moved."""
        self.post_message(self.Moved())

    def _show_effort(self) -> None:
        """Show the hint of the effort and only its own field: the time if it is fixed, else the target."""
        found: Mapping[str, Field] = self.fields
        if "effort" not in found:
            return
        effort = str(found["effort"].answer)
        found["effort"].show_hint(
            effort_hint(effort, glyphs_of(bool(getattr(self.app, "ascii_only", False))).plus_minus)
        )
        found["time_s"].display = effort == "fixed"
        found["target"].display = effort != "fixed"
