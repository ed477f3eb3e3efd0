"""What is typed of a profile, and the specification that this means: all that is wrong is said at once, by field."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TypeVar

from tuibench.core import engine as engine_names
from tuibench.core import ranges
from tuibench.core.errors import ModelError, TuibenchError, UsageError
from tuibench.core.profile_spec import LEVELS, LOSS, PERFORMANCE, WHAT_IF, ProfileSpec
from tuibench.core.remote import is_remote
from tuibench.core.scenario import PROFILED
from tuibench.core.spec import EFFORTS, BenchmarkSpec, InputSettings, Limits, ModelSource
from tuibench.core.text import show
from tuibench.request import value
from tuibench.request.axis import Axis, parse_integers, parse_names
from tuibench.request.model_token import resolve_inputs, resolve_model
from tuibench.request.translation import Topology

T = TypeVar("T")

_DISTINCT = 8
_USUAL = ProfileSpec(PERFORMANCE)
_OF_LOSS = {"samples": "--samples", "levels": "--level", "budget": "--budget", "approximate": "--approximate"}
_OF_PERFORMANCE = {"runs": "--runs", "processes": "--processes", "what_if": "--what-if",
                   "fresh_roofs": "--fresh-roofs"}  # fmt: skip


@dataclass(frozen=True, slots=True)
class ProfileValues:
    """The texts of a form, or of a command line; '' leaves a field to its default."""

    model: str = ""
    kind: str = PERFORMANCE
    engine: str = ""
    cores: str = ""
    batch: str = ""
    sequence_length: str = ""
    dims: tuple[str, ...] = ()
    """'NAME=N' each."""
    shapes: str = ""
    batch_dim: str = ""
    inputs_file: str = ""
    seed: str = ""
    runs: str = ""
    processes: str = ""
    what_if: str = ""
    fresh_roofs: bool = False
    samples: str = ""
    levels: tuple[str, ...] = ()
    """'int8' or 'pruned 0.9' each, or the share alone."""
    budget: bool = False
    approximate: bool = False
    max_time: str = ""
    timeout: str = ""
    memory_limit: str = ""


@dataclass(frozen=True, slots=True)
class ProfileReading:
    """What the values mean, or what is wrong with which of them."""

    spec: BenchmarkSpec | None
    errors: Mapping[str, TuibenchError] = field(default_factory=dict)
    """By the name of a field of ProfileValues; dims as `dim:NAME`."""
    notes: tuple[str, ...] = ()

    def require(self) -> BenchmarkSpec:
        """The specification; else everything that is wrong as one error, with the exit code that all of it has."""
        if self.spec is not None:
            return self.spec
        every = list(self.errors.values())
        kind = type(every[0]) if len({error.exit_code for error in every}) == 1 else UsageError
        hint = every[0].hint if len(every) == 1 else ""
        raise kind("; ".join(dict.fromkeys(error.message for error in every)), hint)


def read_profile(
    values: ProfileValues, topology: Topology, fetch: Callable[[str], ModelSource] | None = None
) -> ProfileReading:
    """The specification of a profile; a model that lies elsewhere is fetched once nothing else is wrong."""
    reader = _Reader(values)
    engine = reader.read("engine", _engine, "-e", engine_names.timed()[0])
    usable = topology.usable_cores
    axis = Axis("-ncores", 1, usable, "physical cores usable here", min(topology.node_cores, usable))
    cores = reader.read("cores", _one(axis, "core count"), "-ncores", topology.default_cores)
    batch = reader.read("batch", _one(_BATCH, "batch size"), "-b", None)
    length = reader.read("sequence_length", _one(_LENGTH, "length"), "-seq_len", None)
    dims = reader.dims()
    asked = reader.asked()
    inputs = reader.inputs(asked.samples if asked.kind == LOSS else _DISTINCT)
    limits = reader.limits()
    model = reader.model(fetch)
    if reader.errors or model is None:
        return ProfileReading(None, reader.errors)
    spec = BenchmarkSpec(
        models=(model,), engines=(engine,), scenarios=(PROFILED,), cores=(cores,),
        batches=() if batch is None else (batch,), dims=tuple((name, (size,)) for name, size in dims.items()),
        sequence_lengths=() if length is None else (length,), streams=None, stream_kind=None, pin="core",
        precision="f32", io=None, effort=EFFORTS["default"], inputs=inputs, limits=limits, check=False, profile=asked,
    )  # fmt: skip
    return ProfileReading(spec)


_BATCH = Axis("-b", *ranges.BATCH, has_max=False)
_LENGTH = Axis("-seq_len", 1, None)


class _Reader:
    """Reads one field after the other, and goes on where one is wrong."""

    def __init__(self, values: ProfileValues) -> None:
        self._values = values
        self.errors: dict[str, TuibenchError] = {}

    def read(self, name: str, read: Callable[[str, str], T], flag: str, default: T) -> T:
        text = str(getattr(self._values, name)).strip()
        if not text:
            return default
        return self._kept(name, lambda: read(flag, text), default)

    def _kept(self, name: str, read: Callable[[], T], default: T) -> T:
        try:
            return read()
        except TuibenchError as error:
            self.errors[name] = error
            return default

    def dims(self) -> dict[str, int]:
        """Zero is a length that models take: the past of a decoder at its first token."""
        dims: dict[str, int] = {}
        for text in self._values.dims:
            name, equals, size = text.rpartition("=")
            shown = show(name or text, 60)
            if not equals or not name:
                self.errors[f"dim:{shown}"] = UsageError(f"--dim takes NAME=N, not '{show(text, 60)}'")
            elif name in dims:
                self.errors[f"dim:{shown}"] = UsageError(f"--dim {shown} is given twice", "a profile has one of each")
            else:
                read = _one(Axis(f"--dim {shown}", 0, None), "size")
                dims[name] = self._kept(f"dim:{name}", partial(read, "--dim", size), 0)
        return dims

    def asked(self) -> ProfileSpec:
        values, loss = self._values, self._values.kind == LOSS
        for name, flag in (_OF_PERFORMANCE if loss else _OF_LOSS).items():
            if getattr(values, name):
                kind = PERFORMANCE if loss else LOSS
                self.errors[name] = UsageError(f"{flag} belongs to a {kind} profile", _way_to(kind))
        levels = [self._kept("levels", partial(_level, text), LEVELS[0]) for text in values.levels]
        return ProfileSpec(
            kind=values.kind,
            runs=self.read("runs", value.whole(*ranges.PROFILE_RUNS), "--runs", _USUAL.runs),
            what_if=self.read("what_if", _forms, "--what-if", ()),
            levels=tuple(level for level in LEVELS if level in levels) if levels else LEVELS,
            samples=self.read("samples", value.whole(*ranges.PROFILE_SAMPLES), "--samples", _USUAL.samples),
            budget=values.budget,
            approximate=values.approximate,
            processes=self.read("processes", value.whole(*ranges.PROFILE_PROCESSES), "--processes", _USUAL.processes),
            fresh_roofs=values.fresh_roofs,
        )

    def inputs(self, distinct: int) -> InputSettings:
        values, file = self._values, None
        if values.inputs_file:
            file = self._kept("inputs_file", lambda: resolve_inputs(values.inputs_file), values.inputs_file)
        return InputSettings(
            seed=self.read("seed", value.whole(*ranges.SEED), "--seed", 0),
            distinct=distinct,
            file=file,
            shapes=self.read("shapes", value.shapes, "-i", ()),
            batch_dim=values.batch_dim or None,
        )

    def limits(self) -> Limits:
        return Limits(
            self.read("max_time", value.decimal(*ranges.MAX_TIME_S, "seconds"), "--max-time", None),
            self.read("timeout", value.decimal(*ranges.TIMEOUT_SCALE, "a factor"), "--timeout", 1.0),
            self.read("memory_limit", value.size, "--memory-limit", None),
        )

    def model(self, fetch: Callable[[str], ModelSource] | None) -> ModelSource | None:
        """Fetching takes long, so that everything else should be right before."""
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


def _engine(flag: str, text: str) -> str:
    names, _ = parse_names(text, flag)
    if len(names) > 1:
        raise UsageError(f"{flag} takes one engine here, not '{show(text, 40)}'", "a profile is of one engine")
    return names[0]


def _one(axis: Axis, noun: str) -> Callable[[str, str], int]:
    """A reader of what is a list elsewhere."""
    single = replace(axis, is_list=False)

    def read(flag: str, text: str) -> int:  # noqa: ARG001 - the axis knows its flag with all that belongs to it
        values, _ = parse_integers(text, single)
        if len(values) > 1:
            what = f"{axis.flag} takes one value here, not '{show(text, 40)}'"
            raise UsageError(what, f"a profile has one {noun}; tuibench benchmark takes lists")
        return values[0]

    return read


def _forms(flag: str, text: str) -> tuple[str, ...]:
    names, _ = parse_names(text, flag, WHAT_IF)
    return names


def _level(text: str) -> str:
    plain = text.strip().lower()
    known = {level: level for level in LEVELS} | {level.removeprefix("pruned "): level for level in LEVELS}
    if plain not in known:
        raise UsageError(f"--level takes {', '.join(LEVELS[:-1])} or {LEVELS[-1]}, not '{show(text, 40)}'")
    return known[plain]


def _way_to(kind: str) -> str:
    return "give --loss" if kind == LOSS else "leave --loss out"


def profile_values(spec: BenchmarkSpec) -> ProfileValues:
    """The values that `read_profile` makes `spec` of again: for forms that begin with it, and for its command."""
    asked = spec.profile or _USUAL
    loss, inputs, limits = asked.kind == LOSS, spec.inputs, spec.limits
    shapes = ",".join(f"[{','.join(map(str, shape))}]" for shape in inputs.shapes)
    return ProfileValues(
        model=spec.models[0].asked,
        kind=asked.kind,
        engine=spec.engines[0],
        cores=str(spec.cores[0]),
        batch="".join(map(str, spec.batches[:1])),
        sequence_length="".join(map(str, spec.sequence_lengths[:1])),
        dims=tuple(f"{name}={values[0]}" for name, values in spec.dims),
        shapes=shapes,
        batch_dim=inputs.batch_dim or "",
        inputs_file=inputs.file or "",
        seed=str(inputs.seed),
        runs="" if loss else str(asked.runs),
        processes="" if loss else str(asked.processes),
        what_if="" if loss else ",".join(asked.what_if),
        fresh_roofs=not loss and asked.fresh_roofs,
        samples=str(asked.samples) if loss else "",
        levels=asked.levels if loss and asked.levels != LEVELS else (),
        budget=loss and asked.budget,
        approximate=loss and asked.approximate,
        max_time="" if limits.max_time_s is None else _plain(limits.max_time_s),
        timeout="" if limits.timeout_scale == 1 else _plain(limits.timeout_scale),
        memory_limit="" if limits.memory_bytes is None else str(limits.memory_bytes),
    )


def _plain(number: float) -> str:
    return str(int(number)) if number == int(number) and number < 1e15 else repr(number)
