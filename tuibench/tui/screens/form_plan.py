"""The rows and fields of the benchmark form, without widgets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace

from tuibench.core import benchmark_setting
from tuibench.core.scenario import DEFAULT
from tuibench.core.setting import Place, Setting
from tuibench.core.spec import EFFORTS
from tuibench.core.value import OneOf
from tuibench.tui.desk import FormValues, Machine

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
        (_choice("scenarios", DEFAULT, many=True),),
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
    none = "tick at least one"
    return {name: none for name in ("engines", "scenarios") if not getattr(values, name)}
