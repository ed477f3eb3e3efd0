"""The benchmark form as a request: read as the shell reads its flags, and filled from what was measured before."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from tuibench.core import engine, scenario
from tuibench.core.errors import TuibenchError, UsageError
from tuibench.core.remote import is_remote
from tuibench.core.spec import EFFORTS, BenchmarkSpec, ModelSource
from tuibench.core.text import show
from tuibench.report.command import token_of
from tuibench.request.flag import FLAGS
from tuibench.request.flag_reader import FlagReader
from tuibench.request.model_token import resolve_model
from tuibench.request.recall import recall
from tuibench.request.request import BenchmarkRequest
from tuibench.request.translation import Topology, to_effort, to_spec
from tuibench.tui.desk import FormValues

_FLAGS = {flag.field: flag for flag in FLAGS}
_AXES = ("engines", "scenarios", "cores", "batches")
_TEXTS = ("scenarios", "cores", "batches", "streams", "pin", "precision", "warmup_s", "name", "note")
_EXTRA = (
    *("sequence_lengths", "batch_dim", "stream_kind", "io", "shapes", "inputs_file", "distinct", "seed", "no_check"),
    *("executions", "max_time_s", "timeout_scale", "memory_bytes", "keep_raw", "wait_s", "no_wait", "share_host"),
)
"""Of a BenchmarkRequest: what the form takes only as flags."""
_DEFAULTS = {one.name: one.default for one in fields(BenchmarkRequest)}
_UNSAID = {"engines": engine.DEFAULT, "scenarios": ",".join(scenario.DEFAULT), "pin": "core", "precision": "f32"}
"""What a command need not say."""
EFFORT_NAMES = (*EFFORTS, "fixed")
MOST_MODELS = 2


@dataclass(slots=True)
class Reading:
    """What was understood of a form, and what was not."""

    fields: dict[str, Any] = field(default_factory=dict)
    """Of a BenchmarkRequest, but for its models."""
    errors: dict[str, str] = field(default_factory=dict)
    """By the field of FormValues; dims as `dim:NAME`."""
    words: list[str] = field(default_factory=list)
    """The flags that say the same."""

    def take(self, name: str, given: str, *, place: str = "") -> None:
        """Read the text of a request's field as its flag would be; '' is its default."""
        text = given.strip()
        if not text:
            return
        flag = _FLAGS[name]
        try:
            self.fields[name] = flag.read(flag.names[0], text)
        except UsageError as error:
            self.errors[place or name] = told(error, flag.names)
        if _UNSAID.get(name) != text:
            # What looks like a flag must be tied to the one that it belongs to.
            self.words += [f"{flag.names[-1]}={text}"] if text.startswith("-") else [flag.names[0], text]

    def require(self, place: str, topology: Topology, flag: str, **given: Any) -> None:
        """Have one axis read by itself, so that what is wrong with it stands beside it."""
        try:
            to_spec(BenchmarkRequest(models=(), **given), topology)
        except UsageError as error:
            self.errors.setdefault(place, told(error, (flag,)))


def read_form(values: FormValues, topology: Topology) -> Reading:
    """Every field by itself, so that all that is wrong can be said at once; models are only looked for."""
    reading = Reading()
    _find_model(reading, "model", values.model)
    if values.against.strip():
        _find_model(reading, "against", values.against)
    reading.take("engines", ",".join(values.engines))
    if not values.engines:
        reading.errors["engines"] = "choose at least one"
    for name in _TEXTS:
        reading.take(name, getattr(values, name))
    for name in _AXES:
        if name in reading.fields:
            reading.require(name, topology, _FLAGS[name].names[0], **{name: reading.fields[name]})
    _take_dims(reading, values, topology)
    _take_effort(reading, values)
    _take_flags(reading, values.flags, topology)
    return reading


def to_request(values: FormValues, reading: Reading) -> BenchmarkRequest:
    """The request of a form in which nothing is wrong."""
    return BenchmarkRequest(models=models_of(values), **reading.fields)


def models_of(values: FormValues) -> tuple[str, ...]:
    """The models that a form names."""
    return tuple(token.strip() for token in (values.model, values.against) if token.strip())


def to_command(values: FormValues, reading: Reading) -> str:
    """The shell command that does the same, without what is the default anyway."""
    models = models_of(values)
    partner = values.compare_to.strip()
    flags = [*reading.words, *([_FLAGS["compare_to"].names[0], partner] if partner else [])]
    guard = ["--"] if any(token.startswith("-") for token in models) else []
    words = [*flags, *guard, *models] if guard else [*models, *flags]
    return shlex.join(["tuibench", "benchmark", *words])


def told(error: TuibenchError, flags: Iterable[str] = ()) -> str:
    """An error beside its field, which need not be named again."""
    message = error.message
    for flag in flags:
        message = message.removeprefix(f"{flag} ").removeprefix(f"{flag}: ")
    return f"{message}; {error.hint}" if error.hint else message


def values_of(spec: BenchmarkSpec, models: Iterable[ModelSource], name: str = "") -> FormValues:
    """The form that would measure a stored benchmark again; UsageError where it has no room for all of it."""
    sources = list(models)
    if len(sources) > MOST_MODELS:
        what = f"it measured {len(sources)} models, and the form has room for two"
        raise UsageError(what, "a re-run without changes, or the shell, measures all of them")
    found = recall(spec, {})
    fixed = spec.effort.target is None
    base = EFFORTS["default"] if fixed else EFFORTS.get(spec.effort.name, EFFORTS["default"])
    if fixed and found.get("executions") == base.min_executions:
        found.pop("executions")
    target = "" if fixed or spec.effort.target == base.target else f"{100 * (spec.effort.target or 0):.6g}"
    return FormValues(
        model=token_of(sources[0]) if sources else "",
        engines=spec.engines,
        scenarios=",".join(spec.scenarios),
        cores=",".join(map(str, spec.cores)),
        batches=",".join(map(str, spec.batches)),
        dims=tuple((dim, ",".join(map(str, sizes))) for dim, sizes in spec.dims),
        streams="" if spec.streams is None else str(spec.streams),
        pin=spec.pin,
        precision=spec.precision,
        effort="fixed" if fixed else base.name,
        time_s=f"{found['time_s']:.12g}" if fixed else "10",
        warmup_s="" if spec.effort.warmup_s == base.warmup_s else f"{spec.effort.warmup_s:.12g}",
        target=target,
        against=token_of(sources[1]) if len(sources) == MOST_MODELS else "",
        name=name,
        flags=shlex.join(_flag_words(found)),
    )


def _flag_words(found: Mapping[str, Any]) -> list[str]:
    """What the form has no field for, as it would be typed."""
    words = []
    for name in _EXTRA:
        value = found.get(name, _DEFAULTS.get(name))
        if value == _DEFAULTS.get(name):
            continue
        flag = _FLAGS[name].names[-1]
        words.append(flag if value is True else f"{flag}={_typed(value)}")
    return words


def _typed(value: object) -> str:
    if isinstance(value, tuple):
        return ",".join(f"[{','.join(map(str, shape))}]" for shape in value)
    return f"{value:.12g}" if isinstance(value, float) else str(value)


def _find_model(reading: Reading, place: str, token: str) -> None:
    if not token.strip():
        reading.errors[place] = "a model is needed: a path to an .onnx file, or sample"
        return
    if is_remote(token.strip()):
        return  # it is fetched when everything else is right
    try:
        resolve_model(token.strip())
    except TuibenchError as error:
        reading.errors[place] = told(error)


def _take_dims(reading: Reading, values: FormValues, topology: Topology) -> None:
    given = [(name, text.strip()) for name, text in values.dims if text.strip()]
    for name, text in given:
        flag = f"--dim {show(name, 60)}"
        reading.require(f"dim:{name}", topology, flag, dims=(f"{name}={text}",))
        reading.words.append(f"--dim={name}={text}")
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


def _take_flags(reading: Reading, text: str, topology: Topology) -> None:
    """Further flags; what the form has a field for is not said twice."""
    try:
        split = shlex.split(text)
        words, found = FlagReader(FLAGS).split(split)
    except ValueError as error:
        reading.errors["flags"] = f"cannot be read: {error}".lower()
        return
    except UsageError as error:
        reading.errors["flags"] = told(error)
        return
    strange = [_FLAGS[name].names[0] for name in found if name not in _EXTRA]
    if words or strange:
        what = f"{strange[0]} is not for here" if strange else f"{show(words[0], 40)} is no flag"
        reading.errors["flags"] = f"{what}; such as --seed 1 or --inputs FILE.npz"
        return
    reading.fields |= found
    reading.words += split
    try:
        to_effort(BenchmarkRequest(models=(), **reading.fields))
    except UsageError as error:
        reading.errors["flags"] = told(error)
    reading.require("flags", topology, "", **found)
