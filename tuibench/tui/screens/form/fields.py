"""Fields of the benchmark form: their plan, their widgets, and their values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields, replace
from typing import Any

from textual.message import Message

from tuibench.core.engine import full_id, is_apart, with_version
from tuibench.core.machine import Machine
from tuibench.core.scenario import DEFAULT, names
from tuibench.core.settings import benchmark as benchmark_setting
from tuibench.core.settings.kinds import OneOf
from tuibench.core.settings.setting import Place, Setting
from tuibench.core.spec import EFFORTS
from tuibench.present.plots.drawing import Row as Line
from tuibench.services.form_values import FormValues
from tuibench.tui.widgets.choice_field import Choice, ChoiceField, ManyField
from tuibench.tui.widgets.field import LABEL, Field, FieldColumn, FieldPair, TextField
from tuibench.tui.widgets.painted import glyphs_of

PRECISIONS = ("f32", "bf16", "f16", "engine-default")
EFFORT_NAMES = ("default", "quick", "precise", "fixed")


_KNOWN = frozenset(one.name for one in fields(FormValues))
Row = tuple[Field, ...]
"""Fields that share a line."""
DIM = "dim:"
"""Prefix of a symbolic dim's name, as in FormCheck."""
_GAP = 3
"""Width of a label's signs and blanks."""


class _OneLine(Field):
    """A field of one line: its error replaces the hint, so that no field moves while the user types."""

    def row(self, y: int) -> Line:
        if y:
            return ()
        label = self._label_row()
        if self._error and label[0][0].startswith(" "):
            # The sign shows the error even if the line has no space for its text.
            label = (("!" + label[0][0][1:], "bad"), *label[1:])
        said = (f"  ! {self._error}", "bad") if self._error else self.hint_span()
        return (*label, *self.control_row(), said)

    def _error_rows(self, width: int) -> list[Line]:
        return []


class LineText(_OneLine, TextField):
    """A text field."""


class LineChoice(_OneLine, ChoiceField, can_focus=True):
    """A choice of one."""


class LineMany(_OneLine, ManyField, can_focus=True):
    """A choice of any number."""


def make_rows(values: FormValues, machine: Machine | None, plus_minus: str, install: str = "i") -> list[Row]:
    """Return the fields by line from top to bottom: subject, settings, effort, then name and flags.

    `install` is the key that installs an engine.
    """

    def text(name: str, **changed: Any) -> Field:
        return _text(name, replace(place_of(name), **changed), _value(values, name))

    usable = f"of {machine.usable_cores} usable: 1,2,max  1-8  pow2" if machine else ""
    pins = benchmark_setting.by_name()["pin"].kind
    return [
        (_text("model", Place("Model", 40, hint="a path, or sample"), values.model),),
        (_choice("engines", engine_choices(values.engines, machine, install), values.engines, many=True),),
        (_choice("scenarios", _same((*DEFAULT, *names())), values.scenarios, many=True),),
        (text("cores", empty=str(machine.default_cores) if machine else "", hint=usable),),
        (text("batches"),),
        *((dim_field(name, given),) for name, given in values.dims),
        (text("streams"), _choice("pin", _same(pins.names if isinstance(pins, OneOf) else (), values.pin), values.pin)),
        (_choice("precision", _same(_precisions(machine), values.precision), values.precision),),
        (_choice("effort", _same(EFFORT_NAMES), values.effort, place=Place("Effort")),),
        (text("target", label=f"{place_of('target').label} {plus_minus}%"), text("time_s"), text("warmup_s")),
        *((text(setting.name),) for setting in further_settings()),
        (text("compare_to"),),
        (_text("against", Place("Against", 24, "nothing", "a second model, interleaved"), values.against),),
        (text("name"), text("note")),
        (_text("flags", Place("More flags", 24, "none", "such as --seed 1"), values.flags),),
    ]


def dim_field(name: str, given: str) -> Field:
    """Return the field of a symbolic dim."""
    return _text(DIM + name, replace(place_of("dims"), label=name), given)


def place_of(name: str) -> Place:
    """Return the place of a benchmark's setting in the form."""
    return benchmark_setting.by_name()[name].place or Place("")


def _value(values: FormValues, name: str) -> str:
    return str(getattr(values, name) if name in _KNOWN else dict(values.more).get(name, ""))


def _beside(place: Place) -> int:
    """Return the width of the label."""
    return len(place.label) + _GAP if place.beside else LABEL


def _text(key: str, place: Place, given: str) -> Field:
    field = LineText(
        key, place.label, given, hint=place.hint, placeholder=place.empty, width=place.width, label_width=_beside(place)
    )
    return _placed(field, place)


def _choice(
    name: str,
    choices: Iterable[Choice],
    given: str | tuple[str, ...],
    *,
    many: bool = False,
    place: Place | None = None,
) -> Field:
    place = place or place_of(name)
    if many:
        taken = given if isinstance(given, tuple) else tuple(given.split(","))
        return _placed(LineMany(name, place.label, list(choices), taken, label_width=_beside(place)), place)
    return _placed(LineChoice(name, place.label, list(choices), str(given), label_width=_beside(place)), place)


def _placed(field: Field, place: Place) -> Field:
    if place.beside:
        field.styles.width = place.beside
    return field


def further_settings() -> list[Setting]:
    """Return the settings with a place but no attribute of FormValues: one row each, in the table's order."""
    known = {one.name for one in fields(FormValues)} | {"quick", "precise"}  # the field `effort` replaces these two
    return [one for one in benchmark_setting.settings() if one.place and one.name not in known]


def effort_hint(effort: str, plus_minus: str) -> str:
    """Return the limits of an effort, for the end of its row."""
    if effort not in EFFORTS:
        return "no target"
    found = EFFORTS[effort]
    return f"{plus_minus}{100 * (found.target or 0):g} %, max {found.limit_s:g} s/cell"


def engine_choices(ticked: tuple[str, ...], machine: Machine | None, install: str) -> list[Choice]:
    """Return the engines; the cursor stops on one that the key `install` installs."""
    known = machine.engines if machine else ()
    installed = {full_id(one.name) for one in known if one.available}
    refusal = f"not installed: {install} installs"
    choices = []
    for one in known:
        label = with_version(one.name, one.version)
        if one.available or (one.name in ticked and not is_apart(one.name)):
            choices.append(Choice(one.name, label))
        elif is_apart(one.name):
            choices.append(Choice(one.name, label, refusal, is_reachable=True))
        else:
            choices.append(Choice(one.name, label, f"not installed{': ' if one.hint else ''}{one.hint}"))
    for name in dict.fromkeys(ticked):
        if name not in {one.name for one in known}:
            is_gone = machine is not None and is_apart(name) and full_id(name) not in installed
            choices.append(Choice(name, name, refusal if is_gone else "", is_reachable=is_gone))
    return choices


def _precisions(machine: Machine | None) -> list[str]:
    known = {name for engine in (machine.engines if machine else ()) if engine.available for name in engine.precisions}
    return [name for name in PRECISIONS if name in known or name in ("f32", "engine-default")]


def _same(names: Iterable[str], given: str = "") -> list[Choice]:
    """Return choices labelled by their values; the given one is always among them."""
    return [Choice(name, name) for name in dict.fromkeys((*names, *([given] if given else [])))]


def errors_of_ticks(values: FormValues) -> dict[str, str]:
    """Return errors of fields without a ticked box, because an empty list would mean the default."""
    none = "none selected"
    return {name: none for name in ("engines", "scenarios") if not getattr(values, name)}


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
        self._seen: dict[str, Any] = {}
        self._further = {one.name for one in further_settings()}

    def fill(self, rows: Iterable[Row], values: FormValues) -> None:
        """Show these fields, made from `values`; Filled is sent once they are mounted."""
        self._given = values
        made = list(rows)
        self._seen = {field.key: field.answer for row in made for field in row}
        self.mount_all([row[0] if len(row) == 1 else FieldPair(*row) for row in made])
        self.call_after_refresh(self._after_filling)

    def put_dims(self, dims: tuple[tuple[str, str], ...]) -> None:
        """Replace only the fields of dims, so that typing in another field is not disturbed."""
        self._given = replace(self._given, dims=dims)
        there, wanted = self.fields, {DIM + name for name, _ in dims}
        for key, shown in there.items():
            if key.startswith(DIM) and key not in wanted:
                shown.remove()
        anchor = there["batches"]
        for name, given in dims:
            field = there.get(DIM + name)
            if field is None:
                field = dim_field(name, given)
                self._seen[field.key] = field.answer
                self.mount(field, after=anchor)
            anchor = field

    def _after_filling(self) -> None:
        self._show_effort()
        self.post_message(self.Filled())

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

    def in_order(self, names: Iterable[str]) -> list[str]:
        """Return names in the order of the fields; names without a field come last."""
        order = list(self.fields)
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
