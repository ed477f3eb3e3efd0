"""Reads the typed values of a profile into a specification; reports all errors at once, by field."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from tuibench.core.errors import ModelError, TuibenchError, UsageError
from tuibench.core.model import is_remote
from tuibench.core.scenario import PROFILED
from tuibench.core.settings import profile as profile_setting
from tuibench.core.settings.kinds import Context, Topology
from tuibench.core.settings.model_token import resolve_inputs, resolve_model
from tuibench.core.settings.setting import Setting, build_sections, in_spec_order
from tuibench.core.spec import EFFORTS, LOSS, PERFORMANCE, BenchmarkSpec, ModelSource
from tuibench.core.text import show

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
        kind = type(every[0]) if len({error.exit_code for error in every}) == 1 else UsageError
        hint = every[0].hint if len(every) == 1 else ""
        raise kind("; ".join(dict.fromkeys(error.message for error in every)), hint)


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
                way = "leave --loss out" if kind == LOSS else "give --loss"
                self.errors[name] = UsageError(f"{setting.flag} belongs to a {setting.of} profile", way)
        return found

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
                what = f"{show(token, 80)}: an .ort file has no nodes by which layers could be told"
                raise ModelError(what, "profile the .onnx file that it was made from")
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
