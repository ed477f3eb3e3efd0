"""Which fields the benchmark form has, in which rows, and what stands beside each: a plan without widgets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tuibench.core.spec import EFFORTS
from tuibench.core.units import percent
from tuibench.tui.desk import EngineChoice, FormValues, Machine

SCENARIOS = ("async", "sync")
PRECISIONS = ("f32", "bf16", "f16", "engine-default")
PINS = ("core", "none")
EFFORT_WORDS = {"default": "default", "quick": "quick", "precise": "precise", "fixed": "fixed time"}


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
    unit: str = ""
    hint: str = ""


@dataclass(frozen=True, slots=True)
class ChoiceSpec:
    """A field with one of several values, or with `many` any number of them."""

    name: str
    label: str
    choices: tuple[tuple[str, str], ...]
    """Pairs of a value and its words."""
    many: bool = False
    off: frozenset[str] = frozenset()
    """Values that are shown and cannot be chosen."""
    hint: str = ""
    spread: bool = True
    """Whether all choices are seen, or only the one that holds."""


FieldSpec = TextSpec | ChoiceSpec
RowPlan = tuple[FieldSpec, ...]


def plan_rows(values: FormValues, machine: Machine | None) -> tuple[RowPlan, ...]:
    """The rows from top to bottom; fields of one row are so short that what is wrong has room beside them."""
    return (
        (TextSpec("model", "Model", 40, hint="a path, sample or hf:ORG/REPO"),),
        (_engines(values, machine),),
        (
            ChoiceSpec("scenarios", "Scenarios", _words(SCENARIOS), many=True),
            ChoiceSpec("pin", "Pinning", _words(_with(PINS, values.pin)), spread=False),
        ),
        (TextSpec("cores", "Cores", 24, _cores(machine), hint=_cores_hint(machine)),),
        (TextSpec("batches", "Batches", 24, "1 or the model's", hint="1,8,32  1-4  pow2:64"),),
        *((_dim(name),) for name, _ in values.dims),
        (
            TextSpec("streams", "Streams", 10, "per core"),
            ChoiceSpec("precision", "Precision", _precisions(values, machine), spread=False),
        ),
        (ChoiceSpec("effort", "Effort", _words(EFFORT_WORDS, EFFORT_WORDS)),),
        (
            TextSpec("target", "Target ±", 10, "as chosen", "%", "where the 95 % interval is narrow enough"),
            TextSpec("time_s", "Time", 10, "", "s", "measured per cell, shared among its executions"),
        ),
        (TextSpec("warmup_s", "Warm-up", 10, "as chosen", "s", "at most, in each execution"),),
        (TextSpec("compare_to", "Compare to", 24, "nothing", hint="the id of a benchmark, shown beside this one"),),
        (TextSpec("against", "Against", 24, "nothing", hint="another model, measured in the same run"),),
        (TextSpec("name", "Name", 24, "none"), TextSpec("note", "Note", 0, "none")),
        (TextSpec("flags", "More flags", 24, "none", hint="such as --inputs FILE.npz"),),
    )


def effort_hint(effort: str) -> str:
    """What an effort means, for the end of its row."""
    if effort not in EFFORTS:
        return "the time below, no target"
    found = EFFORTS[effort]
    return f"±{percent(found.target or 0)}, at most {found.limit_s:g} s per cell"


def label_of(name: str, rows: Sequence[RowPlan]) -> str:
    """What a field is called on the screen."""
    found = (spec.label for row in rows for spec in row if spec.name == name)
    return next(found, name)


def _dim(name: str) -> TextSpec:
    return TextSpec(f"dim:{name}", name, 24, "chosen, and said", hint="a symbolic dim of the model: 64,128")


def _cores(machine: Machine | None) -> str:
    return str(machine.default_cores) if machine else ""


def _cores_hint(machine: Machine | None) -> str:
    if machine is None:
        return ""
    return f"of {machine.usable_cores} physical usable here: 1,2,max  1-8  pow2"


def _engines(values: FormValues, machine: Machine | None) -> ChoiceSpec:
    known = machine.engines if machine else ()
    missing = [name for name in values.engines if name not in {engine.name for engine in known}]
    # An engine that is kept from an older benchmark and is no more is still seen, so that it can be unticked.
    choices = [(engine.name, _engine_words(engine)) for engine in known] + [(name, name) for name in missing]
    off = frozenset(engine.name for engine in known if not engine.available)
    return ChoiceSpec("engines", "Engines", tuple(choices), many=True, off=off)


def _engine_words(engine: EngineChoice) -> str:
    if engine.available:
        return f"{engine.name} {engine.version}"
    return f"{engine.name}: not installed{': ' if engine.hint else ''}{engine.hint}"


def _precisions(values: FormValues, machine: Machine | None) -> tuple[tuple[str, str], ...]:
    known = {name for engine in (machine.engines if machine else ()) if engine.available for name in engine.precisions}
    offered = tuple(name for name in PRECISIONS if name in known or name in ("f32", "engine-default"))
    return _words(_with(offered, values.precision))


def _with(choices: tuple[str, ...], value: str) -> tuple[str, ...]:
    return choices if not value or value in choices else (*choices, value)


def _words(names: Sequence[str] | dict[str, str], words: dict[str, str] | None = None) -> tuple[tuple[str, str], ...]:
    return tuple((name, (words or {}).get(name, name)) for name in names)
