"""Which fields the benchmark form has, in which rows, and what stands beside each: a plan without widgets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from tuibench.core.scenario import DEFAULT
from tuibench.core.spec import EFFORTS
from tuibench.tui.desk import FormValues, Machine

PRECISIONS = ("f32", "bf16", "f16", "engine-default")
PINS = ("core", "none")
EFFORT_WORDS = {"default": "default", "quick": "quick", "precise": "precise", "fixed": "fixed"}


@dataclass(frozen=True, slots=True)
class TextSpec:
    """A field that is typed into."""

    name: str
    """Of FormValues; a dim's is `dim:NAME`."""
    label: str
    width: int
    """Columns; 0 takes what the row leaves."""
    empty: str = ""
    """What an empty field means, seen in it."""
    hint: str = ""
    beside: int = 0
    """Columns where it stands behind another in one line; 0 for one that begins a line."""


@dataclass(frozen=True, slots=True)
class ChoiceSpec:
    """A field with one of several values, or with `many` any number of them."""

    name: str
    label: str
    choices: tuple[tuple[str, str], ...]
    """Pairs of a value and its words."""
    many: bool = False
    refusals: Mapping[str, str] = field(default_factory=dict)
    """Value to why it cannot be chosen."""
    beside: int = 0


FieldSpec = TextSpec | ChoiceSpec
RowPlan = tuple[FieldSpec, ...]


def plan_rows(values: FormValues, machine: Machine | None, plus_minus: str) -> tuple[RowPlan, ...]:
    """The rows from top to bottom: what is measured, how, what with, and what it is called."""
    list_hint = "1,2,4  1-8  pow2:64"
    return (
        (TextSpec("model", "Model", 40, hint="a path, or sample"),),
        (_engines(values, machine),),
        (ChoiceSpec("scenarios", "Scenarios", _same(DEFAULT), many=True),),
        (TextSpec("cores", "Cores", 24, _cores(machine), _cores_hint(machine)),),
        (TextSpec("batches", "Batches", 24, "1, or the model's", list_hint),),
        *((TextSpec(f"dim:{name}", name, 24, "chosen, and said", list_hint),) for name, _ in values.dims),
        (
            TextSpec("streams", "Streams", 10, "per core"),
            ChoiceSpec("pin", "Pinning", _same(_with(PINS, values.pin)), beside=29),
        ),
        (ChoiceSpec("precision", "Precision", _same(_precisions(values, machine))),),
        (ChoiceSpec("effort", "Effort", tuple(EFFORT_WORDS.items())),),
        (
            TextSpec("target", f"Target {plus_minus}%", 10, "as above"),
            TextSpec("time_s", "Time in s", 10, "needed", "per cell"),
            TextSpec("warmup_s", "Warm-up s", 10, "as above", "at most", beside=40),
        ),
        (TextSpec("compare_to", "Compare to", 24, "nothing", "a stored benchmark, such as m9q"),),
        (TextSpec("against", "Against", 24, "nothing", "a second model, interleaved"),),
        (TextSpec("name", "Name", 14, "none"), TextSpec("note", "Note", 0, "none", beside=30)),
        (TextSpec("flags", "More flags", 24, "none", "such as --seed 1"),),
    )


def effort_hint(effort: str, plus_minus: str) -> str:
    """What an effort means, for the end of its row."""
    if effort not in EFFORTS:
        return "no target"
    found = EFFORTS[effort]
    return f"{plus_minus}{100 * (found.target or 0):g} %, max {found.limit_s:g} s/cell"


def _cores(machine: Machine | None) -> str:
    return str(machine.default_cores) if machine else ""


def _cores_hint(machine: Machine | None) -> str:
    return f"of {machine.usable_cores} usable: 1,2,max  1-8  pow2" if machine else ""


def _engines(values: FormValues, machine: Machine | None) -> ChoiceSpec:
    known = machine.engines if machine else ()
    missing = [name for name in values.engines if name not in {engine.name for engine in known}]
    choices = [(one.name, f"{one.name} {one.version}".strip()) for one in known] + [(name, name) for name in missing]
    # One that is ticked can be unticked even where it is not installed any more.
    refusals = {
        one.name: f"not installed{': ' if one.hint else ''}{one.hint}"
        for one in known
        if not one.available and one.name not in values.engines
    }
    return ChoiceSpec("engines", "Engines", tuple(choices), many=True, refusals=refusals)


def _precisions(values: FormValues, machine: Machine | None) -> tuple[str, ...]:
    known = {name for engine in (machine.engines if machine else ()) if engine.available for name in engine.precisions}
    offered = tuple(name for name in PRECISIONS if name in known or name in ("f32", "engine-default"))
    return _with(offered, values.precision)


def _with(choices: tuple[str, ...], value: str) -> tuple[str, ...]:
    return choices if not value or value in choices else (*choices, value)


def _same(names: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    return tuple((name, name) for name in names)


def errors_of_ticks(values: FormValues) -> dict[str, str]:
    """What is wrong with boxes of which none is ticked: an empty list would mean the default."""
    none = "tick at least one"
    return {name: none for name in ("engines", "scenarios") if not getattr(values, name)}
