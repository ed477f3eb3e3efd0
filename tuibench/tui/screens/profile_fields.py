"""The fields of the profile set-up: widgets with hints, and the values read from them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields as attributes

from textual.widget import Widget

from tuibench.core.machine import Machine
from tuibench.core.profile_spec import LEVELS, LOSS, PERFORMANCE, ProfileSpec
from tuibench.tui.desk_profile import ProfileValues
from tuibench.tui.widgets.choice_field import ButtonField, Choice, ChoiceField, ManyField
from tuibench.tui.widgets.field import Field
from tuibench.tui.widgets.field_column import FieldPair
from tuibench.tui.widgets.text_field import TextField

DIM = "dim:"
"""Prefix of the key of a symbolic dim's field."""
ON, OFF = "on", "off"
LABEL = 16
OF = {
    PERFORMANCE: ("name", "what_if", "runs", "processes"),
    LOSS: ("loss_name", "samples", "data", "levels", "budget"),
}
"""Fields that only one kind of profile has."""
OF_BOTH = ("engine", "batch", "cores", "sequence")
_SWITCHED = ("performance", "what_if", "loss", "budget")
"""Fields with two choices, which are booleans in the values."""
_SWITCHES = (Choice(ON, "on"), Choice(OFF, "off"))
_REACH = (Choice(OFF, "all layers"), Choice(ON, "the ten worst"))
_NO_TIMES = "tells no layer times"
_USUAL = ProfileSpec(PERFORMANCE)


def make_fields(values: ProfileValues, machine: Machine | None) -> Iterator[Widget]:
    """Yield the fields from the first line to the last; related ones share a line."""
    yield _switch("performance", "Performance", values.performance, "off: FLOPS stays, in theory")
    yield _text("name", "  name", values.name, width=24)
    yield _switch("what_if", "  what if INT8", values.what_if, "each heavy layer alone in INT8, too")
    yield _pair(
        _text("runs", "  runs", values.runs, f"{_USUAL.runs}", "in each process", 6),
        _text("processes", "processes", values.processes, f"{_USUAL.processes}", "fresh ones", 4, 12),
        30,
    )
    yield _engine(values, machine)
    usable = f"of {machine.usable_cores}: those you will deploy on" if machine is not None else ""
    yield _text("batch", "Batch", values.batch, "1", "1 for real time, 64 for throughput")
    cores = str(machine.default_cores) if machine is not None else ""
    yield _text("cores", "Cores", values.cores, cores, usable)
    if values.sequence:
        yield _text("sequence", "Sequence", values.sequence, "chosen", "of all axes of tokens")
    for name, text in values.dims:
        yield _text(DIM + name, name, text, "chosen", "a size such as 128")
    yield from _of_loss(values)
    yield ButtonField("run", "RUN", label_width=LABEL)


def _of_loss(values: ProfileValues) -> Iterator[Widget]:
    yield _switch("loss", "Loss", values.loss, "off: Approximated stays, from weights")
    yield _pair(
        _text("loss_name", "  name", values.loss_name, width=24),
        _text("samples", "samples", values.samples, f"{_USUAL.samples}", "for each layer", 5, 10),
        36,
    )
    yield _text("data", "  data", values.data, "seeded inputs", "calibration data, an .npz", 30)
    levels = [Choice(level, level.removeprefix("pruned ")) for level in LEVELS]
    yield ManyField("levels", "  levels", levels, values.levels, hint="share of zeros", label_width=LABEL)
    reach = ON if values.budget else OFF
    yield ChoiceField("budget", "  levels of", _REACH, reach, hint="others: one level", label_width=LABEL)


def values_of(fields: Mapping[str, Field], given: ProfileValues) -> ProfileValues:
    """Return the typed values; settings without a field keep their given value."""
    known = {one.name for one in attributes(ProfileValues)}
    answers = {name: field.answer for name, field in fields.items() if name in known}
    answers |= {name: answers[name] == ON for name in _SWITCHED}
    dims = tuple((name, str(fields[DIM + name].answer)) for name, _ in given.dims)
    return ProfileValues(dims=dims, **{"sequence": given.sequence, **answers})


def _engine(values: ProfileValues, machine: Machine | None) -> ChoiceField:
    """Return the installed engines and those that can time layers, with a reason for each that cannot be chosen."""
    known = [each for each in (machine.engines if machine is not None else ()) if each.available or each.tells_layers]
    choices = [
        Choice(each.name, each.name, _NO_TIMES if not each.tells_layers else "" if each.available else "not installed")
        for each in known
    ]
    if values.engine and values.engine not in {choice.key for choice in choices}:
        choices.append(Choice(values.engine, values.engine))
    return ChoiceField("engine", "Engine", choices, values.engine, label_width=LABEL)


def _switch(key: str, label: str, value: bool, hint: str) -> ChoiceField:
    return ChoiceField(key, label, _SWITCHES, ON if value else OFF, hint=hint, label_width=LABEL)


def _text(
    key: str, label: str, value: str, empty: str = "", hint: str = "", width: int = 10, label_width: int = LABEL
) -> TextField:
    return TextField(key, label, value, hint=hint, placeholder=empty, width=width, label_width=label_width)


def _pair(first: Field, second: Field, columns: int) -> FieldPair:
    """Put two fields into one line; `columns` is the width of the second."""
    second.styles.width = columns
    return FieldPair(first, second)
