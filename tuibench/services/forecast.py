"""The forecast of a benchmark before the start: cells, time, memory, impossible requests; and the preamble of a run."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tuibench.core.cell import Cell
from tuibench.core.dims import PointRequest, Search, expand
from tuibench.core.engine import entry_of, install_command, is_apart, split_id
from tuibench.core.errors import UsageError
from tuibench.core.model import ModelSummary, Point, Reference, unpacked_bytes
from tuibench.core.profile import MOST_PRUNED
from tuibench.core.reason import Reason
from tuibench.core.roles import Layout
from tuibench.core.scenario import find
from tuibench.core.spec import INT8, LOSS, PRUNED, BenchmarkSpec, ProfileSpec
from tuibench.core.units import count_of
from tuibench.engines.factory import capabilities
from tuibench.host.kernel_files import parse_cpus
from tuibench.present.error.words import message_words
from tuibench.present.preamble import EngineFact, Preamble, StreamChoice
from tuibench.present.reason import all_words
from tuibench.runs.replay import Replay
from tuibench.runs.schedule import Schedule, make_cells
from tuibench.runs.track import new_tracks

_START_S = 0.8
"""Time of an execution outside its timed part: process, imports, load, warm-up."""
_BARE_WORKER_BYTES = 60_000_000
_COPIES = 3
_WORD_BYTES = 32
_MOST_POINTS = 4096
"""Most points that are planned; a larger sweep is refused."""


@dataclass(frozen=True, slots=True)
class Forecast:
    """The forecast from summaries alone; the model may still refuse."""

    cells: int
    memory_bytes: int | None
    """Estimated memory of the largest worker, over the known models; None if none is known."""
    problems: tuple[str, ...] = ()
    """Requests that a model's constants forbid: these cells fail, the others run."""


def expected_s(spec: BenchmarkSpec, cells: int, load_s: float = 0.0) -> float:
    """Return the expected time of these cells, if each needs only the minimum of executions.

    `load_s` is the time to load or compile the model once in every cell, where it was measured before.
    """
    effort = spec.effort
    expected = effort.min_executions * (cells * (effort.timed_s + _START_S) + load_s)
    return expected if spec.limits.max_time_s is None else min(expected, spec.limits.max_time_s)


def limit_s(spec: BenchmarkSpec, cells: int, more_s: float = 0.0) -> float:
    """Return the most time that these cells take, including `more_s` added since."""
    limit = cells * (spec.effort.limit_s + more_s)
    return limit if spec.limits.max_time_s is None else min(limit, spec.limits.max_time_s + more_s)


def worker_bytes(model: ModelSummary, input_bytes: int) -> int:
    """Return a worker's estimated memory: weights as read, reordered and packed, and the inputs."""
    return _BARE_WORKER_BYTES + _COPIES * (model.file_bytes + model.external_bytes) + input_bytes


def item_bytes(dtype: str) -> int:
    """Return the bytes of one element as fed; a guess for text and unknown types."""
    return _WORD_BYTES if dtype == "string" else unpacked_bytes(dtype) or 1


def first_round(replay: Replay) -> tuple[Cell, ...]:
    """Return the planned cells in the order of the first round, without those that failed already."""
    spec = replay.spec
    live = new_tracks(track.cell for track in replay.tracks.values() if track.failure is None)
    schedule = Schedule(live, spec.effort, random.Random(spec.inputs.seed))
    return tuple(turn.cell for turn in schedule.next_round())


def expected_memory(replay: Replay) -> dict[str, int]:
    """Return the estimated memory of each planned cell: weights as read, reordered and packed, and the inputs."""
    models, points = replay.models, {p.id: p for p in replay.points}
    sizes = {}
    for cell in replay.cells:
        point, model = points[cell.point], models[cell.model]
        inputs = point.distinct * sum(math.prod(fed.shape) * item_bytes(fed.dtype) for fed in point.inputs)
        sizes[cell.key] = worker_bytes(model, inputs)
    return sizes


def free_dims(model: ModelSummary, batch_dim: str | None = None) -> tuple[str, ...]:
    """Return the dims that a model leaves open, without its batch, as `--dim` names them."""
    layout = Layout(model.inputs, batch_dim)
    return tuple(key for key in layout.places if key not in layout.batch)


def check_dim(model: ModelSummary, spec: BenchmarkSpec, name: str) -> None:
    """Raise UsageError if a model has no such dim or fixes it; call it per dim to report each error."""
    Layout(model.inputs, spec.inputs.batch_dim).resolve(name, "--dim")


def misfits(model: ModelSummary, spec: BenchmarkSpec) -> dict[str, UsageError]:
    """Return what a model forbids of a profile's one point, by option: dim:NAME, sequence_length, batch."""
    unsized = replace(spec, batches=(), dims=(), sequence_lengths=())
    unshaped = replace(unsized, inputs=replace(spec.inputs, shapes=()))
    # One dim at a time, to report each error.
    found = _refused({f"dim:{pair[0]}": replace(unshaped, dims=(pair,)) for pair in spec.dims}, model)
    sized = unsized if found else replace(unsized, dims=spec.dims)
    lengths = {"sequence_length": replace(sized, sequence_lengths=spec.sequence_lengths)}
    batch = {"batch": replace(sized, batches=spec.batches)}
    return found | _refused((lengths if spec.sequence_lengths else {}) | batch, model)


def _refused(asked: Mapping[str, BenchmarkSpec], model: ModelSummary) -> dict[str, UsageError]:
    found: dict[str, UsageError] = {}
    for name, one in asked.items():
        try:
            requests = expand(one, 0, Layout(model.inputs, one.inputs.batch_dim))
        except UsageError as error:
            found[name] = error
        else:
            problem = next((request.problem for request in requests if request.problem), None)
            if problem:
                found[name] = problem
    return found


def forecast(spec: BenchmarkSpec, models: Sequence[ModelSummary]) -> Forecast:
    """Return the forecast of `spec` for inspected models; raise UsageError if it contradicts one of them."""
    points: list[Point] = []
    problems: list[str] = []
    memory = 0
    for number, model in enumerate(models):
        if _product(spec) > _MOST_POINTS:
            raise UsageError("too_many_shapes", count=_product(spec), most=_MOST_POINTS)
        layout = Layout(model.inputs, spec.inputs.batch_dim)
        for request in expand(spec, number, layout):
            problems += [message_words(request.problem)] if request.problem else []
            point, size = _plan(model, number, layout, request)
            points.append(point)
            memory = max(memory, worker_bytes(model, size * spec.inputs.distinct))
    cells = len(make_cells(spec, models, points)) if len(models) == len(spec.models) else _count(spec)
    return Forecast(cells, memory or None, tuple(dict.fromkeys(problems)))


def _plan(model: ModelSummary, number: int, layout: Layout, request: PointRequest) -> tuple[Point, int]:
    """Return the point of the first candidate, and the bytes of one sample."""
    search = Search(layout, request.batch, request.fixed, request.shapes)
    _, candidate = next(iter(search.candidates()))
    kinds = {port.name: port.dtype for port in model.inputs}
    size = sum(math.prod(shape) * item_bytes(kinds[name]) for name, shape in candidate.shapes.items())
    dims = {key: value for key, value in {**candidate.dims, **request.fixed}.items() if key not in layout.batch}
    nothing = Reference(None, None, None, Reason("forecast"))
    return Point(request.id, number, request.batch, 1, dims, {}, (), None, 1, nothing), size


def _product(spec: BenchmarkSpec) -> int:
    dims = math.prod(len(set(values)) for _, values in spec.dims)
    return max(1, len(spec.batches)) * dims * max(1, len(spec.sequence_lengths))


def _count(spec: BenchmarkSpec) -> int:
    """Return the cells of models that are not inspected yet."""
    return max(1, len(spec.models)) * len(spec.engines) * len(spec.scenarios) * len(spec.cores) * _product(spec)


def preamble_of(replay: Replay, notes: Sequence[str] = ()) -> Preamble:
    """Return the preamble of a planned run."""
    spec = replay.spec
    dead = {point.id for point in replay.points if point.failure is not None}
    ahead = sum(cell.point not in dead for cell in replay.cells)
    host: dict[str, Any] = dict(replay.start.get("host", {}))
    versions = dict(replay.start.get("versions", {}))
    return Preamble(
        pin=spec.pin,
        cpus=_cpus(host),
        engines=tuple(
            EngineFact(name, str(versions.get(name) or "?"), spec.cores, _isa(host), _install(name, versions))
            for name in spec.engines
        ),
        models=tuple(source.asked for source in spec.models),
        points=replay.points,
        streams=tuple(_streams(replay)),
        cells=ahead,
        expected_s=expected_s(spec, ahead),
        limit_s=limit_s(spec, ahead, replay.extended_s),
        scenarios=tuple(dict.fromkeys(cell.asked.scenario for cell in replay.cells)),
        batches=tuple(dict.fromkeys(cell.asked.batch for cell in replay.cells)),
        cores=tuple(dict.fromkeys(cell.asked.cores for cell in replay.cells)),
        notes=(*notes, *all_words(replay.warnings)),
        summaries=replay.models,
        parts=part_words(spec.profile) if spec.profile is not None else (),
    )


def _install(name: str, versions: Mapping[str, Any]) -> str:
    """Return the command that installs an engine; '' if it is installed, or if no versions are known."""
    entry = entry_of(name)
    if entry is None or not versions or name in versions or (entry.package in versions and not is_apart(name)):
        return ""
    return install_command(name)


FORM_WORDS = {
    INT8: "heavy layers alone in INT8",
    PRUNED: f"zeros in each operator alone, then in each of the {MOST_PRUNED} heaviest layers alone",
}
"""What a profile measures of single layers on request."""


def process_words(asked: ProfileSpec) -> str:
    """Return the number of processes that time the layers, in words."""
    return "1 process" if asked.processes == 1 else f"{asked.processes} processes"


def part_words(asked: ProfileSpec) -> tuple[str, ...]:
    """Return the parts of a profile in words."""
    if asked.kind == LOSS:
        changed = () if asked.approximate else (f"each layer at {', '.join(asked.levels)}",)
        return ("costs by shapes", "weights", *changed)
    alone = tuple(FORM_WORDS[form] for form in asked.what_if)
    layers = f"layers in {process_words(asked)} of {count_of(asked.runs, 'profiled run')}"
    return ("costs by shapes", "roofs of this machine", "speedup from zeros", layers, *alone)


def _streams(replay: Replay) -> list[StreamChoice]:
    """Return the streams of each core count in the plan, once for each scenario that has streams."""
    found: dict[tuple[str, int], StreamChoice] = {}
    for asked in (cell.asked for cell in replay.cells):
        scenario = find(asked.scenario)
        if not scenario.has_streams:
            continue
        default = "two per NUMA node" if scenario.by_node else "one thread each: the default, not tuned"
        why = "as asked" if replay.spec.streams is not None else default
        engines = [cell.asked.engine for cell in replay.cells if cell.asked.scenario == asked.scenario]
        serving = tuple(name for name in dict.fromkeys(engines) if scenario.by_node and _serves_nodes(name))
        found[asked.scenario, asked.cores] = StreamChoice(
            asked.cores, asked.streams, why, scenario.by_node, serving, emulated=not set(engines) <= set(serving)
        )
    return list(found.values())


def _serves_nodes(engine_id: str) -> bool:
    """Return whether an engine distributes elastic requests; modules of other packages are not imported here."""
    entry = entry_of(engine_id)
    # By the name alone: a newer version may have measured a release that this one does not run.
    return entry is not None and not entry.is_other and capabilities(split_id(engine_id)[0]).serves_nodes


def _cpus(host: Mapping[str, Any]) -> tuple[int, ...]:
    affinity = host.get("affinity")
    return parse_cpus(str(affinity.get("cpus", ""))) if isinstance(affinity, dict) else ()


def _isa(host: Mapping[str, Any]) -> tuple[str, ...]:
    found = host.get("cpu", {}).get("isa") if isinstance(host.get("cpu"), dict) else host.get("isa")
    return tuple(str(name) for name in found or ())
