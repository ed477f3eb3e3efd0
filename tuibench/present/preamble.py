"""The text before measuring: the run's plan, CPUs and inputs with the flags that change them, and the dry run."""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TypeVar

from tuibench.core.cell import Cell
from tuibench.core.engine import with_version
from tuibench.core.label import model_names
from tuibench.core.model import FedInput, ModelSummary, Point
from tuibench.core.reason import Failure
from tuibench.core.record import to_plain
from tuibench.core.scenario import find
from tuibench.core.spec import BenchmarkSpec
from tuibench.core.text import cut, show
from tuibench.core.units import count_of, cpu_ranges, scaled, seconds, short, size
from tuibench.present.reason import failure_words, reason_words
from tuibench.present.table import Column, as_text, table_lines, wrap_lines

T = TypeVar("T")
K = TypeVar("K", bound=Hashable)

_MOST_VALUES = 6
_MOST_HOWS = 3


def feed_lines(points: Sequence[Point], names: Sequence[str], *, rotating: bool = True) -> list[str]:
    """Return every fed input and every chosen dim; `names` are the names of the models, in their order.

    `rotating` adds the number of samples that a benchmark rotates over.
    """
    several = len({point.model for point in points}) > 1
    lines: list[str] = []
    for index in dict.fromkeys(point.model for point in points):
        name = show(names[index], 60) if index < len(names) else ""
        own = [point for point in points if point.model == index]
        lines += [f"{name}: {line}" if several else line for line in _lines_of_model(own)]
    counts = dict.fromkeys(str(point.distinct) for point in points if point.failure is None and point.distinct > 1)
    if counts and rotating:
        lines.append(f"Rotating over {' or '.join(counts)} samples (--distinct-inputs 1 for the hot loop)")
    return lines


def failure_of(point: Point) -> str:
    """Return why a point has no inputs; '' if it has some."""
    if point.failure is None:
        return ""
    failure = point.failure
    return reason_words(failure.message, 300) if failure.kind == "inputs" else failure_words(failure)


def _lines_of_model(points: Sequence[Point]) -> Iterator[str]:
    fed = [point for point in points if point.failure is None]
    for name in dict.fromkeys(one.name for point in fed or points for one in point.inputs):
        yield from _input_lines(name, [one for point in fed or points for one in point.inputs if one.name == name])
    for name in dict.fromkeys(name for point in points for name in point.chosen):
        values = _values(point.chosen[name] for point in points if name in point.chosen)
        yield f"Chosen: {show(name, 60)} = {values} (--dim {show(name, 60)}=N changes it)"
    for note, of in _group(points, lambda point: point.notes):
        yield f"{_place(of, points)}{show(note, 300)}"
    for why, of in _group(points, lambda point: tuple(filter(None, [failure_of(point)]))):
        place = _place(of, points)
        yield f"{'' if why.startswith(place) else place}No inputs: {why}"


def _input_lines(name: str, fed: Sequence[FedInput]) -> Iterator[str]:
    """Yield one line, or several if the points differ in more than lengths."""
    for (dtype, rank), _ in _group(fed, lambda one: ((one.dtype, len(one.shape)),)):
        alike = [one for one in fed if (one.dtype, len(one.shape)) == (dtype, rank)]
        shape = ", ".join(_values(sizes) for sizes in zip(*(one.shape for one in alike), strict=True))
        hows = list(dict.fromkeys(show(one.how, 200) for one in alike))
        how = "; ".join(hows[:_MOST_HOWS]) + ("; …" if len(hows) > _MOST_HOWS else "")
        yield f"Input '{show(name, 100)}': {show(dtype, 40)} [{shape}], {how}"


def _values(sizes: Iterable[int]) -> str:
    """Return `224` if all are equal, `1-20` for consecutive numbers, `1/8/32` for others."""
    different = sorted(set(sizes))
    if len(different) > 2 and all(b - a == 1 for a, b in pairwise(different)):
        return f"{different[0]}-{different[-1]}"
    if len(different) > _MOST_VALUES:
        return "/".join([*map(str, different[: _MOST_VALUES - 2]), "…", str(different[-1])])
    return "/".join(map(str, different))


def _place(of: Sequence[Point], points: Sequence[Point]) -> str:
    """Return a prefix that names the points of a line; '' if it is about all points."""
    if len(of) == len(points):
        return ""
    batches = _values(point.batch for point in of if point.batch is not None)
    words = [f"batch {batches}"] if batches else []
    words += [
        f"{show(name, 24)}={_values(point.dims[name] for point in of if name in point.dims)}"
        for name in dict.fromkeys(name for point in of for name in point.dims)
    ]
    return f"{' '.join(words) or 'one point'}: "


def _group(things: Sequence[T], keys: Callable[[T], Iterable[K]]) -> list[tuple[K, list[T]]]:
    """Return each key once, in the order of its first thing, with all things that have it."""
    groups: dict[K, list[T]] = {}
    for thing in things:
        for key in dict.fromkeys(keys(thing)):
            groups.setdefault(key, []).append(thing)
    return list(groups.items())


_MOST_OPERATORS = 4


@dataclass(frozen=True, slots=True)
class EngineFact:
    """An engine with the settings that it will run with."""

    name: str
    version: str
    threads: tuple[int, ...]
    """One number per core count of the sweep."""
    isa: tuple[str, ...]
    """Instruction sets of the CPU: AVX512, VNNI, BF16, AMX …"""
    install: str = ""
    """The command that installs it; '' if it is installed."""


@dataclass(frozen=True, slots=True)
class StreamChoice:
    """The number of async streams at one core count, with the reason."""

    cores: int
    streams: int
    why: str
    """Either asked, or the origin of the default."""
    by_node: bool = False
    """True if the requests are distributed over NUMA nodes."""
    serving: tuple[str, ...] = ()
    """Engines that distribute them by themselves."""
    emulated: bool = True
    """True if they are distributed for another engine."""


@dataclass(frozen=True, slots=True)
class Preamble:
    """All facts known before the first worker starts."""

    pin: str
    cpus: tuple[int, ...]
    engines: tuple[EngineFact, ...]
    models: tuple[str, ...]
    """Models as the user named them."""
    points: tuple[Point, ...]
    streams: tuple[StreamChoice, ...]
    cells: int
    expected_s: float
    limit_s: float
    scenarios: tuple[str, ...] = ()
    batches: tuple[int | None, ...] = ()
    cores: tuple[int, ...] = ()
    notes: tuple[str, ...] = ()
    """Notes from parsing the command line, and warnings."""
    summaries: tuple[ModelSummary, ...] = ()
    parts: tuple[str, ...] = ()
    """Steps of a profile, in order; a profile has no cells."""
    time: tuple[str, ...] = ()
    """Lines about the expected time of a profile, if known yet."""


def preamble_text(preamble: Preamble, ascii_only: bool = False, width: int | None = None) -> str:
    """Return the text for stderr; `width` is that of its terminal, None for a file or a pipe."""
    return as_text(wrap_lines(preamble_lines(preamble), width), ascii_only)


def preamble_lines(preamble: Preamble) -> list[str]:
    """Return the lines in the order in which a reader asks, each safe to show."""
    lines = [show(note, 500) for note in preamble.notes]
    # A profile uses the default pinning and has no flag for it.
    lines.append(pinning_line(preamble.pin, preamble.cpus) + ("" if preamble.parts else " (-pin none|numa|core)"))
    lines += [engine_line(engine) for engine in preamble.engines]
    lines += [model_line(*pair) for pair in zip(preamble.models, preamble.summaries, strict=False)]
    lines += feed_lines(preamble.points, preamble.models, rotating=not preamble.parts)
    lines += [stream_line(choice) for choice in preamble.streams]
    if preamble.parts:
        return [*lines, f"Plan: {', '.join(preamble.parts)}", *preamble.time]
    return [*lines, plan_line(preamble.cells, preamble.expected_s, preamble.limit_s), *measuring_lines(preamble)]


_PINNED = {"core": "each engine thread on one CPU", "numa": "each engine thread on the CPUs of one NUMA node"}


def pinning_line(pin: str, cpus: Sequence[int]) -> str:
    """Return the line about the CPUs of the workers."""
    where = f"CPU {cpu_ranges(cpus)}" if cpus else "the CPUs of its process"
    how = _PINNED.get(pin, "threads move among them")
    return f"Pinning: {show(pin, 20)}, {where}, {how}"


def engine_line(engine: EngineFact) -> str:
    """Return the line about engine, version, threads and instruction sets."""
    if engine.install:
        return f"Engine: {show(engine.name, 40)} is not installed; {show(engine.install, 80)}"
    threads = ",".join(str(count) for count in engine.threads)
    isa = " ".join(show(name, 20) for name in engine.isa) or "unknown"
    name = show(with_version(engine.name, engine.version), 80)
    return f"Engine: {name}, threads {threads}, ISA {isa}"


def model_line(name: str, model: ModelSummary) -> str:
    """Return the line about the model, with the facts that its inspection found."""
    bytes_ = model.file_bytes + model.external_bytes
    # A model that could not be read has no size.
    facts = [size(bytes_)] if bytes_ or not model.reason else []
    if model.opsets:
        facts.append("opset " + ", ".join(f"{show(d, 20)} {v}" if d else str(v) for d, v in model.opsets.items()))
    if model.nodes is not None:
        facts.append(count_of(model.nodes, "node"))
    if model.operators:
        top = sorted(model.operators.items(), key=lambda item: -item[1])[:_MOST_OPERATORS]
        others = sum(model.operators.values()) - sum(count for _, count in top)
        named = [f"{count} {show(op, 30)}" for op, count in top] + ([f"{others} other"] if others else [])
        facts[-1] += f" ({', '.join(named)})"
    if model.parameters:
        facts.append(
            f"{scaled(model.parameters)} parameters {'+'.join(show(t, 20) for t in model.weight_types or {})}".rstrip()
        )
        if model.zeros is not None:
            facts[-1] += f", {short(100 * model.zeros / model.parameters, 2)} % zeros"
    if model.quantization:
        facts.append(show(model.quantization, 60))
    if model.reason:
        facts.append(reason_words(model.reason, 120))
    return f"Model {show(name, 100)}: " + " · ".join(facts)


def stream_line(choice: StreamChoice) -> str:
    """Return the line about the number of async requests in flight."""
    where = count_of(choice.cores, "core")
    if not choice.by_node:
        return f"Streams: {choice.streams} on {where}, {show(choice.why, 200)} (-nstreams N)"
    parts = [f"Elastic: {count_of(choice.streams, 'client')} on {where}, {show(choice.why, 200)} (-nstreams N)"]
    if choice.serving:
        parts.append(f"distributed by {' and '.join(show(name, 60) for name in choice.serving)} itself")
    if choice.emulated:
        parts.append("emulated by one instance per NUMA node, of which the least busy is served first")
    return "; ".join(parts)


def measuring_lines(preamble: Preamble) -> list[str]:
    """Return the line that begins the measurement: scenarios with their schedulers, batches and cores."""
    if not preamble.scenarios:
        return []
    schedulers = [f"{name} ({find(name).scheduler.rpartition('.')[2]})" for name in preamble.scenarios]
    batches = ",".join("fixed" if batch is None else str(batch) for batch in preamble.batches)
    cores = ",".join(map(str, preamble.cores))
    noun = "core" if preamble.cores == (1,) else "cores"
    return [f"Measuring: {', '.join(schedulers)} · batch {batches} · {cores} {noun}"]


def plan_line(cells: int, expected_s: float, limit_s: float) -> str:
    """Return the line about the amount of work."""
    return f"Plan: {count_of(cells, 'cell')}, about {seconds(expected_s)}, at most {seconds(limit_s)}"


SCHEMA = 1


@dataclass(frozen=True, slots=True)
class DryRun:
    """A plan with its expected time and memory."""

    spec: BenchmarkSpec
    cells: tuple[Cell, ...]
    """Cells that will be measured, in the order of the first round."""
    expected_s: float
    limit_s: float
    memory_bytes: Mapping[str, int] = field(default_factory=dict)
    """Expected peak memory by cell key, if known."""
    notes: tuple[str, ...] = ()
    failed: tuple[tuple[Cell, Failure], ...] = ()
    """Cells that will not be measured because their inputs fail already."""


def dry_run_text(plan: DryRun, ascii_only: bool = False, width: int | None = None) -> str:
    """Return the plan as a table with its totals below, wrapped at the width of a terminal."""
    names = model_names(plan.spec.models)
    rows: list[_Planned] = [(str(i), cell, None) for i, cell in enumerate(plan.cells, 1)]
    rows += [("-", cell, failure) for cell, failure in plan.failed]
    columns = (
        Column("place", "", 0, lambda row: row[0], right=True),
        Column("model", "model", 0, lambda row: cut(names[row[1].model] if row[1].model < len(names) else "-", 24)),
        *_PLANNED,
        Column("memory", "memory", 0, lambda row: _memory(plan, row[1]), right=True, instead=_why_failed),
    )
    below = wrap_lines([*_totals(plan), *(show(note, 500) for note in plan.notes)], width)
    return as_text([*table_lines(columns, rows, None), "", *below], ascii_only)


def dry_run_json(plan: DryRun) -> str:
    """Return the plan as one JSON object, with the facts by which a script decides whether to start."""
    sources = plan.spec.models
    cells = [*((cell, None) for cell in plan.cells), *plan.failed]
    document = {
        "schema": SCHEMA,
        "cells": [
            {
                "key": cell.key,
                "model": sources[cell.model].asked if cell.model < len(sources) else None,
                "asked": to_plain(cell.asked),
                "memory_bytes": plan.memory_bytes.get(cell.key),
                "failure": to_plain(failure),
            }
            for cell, failure in cells
        ],
        "order": [cell.key for cell in plan.cells],
        "expected_s": plan.expected_s,
        "limit_s": plan.limit_s,
        "memory_bytes": max(plan.memory_bytes.values(), default=None),
        "notes": list(plan.notes),
    }
    # ASCII, since foreign names may contain terminal escape sequences.
    return json.dumps(document, indent=2, ensure_ascii=True, allow_nan=False) + "\n"


def _scenario(row: _Planned) -> str:
    asked = row[1].asked
    return show(asked.scenario, 12) + (f" x{asked.streams}" if find(asked.scenario).has_streams else "")


def _dims(row: _Planned) -> str:
    return " ".join(f"{show(name, 24)}={value}" for name, value in row[1].asked.dims.items()) or "-"


def _batch(row: _Planned) -> str:
    return "-" if row[1].asked.batch is None else str(row[1].asked.batch)


def _memory(plan: DryRun, cell: Cell) -> str:
    return size(plan.memory_bytes[cell.key]) if cell.key in plan.memory_bytes else "-"


def _why_failed(row: _Planned) -> str:
    return "" if row[2] is None else failure_words(row[2])


_Planned = tuple[str, Cell, Failure | None]
"""A place, its cell, and why that is not measured."""


_PLANNED: tuple[Column[_Planned], ...] = (
    Column("engine", "engine", 0, lambda row: cut(show(row[1].asked.engine, 40), 24)),
    Column("scenario", "scenario", 0, _scenario),
    Column("cores", "cores", 0, lambda row: str(row[1].asked.cores), right=True),
    Column("batch", "batch", 0, _batch, right=True),
    Column("dims", "dims", 0, _dims),
)


def _totals(plan: DryRun) -> list[str]:
    effort = plan.spec.effort
    low, high = effort.min_executions, effort.max_executions
    times = count_of(low, "execution") if low == high else f"{low} to {high} executions"
    goal = "" if effort.target is None else f", until ±{effort.target * 100:g} % or {seconds(effort.limit_s)} per cell"
    timed = f"each {times} of {effort.timed_s:g} s after a warm-up of at most {effort.warmup_s:g} s{goal}"
    lines = [
        f"{count_of(len(plan.cells), 'cell')}, {timed}",
        *([f"{count_of(len(plan.failed), 'cell')} will fail"] if plan.failed else []),
        f"about {seconds(plan.expected_s)}, at most {seconds(plan.limit_s)}",
        f"order: every round runs each cell once, shuffled from seed {plan.spec.inputs.seed}; above is round 1",
    ]
    peak = max(plan.memory_bytes.values(), default=None)
    return lines + ([f"memory: at most about {size(peak)} in one worker"] if peak is not None else [])
