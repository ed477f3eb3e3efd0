"""From what was typed to the spec that a runner carries out, with the ends of axes filled in from the machine."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from typing import Protocol

from tuibench.core import engine, ranges, scenario
from tuibench.core.errors import UsageError
from tuibench.core.remote import is_remote, public_name
from tuibench.core.spec import EFFORTS, BenchmarkSpec, Effort, InputSettings, Limits, ModelSource
from tuibench.core.text import show
from tuibench.request.axis import Axis, parse_integers, parse_names
from tuibench.request.model_token import resolve_inputs, resolve_model
from tuibench.request.request import BenchmarkRequest
from tuibench.request.value import not_in_this_version


class Topology(Protocol):
    """What must be known about the machine to read `max` and `node`."""

    @property
    def default_cores(self) -> int:
        """Those that are used when nothing is asked: no more than a quota leaves whole."""

    @property
    def usable_cores(self) -> int:
        """Physical cores that affinity and quota leave to this process."""

    @property
    def node_cores(self) -> int:
        """Those of them on one NUMA node."""


def to_spec(
    request: BenchmarkRequest, topology: Topology, fetch: Callable[[str], ModelSource] | None = None
) -> tuple[BenchmarkSpec, tuple[str, ...]]:
    """Return the spec and what to tell the user about how it was read; everything typed is checked before any file.

    Models that lie elsewhere are fetched by `fetch` once nothing else can be wrong.
    """
    notes: list[str] = []
    engines = _names(request.engines, "-e", (), (engine.DEFAULT,), notes)
    scenarios = _scenarios(request.scenarios, notes)
    usable = topology.usable_cores
    cores_axis = Axis("-ncores", 1, usable, "physical cores usable here", min(topology.node_cores, usable))
    cores = _integers(request.cores, cores_axis, (topology.default_cores,), notes)
    batches = _integers(request.batches, Axis("-b", *ranges.BATCH, has_max=False), (), notes)
    lengths = _integers(request.sequence_lengths, Axis("-seq_len", 1, None), (), notes)
    dims = _dims(request.dims, notes)
    effort = to_effort(request)
    inputs = _inputs(request)
    models = _models(request.models, notes, fetch)
    spec = BenchmarkSpec(
        models=models, engines=engines, scenarios=scenarios, cores=cores, batches=batches, dims=dims,
        sequence_lengths=lengths, streams=_streams(request, scenarios, notes), stream_kind=request.stream_kind,
        pin=request.pin, precision=request.precision, io=request.io, effort=effort, inputs=inputs,
        limits=Limits(request.max_time_s, request.timeout_scale, request.memory_bytes), check=not request.no_check,
        keep_raw=request.keep_raw,
    )  # fmt: skip
    return spec, tuple(notes)


def to_effort(request: BenchmarkRequest) -> Effort:
    """Return how long to measure.

    One of the named efforts is the base. `--target` and `-w` replace single values of it. `-t SEC` and
    `--executions K` say how much to measure, so they switch the target off: K executions (without `--executions`
    as many as the base has at least) share SEC seconds (without `-t` each takes the base's time), and the limit per
    cell gives way, because it would otherwise cut short what was asked for. `-t` and `--executions` go together;
    neither goes with `--target`.
    """
    if request.quick and request.precise:
        raise UsageError("--quick and --precise exclude each other", "give one of them")
    base = EFFORTS["quick" if request.quick else "precise" if request.precise else "default"]
    if request.warmup_s is not None:
        base = replace(base, warmup_s=request.warmup_s)
    if request.time_s is None and request.executions is None:
        return base if request.target is None else replace(base, target=request.target)
    if request.target is not None:
        fixed = "-t" if request.time_s is not None else "--executions"
        raise UsageError(f"{fixed} fixes how much is measured, --target how precisely", "give one of them")
    count = request.executions or base.min_executions
    timed_s = base.timed_s if request.time_s is None else request.time_s / count
    room_s = count * (3 * timed_s + base.warmup_s + 10)
    return replace(
        base, min_executions=count, max_executions=count, timed_s=timed_s, target=None,
        limit_s=max(base.limit_s, room_s),
    )  # fmt: skip


def _names(
    text: str | None, flag: str, allowed: tuple[str, ...], default: tuple[str, ...], notes: list[str]
) -> tuple[str, ...]:
    if text is None:
        return default
    names, said = parse_names(text, flag, allowed)
    notes += said
    return names


def _scenarios(text: str | None, notes: list[str]) -> tuple[str, ...]:
    asked = {token.strip().lower() for token in (text or "").split(",")}
    for later in scenario.names(planned=True):
        if later in asked:
            raise not_in_this_version(f"-s {later}")
    return _names(text, "-s", scenario.names(), scenario.DEFAULT, notes)


def _integers(text: str | None, axis: Axis, default: tuple[int, ...], notes: list[str]) -> tuple[int, ...]:
    if text is None:
        return default
    values, said = parse_integers(text, axis)
    notes += said
    return values


def _dims(texts: tuple[str, ...], notes: list[str]) -> tuple[tuple[str, tuple[int, ...]], ...]:
    dims: dict[str, tuple[int, ...]] = {}
    for text in texts:
        # Lists hold no '=', names in models may.
        name, equals, values = text.rpartition("=")
        if not equals or not name:
            raise UsageError(f"--dim takes NAME=LIST, not '{show(text, 60)}'", "such as --dim height=224,320")
        if name in dims:
            raise UsageError(f"--dim {show(name, 60)} is given twice", "one list holds all its values: NAME=32,64")
        # Zero is a length that models take: the past of a decoder at its first token.
        dims[name] = _integers(values, Axis(f"--dim {show(name, 60)}", 0, None), (), notes)
    return tuple(dims.items())


def _models(
    tokens: tuple[str, ...], notes: list[str], fetch: Callable[[str], ModelSource] | None
) -> tuple[ModelSource, ...]:
    here = {token: resolve_model(token) for token in tokens if not is_remote(token)}
    sources: dict[str, ModelSource] = {}
    for token in tokens:
        source = here.get(token) or resolve_model(token, fetch=fetch)
        if sources.setdefault(os.path.realpath(source.path), source) is not source:
            notes.append(f"{show(public_name(token), 80)}: given more than once, measured once")
    return tuple(sources.values())


def _streams(request: BenchmarkRequest, scenarios: tuple[str, ...], notes: list[str]) -> int | None:
    if request.streams is None or scenario.any_streams(scenarios):
        return request.streams
    if request.streams > 1:
        notes.append(f"-nstreams {request.streams}: sync has one request at a time, so 1 stream is used")
    return None


def _inputs(request: BenchmarkRequest) -> InputSettings:
    file = resolve_inputs(request.inputs_file) if request.inputs_file is not None else None
    return InputSettings(request.seed, request.distinct, file, request.shapes, request.batch_dim)
