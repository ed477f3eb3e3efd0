"""Fields of the benchmark form: their plan, their widgets, and their values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

from textual.message import Message
from textual.widget import Widget

from tuibench.core import scenario
from tuibench.core.machine import Machine
from tuibench.core.settings import benchmark as benchmark_setting
from tuibench.core.settings.kinds import OneOf
from tuibench.core.settings.setting import Place, Setting
from tuibench.core.spec import EFFORTS
from tuibench.present.plots.drawing import Row
from tuibench.services.form_values import FormValues
from tuibench.tui.widgets.choice_field import Choice, ChoiceField, ManyField
from tuibench.tui.widgets.field import LABEL, Field, FieldColumn, FieldPair, TextField
from tuibench.tui.widgets.painted import glyphs_of

PRECISIONS = ("f32", "bf16", "f16", "engine-default")
EFFORT_WORDS = {"default": "default", "quick": "quick", "precise": "precise", "fixed": "fixed"}


@dataclass(frozen=True, slots=True)
class TextSpec:
    """A text field."""

    name: str
    """Name in FormValues; `dim:NAME` for a dim."""
    label: str
    width: int
    """Columns; 0 uses the rest of the row."""
    empty: str = ""
    """Placeholder: the default in words."""
    hint: str = ""
    beside: int = 0
    """Columns of a field that follows another one in its line; 0 for the first of a line."""


@dataclass(frozen=True, slots=True)
class ChoiceSpec:
    """A field with one of several values; with `many` any number of them."""

    name: str
    label: str
    choices: tuple[tuple[str, str], ...]
    """Pairs of a value and its label."""
    many: bool = False
    refusals: Mapping[str, str] = field(default_factory=dict)
    """Value to the reason why it cannot be selected."""
    beside: int = 0


FieldSpec = TextSpec | ChoiceSpec
RowPlan = tuple[FieldSpec, ...]


def plan_rows(values: FormValues, machine: Machine | None, plus_minus: str) -> tuple[RowPlan, ...]:
    """Return the rows from top to bottom: subject, settings, effort, then name and flags."""
    cores = replace(_placed("cores"), empty=_cores(machine), hint=_cores_hint(machine))
    target = _placed("target")
    return (
        (TextSpec("model", "Model", 40, hint="a path, or sample"),),
        (_engines(values, machine, _placed("engines").label),),
        (_choice("scenarios", tuple(dict.fromkeys((*scenario.DEFAULT, *scenario.names()))), many=True),),
        (cores,),
        (_placed("batches"),),
        *((replace(_placed("dims"), name=f"dim:{name}", label=name),) for name, _ in values.dims),
        (_placed("streams"), _choice("pin", _with(_pins(), values.pin))),
        (_choice("precision", _precisions(values, machine)),),
        (ChoiceSpec("effort", "Effort", tuple(EFFORT_WORDS.items())),),
        (replace(target, label=f"{target.label} {plus_minus}%"), _placed("time_s"), _placed("warmup_s")),
        *((_placed(setting.name),) for setting in further_settings()),
        (_placed("compare_to"),),
        (TextSpec("against", "Against", 24, "nothing", "a second model, interleaved"),),
        (_placed("name"), _placed("note")),
        (TextSpec("flags", "More flags", 24, "none", "such as --seed 1"),),
    )


def further_settings() -> list[Setting]:
    """Return the settings with a place but no attribute of FormValues: one row each, in the table's order."""
    known = {one.name for one in fields(FormValues)} | {"quick", "precise"}  # the field `effort` replaces these two
    return [one for one in benchmark_setting.settings() if one.place and one.name not in known]


def _placed(name: str) -> TextSpec:
    place = benchmark_setting.by_name()[name].place or Place("")
    return TextSpec(name, place.label, place.width, place.empty, place.hint, place.beside)


def _choice(name: str, choices: tuple[str, ...], *, many: bool = False) -> ChoiceSpec:
    place = benchmark_setting.by_name()[name].place or Place("")
    return ChoiceSpec(name, place.label, _same(choices), many=many, beside=place.beside)


def _pins() -> tuple[str, ...]:
    kind = benchmark_setting.by_name()["pin"].kind
    return kind.names if isinstance(kind, OneOf) else ()


def effort_hint(effort: str, plus_minus: str) -> str:
    """Return the limits of an effort, for the end of its row."""
    if effort not in EFFORTS:
        return "no target"
    found = EFFORTS[effort]
    return f"{plus_minus}{100 * (found.target or 0):g} %, max {found.limit_s:g} s/cell"


def _cores(machine: Machine | None) -> str:
    return str(machine.default_cores) if machine else ""


def _cores_hint(machine: Machine | None) -> str:
    return f"of {machine.usable_cores} usable: 1,2,max  1-8  pow2" if machine else ""


def _engines(values: FormValues, machine: Machine | None, label: str) -> ChoiceSpec:
    known = machine.engines if machine else ()
    missing = [name for name in values.engines if name not in {engine.name for engine in known}]
    choices = [(one.name, f"{one.name} {one.version}".strip()) for one in known] + [(name, name) for name in missing]
    # A ticked engine can be unticked even if it is no longer installed.
    refusals = {
        one.name: f"not installed{': ' if one.hint else ''}{one.hint}"
        for one in known
        if not one.available and one.name not in values.engines
    }
    return ChoiceSpec("engines", label, tuple(choices), many=True, refusals=refusals)


def _precisions(values: FormValues, machine: Machine | None) -> tuple[str, ...]:
    known = {name for engine in (machine.engines if machine else ()) if engine.available for name in engine.precisions}
    offered = tuple(name for name in PRECISIONS if name in known or name in ("f32", "engine-default"))
    return _with(offered, values.precision)


def _with(choices: tuple[str, ...], value: str) -> tuple[str, ...]:
    return choices if not value or value in choices else (*choices, value)


def _same(names: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    return tuple((name, name) for name in names)


def errors_of_ticks(values: FormValues) -> dict[str, str]:
    """Return errors of fields without a ticked box, because an empty list would mean the default."""
    none = "none selected"
    return {name: none for name in ("engines", "scenarios") if not getattr(values, name)}


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
        for name, shown in there.items():
            if name.startswith(DIM) and name not in specs:
                shown.remove()
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
