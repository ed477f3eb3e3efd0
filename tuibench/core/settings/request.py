"""Requests of benchmarks and profiles to specifications and back; both directions use the table of settings."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import field, replace
from typing import Any

from tuibench.core import engine, scenario
from tuibench.core.errors import ExclusiveFlags, ModelError, TuibenchError, UsageError
from tuibench.core.model import is_remote, public_name
from tuibench.core.scenario import PROFILED
from tuibench.core.settings import benchmark as benchmark_setting
from tuibench.core.settings import profile as profile_setting
from tuibench.core.settings.kinds import Context, Topology, nearest
from tuibench.core.settings.model_token import resolve_inputs, resolve_model
from tuibench.core.settings.setting import EFFORT, Setting, build_sections, in_spec_order
from tuibench.core.spec import EFFORTS, LOSS, PERFORMANCE, BenchmarkSpec, Effort, ModelSource
from tuibench.core.text import show
from tuibench.core.value import dataclass


class BenchmarkRequest:
    """A `tuibench benchmark` command as typed: its models, and the values of settings by name.

    Axes are still text, because their upper ends depend on the machine.
    """

    __slots__ = ("given", "models")

    def __init__(self, models: tuple[str, ...], **given: Any) -> None:
        unknown = given.keys() - benchmark_setting.by_name()
        if unknown:
            raise TypeError(f"no setting: {', '.join(sorted(unknown))}")
        self.models = models
        self.given: Mapping[str, Any] = given

    def __getattr__(self, name: str) -> Any:
        known = benchmark_setting.by_name().get(name) if not name.startswith("_") else None
        if known is None:
            raise AttributeError(name)
        return self.given.get(name, known.default)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, BenchmarkRequest):
            return NotImplemented
        return self.models == other.models and self._values() == other._values()

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"BenchmarkRequest({self.models!r}, **{dict(self.given)!r})"

    def _values(self) -> dict[str, Any]:
        return {one.name: self.given.get(one.name, one.default) for one in benchmark_setting.settings()}


@dataclass(frozen=True, slots=True)
class RerunRequest:
    """A `tuibench rerun` command as typed."""

    token: str
    """The benchmark to repeat."""
    changed: bool
    """True if a changed model may be measured."""
    paths: tuple[str, ...]
    """Present paths of the models."""
    given: Mapping[str, Any]
    """Values of the typed settings, by name."""


@dataclass(frozen=True, slots=True)
class DashboardRequest:
    """A `tuibench` command that opens the dashboard, with or without a model."""

    path: str = ""
    """A model whose form opens first; '' opens the list of projects."""
    mouse: bool | None = None
    """None: by the terminal and the config file."""
    ascii: bool = False
    debug: bool = False


@dataclass(frozen=True, slots=True)
class Info:
    """Text printed instead of measuring: help, the version, the list of samples."""

    text: str


def to_spec(
    request: BenchmarkRequest, topology: Topology, fetch: Callable[[str], ModelSource] | None = None
) -> tuple[BenchmarkSpec, tuple[str, ...]]:
    """Return the spec and notes for the user; check all settings before any model.

    Remote models are fetched by `fetch` only after everything else was checked.
    """
    context = Context(topology, resolve_inputs, [])
    values: dict[str, Any] = {}
    settings = in_spec_order(benchmark_setting.settings())
    for setting in settings:
        if setting.at == EFFORT:
            values[setting.name] = to_effort(request)
        else:
            flag = setting.flags[0]
            values[setting.name] = setting.kind.settle(flag, getattr(request, setting.name), context)
    values["streams"] = _streams(request.streams, values["scenarios"], context.notes)
    wants_weights = all(
        engine.reads(one, engine.SAFETENSORS) and not engine.reads(one, "onnx") for one in values["engines"]
    )
    models = _models(request.models, context.notes, fetch, wants_weights)
    return BenchmarkSpec(models=models, **build_sections(settings, values)), tuple(context.notes)


def to_effort(request: BenchmarkRequest) -> Effort:
    """Return the effort, which sets the duration of a measurement.

    A named effort is the base; `--target` and `-w` replace single values of it. `-t SEC` and `--executions K` fix the
    amount, so they switch the target off. K executions (without `--executions`: the base's minimum) share SEC seconds
    (without `-t`: each runs for the base's time). The limit per cell is raised where it would end the measurement
    early. `-t` and `--executions` can be combined; neither can be combined with `--target`.
    """
    if request.quick and request.precise:
        raise ExclusiveFlags("flags_exclude", first="--quick", second="--precise")
    base = EFFORTS["quick" if request.quick else "precise" if request.precise else "default"]
    if request.warmup_s is not None:
        base = replace(base, warmup_s=request.warmup_s)
    if request.time_s is None and request.executions is None:
        return base if request.target is None else replace(base, target=request.target)
    if request.target is not None:
        fixed = "-t" if request.time_s is not None else "--executions"
        raise ExclusiveFlags("amount_excludes_target", first=fixed, second="--target")
    count = request.executions or base.min_executions
    timed_s = base.timed_s if request.time_s is None else request.time_s / count
    room_s = count * (3 * timed_s + base.warmup_s + 10)
    return replace(
        base, min_executions=count, max_executions=count, timed_s=timed_s, target=None,
        limit_s=max(base.limit_s, room_s),
    )  # fmt: skip


def effort_values(effort: Effort) -> dict[str, Any]:
    """Return the values of the settings that make this effort; the inverse of `to_effort`."""
    found: dict[str, Any] = {effort.name: True} if effort.name in EFFORTS and effort.name != "default" else {}
    if effort.target is None:
        count = effort.max_executions
        total_s = nearest(effort.timed_s * count, effort.timed_s, lambda seconds: seconds / count)
        found |= {"executions": count, "time_s": total_s}
    else:
        found["target"] = effort.target
    return found | {"warmup_s": effort.warmup_s}


def to_values(spec: BenchmarkSpec) -> dict[str, Any]:
    """Return the values of a request, by name, that read back to `spec`, without its models.

    A setting at its default is omitted, unless a changed default would change the result.
    """
    settings = benchmark_setting.settings()
    unknown = spec.options.keys() - {setting.name for setting in settings}
    if unknown:
        raise UsageError("unknown_setting", name=min(unknown))
    found: dict[str, Any] = {}
    for setting in in_spec_order(settings):
        if setting.at == EFFORT:
            found |= effort_values(spec.effort) if "warmup_s" not in found else {}
            continue
        value = setting.kind.recall(setting.stored(spec))
        if value != setting.default or setting.always_spelled:
            found[setting.name] = value
    return found


def recall(spec: BenchmarkSpec, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of a stored benchmark updated with `given`; raise UsageError for one out of range."""
    known, found = benchmark_setting.by_name(), to_values(spec)
    for name in given:
        for replaced in known[name].replaces:
            found.pop(replaced, None)
    for name, value in found.items():
        setting = known[name]
        if not setting.many and name not in given:
            setting.kind.check(setting.flag, value)
    if "dims" in given:
        found["dims"] = _merge(found.get("dims", ()), given["dims"])
    return {**found, **{name: value for name, value in given.items() if name != "dims"}}


def repeat(
    spec: BenchmarkSpec, sources: Sequence[ModelSource], given: Mapping[str, Any], topology: Topology, name: str
) -> tuple[BenchmarkRequest, BenchmarkSpec, tuple[str, ...]]:
    """Return the request, spec and notes of a stored benchmark updated with `given`, named `name` by default."""
    request = BenchmarkRequest(tuple(source.path for source in sources), **{"name": name, **recall(spec, given)})
    found, notes = to_spec(request, topology)
    known = benchmark_setting.by_name()
    is_other = any(known[one].at == EFFORT for one in given)
    named = {os.path.abspath(source.path): source for source in sources}
    models = tuple(named[source.path] for source in found.models)
    return request, replace(found, models=models, effort=found.effort if is_other else spec.effort), notes


def _merge(stored: tuple[str, ...], given: tuple[str, ...]) -> tuple[str, ...]:
    """Merge 'NAME=LIST' texts; a given list replaces the stored list of the same name."""
    names = {text.rpartition("=")[0] for text in given}
    return (*(text for text in stored if text.rpartition("=")[0] not in names), *given)


def _models(
    tokens: tuple[str, ...], notes: list[str], fetch: Callable[[str], ModelSource] | None, wants_weights: bool
) -> tuple[ModelSource, ...]:
    here = {token: resolve_model(token, wants_weights=wants_weights) for token in tokens if not is_remote(token)}
    sources: dict[str, ModelSource] = {}
    for token in tokens:
        source = here.get(token) or resolve_model(token, fetch=fetch)
        if sources.setdefault(os.path.realpath(source.path), source) is not source:
            notes.append(f"{show(public_name(token), 80)}: given more than once, measured once")
    return tuple(sources.values())


def _streams(asked: int | None, scenarios: tuple[str, ...], notes: list[str]) -> int | None:
    if asked is None or scenario.any_streams(scenarios):
        return asked
    if asked > 1:
        notes.append(f"-nstreams {asked}: sync has one request at a time, so 1 stream is used")
    return None


_FIXED: Mapping[str, Any] = {
    "scenarios": (PROFILED,), "streams": None, "stream_kind": None, "pin": "core", "precision": "f32", "io": None,
    "effort": EFFORTS["default"], "check": False,
}  # fmt: skip
"""Settings of a benchmark that are the same for every profile."""


class ProfileValues:
    """Texts of a form or a command line by setting; '' is the default.

    Switches are booleans; settings that may be repeated are tuples of texts.
    """

    __slots__ = ("given", "kind", "model")

    def __init__(self, model: str = "", kind: str = PERFORMANCE, **given: Any) -> None:
        unknown = given.keys() - profile_setting.by_name()
        if unknown:
            raise TypeError(f"no setting: {', '.join(sorted(unknown))}")
        self.model = model
        self.kind = kind
        self.given: Mapping[str, Any] = given

    def __getattr__(self, name: str) -> Any:
        setting = profile_setting.by_name().get(name) if not name.startswith("_") else None
        if setting is None:
            raise AttributeError(name)
        return self.given.get(name, False if setting.kind.is_switch else () if setting.many == "each" else "")

    def changed(self, **changes: Any) -> ProfileValues:
        """Return a copy with some values replaced."""
        return ProfileValues(**{"model": self.model, "kind": self.kind, **self.given, **changes})


@dataclass(frozen=True, slots=True)
class ProfileReading:
    """The specification read from the values, or the errors by field."""

    spec: BenchmarkSpec | None
    errors: Mapping[str, TuibenchError] = field(default_factory=dict)
    """By field of ProfileValues; dims as `dim:NAME`."""
    notes: tuple[str, ...] = ()

    def require(self) -> BenchmarkSpec:
        """Return the specification; raise all errors as one, with their exit code if they share it."""
        if self.spec is not None:
            return self.spec
        every = list(self.errors.values())
        reasons = list(dict.fromkeys(error.reason for error in every))
        if len(reasons) == 1:
            raise every[0]
        kind = type(every[0]) if len({error.exit_code for error in every}) == 1 else UsageError
        raise kind("several", reasons=reasons)


def read_profile(
    values: ProfileValues, topology: Topology, fetch: Callable[[str], ModelSource] | None = None
) -> ProfileReading:
    """Return the specification of a profile; a remote model is fetched only if nothing else is wrong."""
    reader = _Reader(values, Context(topology, resolve_inputs, []))
    found = reader.settled()
    model = reader.model(fetch)
    if reader.errors or model is None:
        return ProfileReading(None, reader.errors)
    spec = BenchmarkSpec(models=(model,), **_FIXED, **build_sections(profile_setting.settings(), found))
    if values.kind == LOSS:
        spec = replace(spec, inputs=replace(spec.inputs, distinct=found["samples"]))
    return ProfileReading(spec)


class _Reader:
    """Reads each field and continues after an error."""

    def __init__(self, values: ProfileValues, context: Context) -> None:
        self._values = values
        self._context = context
        self.errors: dict[str, TuibenchError] = {}

    def settled(self) -> dict[str, Any]:
        """Return the values of the specification by setting; record an error for each value that cannot be read."""
        kind = self._values.kind
        found: dict[str, Any] = {}
        for setting in in_spec_order(profile_setting.settings()):
            name = setting.name
            if name == "loss":
                found[name] = kind
            elif name == "dims":
                found[name] = self._dims(setting)
            elif not setting.of or setting.of == kind:
                with self._kept(name):
                    found[name] = self._settle(setting)
            elif getattr(self._values, name):
                code = "needs_time_profile" if kind == LOSS else "needs_loss_profile"
                self.errors[name] = UsageError(code, subject=setting.flag)
        if "engine" in found:
            self._check_forms(found.get("what_if", ()), found["engine"][0])
        return found

    def _check_forms(self, forms: Sequence[str], engine_id: str) -> None:
        known = engine.forms_of(engine_id)
        for form in forms:
            if form not in known:
                able = [name for name in engine.timed() if form in engine.forms_of(name)]
                self.errors["what_if"] = UsageError("form_of_other_engines", form=form, engine=engine_id, names=able)

    def _settle(self, setting: Setting) -> Any:
        kind, flag, given = setting.kind, setting.flags[0], getattr(self._values, setting.name)
        if not kind.is_switch and setting.many != "each":
            given = given if kind.is_free else str(given).strip()
            given = setting.default if not given else given if setting.many else kind(flag, given)
        return kind.settle(flag, given, self._context)

    @contextmanager
    def _kept(self, place: str) -> Iterator[None]:
        try:
            yield
        except TuibenchError as error:
            self.errors[place] = error

    def _dims(self, setting: Setting) -> tuple[tuple[str, tuple[int, ...]], ...]:
        """Read each dim separately; if a name is given twice, its second value gets the error."""
        dims: dict[str, str] = {}
        found: list[tuple[str, tuple[int, ...]]] = []
        for text in self._values.dims:
            name = text.rpartition("=")[0]
            both = (dims[name], text) if name in dims else (text,)
            with self._kept(f"dim:{name or show(text, 60)}"):
                found += setting.kind.settle(setting.flag, both, self._context)
            dims.setdefault(name, f"{name}=0")
        return tuple(found)

    def model(self, fetch: Callable[[str], ModelSource] | None) -> ModelSource | None:
        """Return the model; a remote one is fetched only if nothing else is wrong, because fetching takes long."""
        token = self._values.model
        if self.errors and fetch is not None and is_remote(token):
            return None
        try:
            source = resolve_model(token, fetch=fetch)
            if source.path.endswith(".ort"):
                raise ModelError("ort_file_has_no_layers", model=token)
        except TuibenchError as error:
            self.errors.setdefault("model", error)
            return None
        return source


def stored_values(spec: BenchmarkSpec) -> Iterator[tuple[Setting, Any]]:
    """Yield each setting in a profile's command with its value, in the order of the help."""
    kind = spec.profile.kind if spec.profile is not None else PERFORMANCE
    for setting in profile_setting.settings():
        if setting.at and setting.of in ("", kind):
            value = setting.kind.recall(setting.stored(spec))
            if value != setting.default or setting.always_spelled:
                yield setting, value


def profile_texts(spec: BenchmarkSpec) -> dict[str, Any]:
    """Return the values of a stored profile by setting, as they are typed."""
    return {setting.name: as_typed(setting, value) for setting, value in stored_values(spec)}


def as_typed(setting: Setting, value: Any) -> Any:
    """Return a value as ProfileValues have it: switches as booleans, repeated values as a tuple, all others as text."""
    return value if setting.kind.is_switch or setting.many else setting.kind.spell(value)


def profile_values(spec: BenchmarkSpec) -> ProfileValues:
    """Return the values that `read_profile` reads back to `spec`, for forms that start with them."""
    texts = profile_texts(spec)
    kind = LOSS if texts.pop("loss", False) else PERFORMANCE
    return ProfileValues(model=spec.models[0].asked, kind=kind, **texts)
