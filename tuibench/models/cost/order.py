"""The child's task: a model costed on inputs that were made for it, or on those that are made here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

from tuibench.arrays.bundle import Feed, read_bundle
from tuibench.core.errors import ModelError
from tuibench.core.model import ModelSummary, Point
from tuibench.core.profile import CostProfile
from tuibench.core.record import from_plain
from tuibench.core.spec import EFFORTS, BenchmarkSpec, InputSettings, Limits, ModelSource
from tuibench.models.candidate import Search
from tuibench.models.cost.count import Shapes, count_expansion, open_expansion
from tuibench.models.cost.expansion import Expansion, rename
from tuibench.models.cost.tensor import Shape, Tensor
from tuibench.models.cost.trace import Trace, last_run, read_trace
from tuibench.models.dim import expand as expand_points
from tuibench.models.file import locate
from tuibench.models.inspection import inspect, load_graph
from tuibench.models.layout import Layout
from tuibench.models.port import input_ports
from tuibench.models.preparation import Order, Preparer, shorten
from tuibench.models.reference import TrialError
from tuibench.models.zero import ZeroBudget

_NO_ZEROS = ZeroBudget(total_bytes=-1)


class Tracer(Protocol):
    """Runs a model without optimization and tells what its profiler wrote."""

    def run(self, feed: dict[str, Any], optimize: bool = False) -> dict[str, Any]:
        """The outputs for one feed, or TrialError."""

    def events(self) -> list[dict[str, Any]]:
        """Of all runs."""


OpenTracer = Callable[[str | bytes, str, str], Tracer]
"""Takes a path or the bytes of a model, the folder of its external weights, and where to write."""


def carry_out(request: Mapping[str, Any], available_bytes: int, open_tracer: OpenTracer) -> CostProfile:
    """Count what was asked for; the shapes come from one run wherever the model runs."""
    path = locate(request["path"]).path
    expansion = open_expansion(path)
    spec = _spec(request, str(path))
    if request.get("static"):
        shapes = _guess(expansion, spec, "no run was asked for")
    else:
        shapes = _run(request, path, expansion, spec, available_bytes, open_tracer)
    return count_expansion(expansion, path, shapes)


def _spec(request: Mapping[str, Any], path: str) -> BenchmarkSpec:
    """What was asked, as far as inputs go."""
    if request.get("spec"):
        asked: BenchmarkSpec = from_plain(BenchmarkSpec, request["spec"])
        return replace(asked, models=(ModelSource(path, path),), inputs=replace(asked.inputs, distinct=1))
    batch, dims = request.get("batch"), request.get("dims") or {}
    return BenchmarkSpec(
        models=(ModelSource(path, path),),
        engines=("onnxruntime",),
        scenarios=("sync",),
        cores=(1,),
        batches=(int(batch),) if batch else (),
        dims=tuple((str(name), (int(size),)) for name, size in dims.items()),
        sequence_lengths=(),
        streams=None,
        stream_kind=None,
        pin="none",
        precision="engine-default",
        io=None,
        effort=EFFORTS["quick"],
        inputs=InputSettings(distinct=1),
        limits=Limits(),
    )


def _run(
    request: Mapping[str, Any],
    path: Path,
    expansion: Expansion,
    spec: BenchmarkSpec,
    available_bytes: int,
    open_tracer: OpenTracer,
) -> Shapes:
    run_dir = str(request["run_dir"])
    source = _renamed(path, expansion) if expansion.renamed else str(path)
    tracer = open_tracer(source, str(path.parent.resolve()), run_dir)
    try:
        point = _point(request, path, spec, available_bytes, tracer)
        if point.failure is not None:
            return _guess(expansion, spec, point.failure[2])
        if point.bundle is None:
            return _guess(expansion, spec, "there are no inputs")
        feed = read_bundle(point.bundle)[0]
        outputs = tracer.run(feed)
    except (TrialError, ModelError) as error:
        return _guess(expansion, spec, f"ONNX Runtime without optimization: {shorten(error.message)}")
    trace = read_trace(last_run(tracer.events()))
    trace.outputs = _tensors(outputs)
    inputs = {name: tensor.shape or () for name, tensor in _tensors(feed).items()}
    return Shapes(inputs, point.batch, point.items, point.dims, trace=trace)


def _point(
    request: Mapping[str, Any], path: Path, spec: BenchmarkSpec, available_bytes: int, tracer: Tracer
) -> Point:
    """The one that was passed, or one made here as for a benchmark."""
    if request.get("point"):
        point: Point = from_plain(Point, request["point"])
        return point
    summary: ModelSummary = inspect(path, budget=_NO_ZEROS)
    order = Order(spec, 0, Path(request["run_dir"]), available_bytes, reference=False)
    return Preparer(order, summary, load_graph(path), tracer.run, lambda _stage, _point: None).carry_out()[0]


def _guess(expansion: Expansion, spec: BenchmarkSpec, reason: str) -> Shapes:
    """Input shapes as they would be tried first, for inference without a run."""
    layout = Layout(input_ports(expansion.model.graph), spec.inputs.batch_dim)
    request = expand_points(spec, 0, layout)[0]
    if request.problem is not None:
        raise ModelError(request.problem)
    search = Search(layout, request.batch, request.fixed, request.shapes)
    _, candidate = next(iter(search.candidates()))
    shapes = {p.name: candidate.shapes[p.name] for p in layout.ports if p.kind == "tensor"}
    symbols = {**candidate.dims, **dict.fromkeys(layout.batch, 1 if request.batch is None else request.batch)}
    batch = request.batch
    return Shapes(shapes, batch, max(batch or 1, 1), candidate.dims, symbols, reason=reason)


def _renamed(path: Path, expansion: Expansion) -> bytes:
    """The bytes of a copy in which every node can be told; external weights stay where they are."""
    renamed = rename(expansion)
    return renamed.SerializeToString()


def _tensors(values: Mapping[str, Any] | Feed) -> dict[str, Tensor]:
    found: dict[str, Tensor] = {}
    for name, value in values.items():
        shape: Shape | None = getattr(value, "shape", None)
        if shape is not None:
            found[name] = Tensor("", tuple(int(dim) for dim in shape))
    return found
