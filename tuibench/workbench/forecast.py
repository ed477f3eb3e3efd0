"""The forecast of a benchmark before the start: cells, time, memory and impossible requests."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from tuibench.core.dtype import unpacked_bytes
from tuibench.core.errors import UsageError
from tuibench.core.model import ModelSummary, Point, Reference
from tuibench.core.spec import BenchmarkSpec
from tuibench.models.candidate import Search
from tuibench.models.dim import PointRequest, expand
from tuibench.models.layout import Layout
from tuibench.runs.plan import make_cells

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


def expected_s(spec: BenchmarkSpec, cells: int) -> float:
    """Return the expected time of these cells, if each needs only the minimum of executions."""
    effort = spec.effort
    expected = cells * effort.min_executions * (effort.timed_s + _START_S)
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


def free_dims(model: ModelSummary, batch_dim: str | None = None) -> tuple[str, ...]:
    """Return the dims that a model leaves open, without its batch, as `--dim` names them."""
    layout = Layout(model.inputs, batch_dim)
    return tuple(key for key in layout.places if key not in layout.batch)


def check_dim(model: ModelSummary, spec: BenchmarkSpec, name: str) -> None:
    """Raise UsageError if a model has no such dim or fixes it; call it per dim to report each error."""
    Layout(model.inputs, spec.inputs.batch_dim).resolve(name, f"--dim {name}:")


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
                found[name] = UsageError(problem)
    return found


def forecast(spec: BenchmarkSpec, models: Sequence[ModelSummary]) -> Forecast:
    """Return the forecast of `spec` for inspected models; raise UsageError if it contradicts one of them."""
    points: list[Point] = []
    problems: list[str] = []
    memory = 0
    for number, model in enumerate(models):
        if _product(spec) > _MOST_POINTS:
            raise UsageError(f"that is a sweep of {_product(spec)} shapes", f"at most {_MOST_POINTS} can be planned")
        layout = Layout(model.inputs, spec.inputs.batch_dim)
        for request in expand(spec, number, layout):
            problems += [request.problem] if request.problem else []
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
    nothing = Reference(None, None, None, "a forecast")
    return Point(request.id, number, request.batch, 1, dims, {}, (), None, 1, nothing), size


def _product(spec: BenchmarkSpec) -> int:
    dims = math.prod(len(set(values)) for _, values in spec.dims)
    return max(1, len(spec.batches)) * dims * max(1, len(spec.sequence_lengths))


def _count(spec: BenchmarkSpec) -> int:
    """Return the cells of models that are not inspected yet."""
    return max(1, len(spec.models)) * len(spec.engines) * len(spec.scenarios) * len(spec.cores) * _product(spec)
