"""The benchmark form as a request: read like the shell's flags, and filled from stored benchmarks."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from tuibench.core.errors import TuibenchError, UsageError
from tuibench.core.model import is_remote
from tuibench.core.settings import benchmark as benchmark_setting
from tuibench.core.settings.command import FlagReader
from tuibench.core.settings.kinds import Context, NameList, Topology
from tuibench.core.settings.model_token import resolve_inputs, resolve_model
from tuibench.core.settings.request import BenchmarkRequest, recall, to_effort, to_spec
from tuibench.core.settings.setting import EFFORT, Setting
from tuibench.core.spec import EFFORTS, BenchmarkSpec, ModelSource
from tuibench.core.text import show
from tuibench.present.command import token_of
from tuibench.present.error.words import error_line
from tuibench.services.form_values import FormValues

_SPECIAL = frozenset({"engines", "dims", "quick", "precise", "target", "time_s", "compare_to"})
"""Settings whose fields are not one plain text."""
_FIELDS = frozenset(one.name for one in fields(FormValues))
EFFORT_NAMES = (*EFFORTS, "fixed")
MOST_MODELS = 2


@dataclass(slots=True)
class Reading:
    """The values read from a form, and its errors."""

    context: Context
    fields: dict[str, Any] = field(default_factory=dict)
    """Values of settings by name."""
    errors: dict[str, str] = field(default_factory=dict)
    """By field of FormValues; dims as `dim:NAME`."""
    words: list[str] = field(default_factory=list)
    """The equivalent flags."""

    def take(self, name: str, given: str) -> None:
        """Read the text of a setting like the value of its flag; '' is the default."""
        text = given.strip()
        if not text:
            return
        setting = benchmark_setting.by_name()[name]
        flag = setting.flags[0]
        try:
            self.fields[name] = text if setting.many else setting.kind(flag, text)
            setting.kind.settle(flag, self.fields[name], self.context)
        except UsageError as error:
            self.errors[name] = error_line(error, beside=True)
        if text != _default_text(setting):
            # A text with a leading dash is joined to its flag.
            self.words += [f"{setting.flags[-1]}={text}"] if text.startswith("-") else [flag, text]


def read_form(values: FormValues, topology: Topology) -> Reading:
    """Read each field separately, so that all errors are shown at once; models are located, not read."""
    reading = Reading(Context(topology, resolve_inputs, []))
    _find_model(reading, "model", values.model)
    if values.against.strip():
        _find_model(reading, "against", values.against)
    reading.take("engines", ",".join(values.engines))
    if not values.engines:
        reading.errors["engines"] = "choose at least one"
    further = dict(values.more)
    for name in _own_fields():
        reading.take(name, getattr(values, name) if name in _FIELDS else further.get(name, ""))
    _take_dims(reading, values)
    _take_effort(reading, values)
    _take_flags(reading, values.flags)
    return reading


def to_request(values: FormValues, reading: Reading) -> BenchmarkRequest:
    """Return the request of a form without errors."""
    return BenchmarkRequest(models=models_of(values), **reading.fields)


def models_of(values: FormValues) -> tuple[str, ...]:
    """Return the models of a form."""
    return tuple(token.strip() for token in (values.model, values.against) if token.strip())


def to_command(values: FormValues, reading: Reading) -> str:
    """Return the equivalent shell command, without settings at their default."""
    models = models_of(values)
    partner = values.compare_to.strip()
    flags = [*reading.words, *(["--compare-to", partner] if partner else [])]
    guard = ["--"] if any(token.startswith("-") for token in models) else []
    words = [*flags, *guard, *models] if guard else [*models, *flags]
    return shlex.join(["tuibench", "benchmark", *words])


def values_of(spec: BenchmarkSpec, models: Iterable[ModelSource], name: str = "") -> FormValues:
    """Return the form that measures a stored benchmark again; raise UsageError if the form cannot express it."""
    sources = list(models)
    if len(sources) > MOST_MODELS:
        raise UsageError("too_many_models", count=len(sources))
    found = recall(spec, {})
    known = benchmark_setting.by_name()
    fixed = spec.effort.target is None
    base = EFFORTS["default"] if fixed else EFFORTS.get(spec.effort.name, EFFORTS["default"])
    if fixed and found.get("executions") == base.min_executions:
        found.pop("executions")
    target = "" if fixed or spec.effort.target == base.target else known["target"].kind.spell(spec.effort.target)
    warmup = "" if spec.effort.warmup_s == base.warmup_s else known["warmup_s"].kind.spell(spec.effort.warmup_s)
    own = {each: _text(known[each], found.get(each)) for each in _own_fields() if known[each].at not in ("", EFFORT)}
    return FormValues(
        model=token_of(sources[0]) if sources else "",
        engines=spec.engines,
        dims=tuple((dim, ",".join(map(str, sizes))) for dim, sizes in spec.dims),
        effort="fixed" if fixed else base.name,
        time_s=known["time_s"].kind.spell(found["time_s"]) if fixed else "10",
        warmup_s=warmup,
        target=target,
        against=token_of(sources[1]) if len(sources) == MOST_MODELS else "",
        name=name,
        flags=shlex.join(_flag_words(found)),
        more=tuple((each, text) for each, text in own.items() if each not in _FIELDS and text),
        **{each: text for each, text in own.items() if each in _FIELDS},
    )


def _own_fields() -> list[str]:
    """Return the settings that have a field of one text each."""
    return [one.name for one in benchmark_setting.settings() if one.place and one.name not in _SPECIAL]


def _text(setting: Setting, value: Any) -> str:
    return "" if value is None else value if setting.many else setting.kind.spell(value)


def _default_text(setting: Setting) -> str:
    kind = setting.kind
    return ",".join(kind.default) if isinstance(kind, NameList) else _text(setting, setting.default)


def _flag_words(found: Mapping[str, Any]) -> list[str]:
    """Return the settings without a field, as typed flags."""
    words = []
    for setting in benchmark_setting.settings():
        value = found.get(setting.name, setting.default)
        if setting.is_further and value != setting.default:
            flag = setting.flags[-1]
            words.append(flag if setting.kind.is_switch else f"{flag}={setting.kind.spell(value)}")
    return words


def _find_model(reading: Reading, place: str, token: str) -> None:
    if not token.strip():
        reading.errors[place] = "a model is needed: a path to an .onnx file, or sample"
        return
    if is_remote(token.strip()):
        return  # fetched after all other fields are valid
    try:
        resolve_model(token.strip())
    except TuibenchError as error:
        reading.errors[place] = error_line(error)


def _take_dims(reading: Reading, values: FormValues) -> None:
    setting = benchmark_setting.by_name()["dims"]
    given = [(name, text.strip()) for name, text in values.dims if text.strip()]
    for name, text in given:
        try:
            setting.kind.settle(setting.flag, (f"{name}={text}",), reading.context)
        except UsageError as error:
            reading.errors[f"dim:{name}"] = error_line(error, beside=True)
        reading.words.append(f"{setting.flag}={name}={text}")
    reading.fields["dims"] = tuple(f"{name}={text}" for name, text in given)


def _take_effort(reading: Reading, values: FormValues) -> None:
    if values.effort not in EFFORT_NAMES:
        reading.errors["effort"] = f"one of {', '.join(EFFORT_NAMES)}"
    elif values.effort == "fixed":
        reading.take("time_s", values.time_s)
        if not values.time_s.strip():
            reading.errors["time_s"] = "how many seconds each cell is measured for"
    else:
        reading.take("target", values.target)
        if values.effort != "default":
            reading.fields[values.effort] = True
            reading.words.append(f"--{values.effort}")


def _why_refused(setting: Setting) -> str:
    has_field = setting.place is not None or setting.name in _SPECIAL
    return f"{setting.flags[0]} {'has a field of its own' if has_field else 'is not allowed here'}"


def _take_flags(reading: Reading, text: str) -> None:
    """Read further flags; reject those of settings with a field."""
    known = benchmark_setting.by_name()
    try:
        split = shlex.split(text)
        words, found = FlagReader(known.values()).split(split)
    except ValueError as error:
        reading.errors["flags"] = f"cannot be read: {error}".lower()
        return
    except UsageError as error:
        reading.errors["flags"] = error_line(error)
        return
    strange = [known[name] for name in found if not known[name].is_further]
    if words or strange:
        what = f"{show(words[0], 40)} is not a flag" if words else _why_refused(strange[0])
        reading.errors["flags"] = f"{what}; this line takes flags such as --seed 1"
        return
    reading.fields |= found
    reading.words += split
    try:
        to_effort(BenchmarkRequest((), **reading.fields))
        to_spec(BenchmarkRequest((), **found), reading.context.topology)
    except UsageError as error:
        reading.errors["flags"] = error_line(error)
