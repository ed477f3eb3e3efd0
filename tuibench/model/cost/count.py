"""Counts the cost of a model on the shapes of one run or on inferred shapes; the child task `cost`."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tuibench.core.dims import Search
from tuibench.core.dims import expand as expand_points
from tuibench.core.errors import ModelError
from tuibench.core.model import ModelSummary, Point
from tuibench.core.profile import EXECUTED, SECONDS, CostProfile, CountBound
from tuibench.core.reason import Reason, because
from tuibench.core.record import from_plain
from tuibench.core.roles import Layout
from tuibench.core.spec import BenchmarkSpec, ModelSource
from tuibench.model.cost.assembly import Zeros, assemble, assign_weights
from tuibench.model.cost.constant import describe_weights, find_constants
from tuibench.model.cost.executions import (
    MOST_EVENTS,
    Shapes,
    Trace,
    infer,
    learn_from_trace,
    read_profile,
    skip_folded,
)
from tuibench.model.cost.expansion import (
    LOOPS,
    MOST_EXECUTED,
    Expansion,
    expand,
    limited_loops,
    locate_weights,
    reached,
)
from tuibench.model.cost.structure import Shape, Tensor
from tuibench.model.file import check_external, locate
from tuibench.model.inspection import input_ports, output_ports, require_graph
from tuibench.model.preparation import Order, Preparer, RunRefused
from tuibench.model.reference_run import TracedRun
from tuibench.worker.bundle import Feed, read_bundle


def open_expansion(path: str | os.PathLike[str]) -> Expansion:
    """Return a model's graph, expanded; raise ModelError for an .ort file."""
    return expand(require_graph(path))


def count(path: str | os.PathLike[str], shapes: Shapes | Mapping[str, Shape] | None = None) -> CostProfile:
    """Return the cost of each node of the model at `path`, without running or caching anything."""
    given = shapes if isinstance(shapes, Shapes) else Shapes(dict(shapes or {}))
    return count_expansion(open_expansion(path), Path(path), given)


def count_expansion(
    expansion: Expansion, path: Path, shapes: Shapes, clock: Callable[[], float] = time.monotonic
) -> CostProfile:
    """Return the cost profile of an expanded model."""
    sites, top = expansion.sites, expansion.top
    if shapes.trace is not None:
        if shapes.trace.is_converted:
            infer(expansion.model, sites, top, shapes.inputs, shapes.symbols)
        inputs = {name: Tensor("", shape) for name, shape in shapes.inputs.items()}
        known = learn_from_trace(sites, top, expansion.names, shapes.trace, inputs)
        origin = Reason("traced")
    else:
        known = infer(expansion.model, sites, top, shapes.inputs, shapes.symbols)
        origin = because("inferred", why=shapes.reason)
    constants = find_constants(sites, top)
    describe_weights(sites, constants)
    skip_folded(known, constants)
    zeros = Zeros(path, clock)
    holdings = assign_weights(sites, constants, zeros.count)
    return assemble(expansion, known, constants, holdings, shapes, origin, zeros.notes())


OpenTracer = Callable[[str | bytes, str, str], TracedRun]
"""Takes a path, or a model's bytes and the folder of its external weights, and the output directory."""


@dataclass(frozen=True)
class _Task:
    """One request with its expanded model."""

    path: Path
    expansion: Expansion
    spec: BenchmarkSpec
    work_dir: str
    available_bytes: int
    point: Point | None
    loop_s: float | None = None
    """Set if runs are only for shapes; loops are limited then."""

    def trace(self, open_tracer: OpenTracer) -> Shapes:
        """Return the shapes that the nodes see in one run."""
        if self.expansion.bound is not None:
            return self.guess(Reason("too_many_nodes"))
        try:
            source, limits = self._source()
            tracer = open_tracer(*source, self.work_dir)
        except ModelError as error:
            return self.guess(error.reason)
        if any(site.op in LOOPS for site in self.expansion.sites):
            tracer.max_s = self.loop_s
        try:
            found = self._run(tracer, limits)
        except RunRefused as error:
            found = self.guess(because("unoptimized_refused", why=error.shortened()))
        except ModelError as error:
            found = self.guess(because("unoptimized_refused", why=error.reason))
        finally:
            tracer.end()
        return self._bounded(SECONDS, self.loop_s) if tracer.is_overdue and self.loop_s is not None else found

    def _source(self) -> tuple[tuple[str | bytes, str], Mapping[int, int]]:
        """Return the model to run, and the limits of its loops in turns."""
        if self.loop_s is None:
            source = locate_weights(self.expansion, self.path) if self.expansion.renamed else (str(self.path), "")
            return source, {}
        with limited_loops(self.expansion) as limits:
            if self.expansion.renamed or limits:
                return locate_weights(self.expansion, self.path), limits
        return (str(self.path), ""), limits

    def _bounded(self, code: str, limit: float) -> Shapes:
        """Return shapes for a run that reached a limit, without using the run."""
        bound = CountBound(code, limit, len(self.expansion.sites))
        return replace(self.guess(Reason("run_limited")), bound=bound)

    def _run(self, tracer: TracedRun, limits: Mapping[int, int]) -> Shapes:
        point = self.point or self._make_point(tracer)
        if point.failure is not None or point.bundle is None:
            why = point.failure.message if point.failure is not None else None
            return self.guess(why or Reason("no_inputs"))
        try:
            feed = read_bundle(point.bundle)[0]
        except (OSError, ValueError, IndexError) as error:
            return self.guess(because("inputs_unreadable", text=str(error)))
        outputs = tracer.run(feed)
        written = tracer.end()
        trace = read_profile(written) if written is not None else Trace()
        if not trace.events:
            cut, empty = because("profiler_cut", events=MOST_EVENTS), Reason("profiler_empty")
            return self.guess(cut if trace.is_cut else empty)
        if reached(self.expansion, limits, trace):
            return self._bounded(EXECUTED, MOST_EXECUTED)
        trace.outputs = _tensors(outputs)
        inputs = {name: tensor.shape or () for name, tensor in _tensors(feed).items()}
        symbols = self._symbols(point.batch, point.dims)
        return Shapes(inputs, point.batch, point.items, point.dims, symbols, trace)

    def guess(self, reason: Reason) -> Shapes:
        """Return the input shapes of the first candidate, for inference without a run."""
        if self.point is not None:
            given = self.point
            shapes = {fed.name: fed.shape for fed in given.inputs}
            return Shapes(
                shapes, given.batch, given.items, given.dims, self._symbols(given.batch, given.dims), None, reason
            )
        layout = self._layout
        request = expand_points(self.spec, 0, layout)[0]
        if request.problem is not None:
            raise ModelError.from_reason(request.problem.reason)
        search = Search(layout, request.batch, request.fixed, request.shapes)
        _, candidate = next(iter(search.candidates()))
        shapes = {port.name: candidate.shapes[port.name] for port in layout.ports if port.kind == "tensor"}
        symbols = self._symbols(request.batch, candidate.dims)
        return Shapes(shapes, request.batch, max(request.batch or 1, 1), candidate.dims, symbols, None, reason)

    @property
    def _layout(self) -> Layout:
        return Layout(input_ports(self.expansion.model.graph), self.spec.inputs.batch_dim)

    def _symbols(self, batch: int | None, dims: Mapping[str, int]) -> dict[str, int]:
        return {**dims, **dict.fromkeys(self._layout.batch, 1 if batch is None else batch)}

    def _make_point(self, tracer: TracedRun) -> Point:
        """Make inputs as for a benchmark."""
        model = self.expansion.model
        check_external(model, self.path)
        # The preparer needs only the interface; a full summary would read and hash every weight.
        summary = ModelSummary(str(self.path), "", 0, 0, input_ports(model.graph), output_ports(model.graph))
        order = Order(self.spec, 0, Path(self.work_dir), self.available_bytes, reference=False)
        return Preparer(order, summary, model, tracer.run, lambda _stage, _point: None).carry_out()[0]


def carry_out(request: Mapping[str, Any], available_bytes: int, open_tracer: OpenTracer) -> CostProfile:
    """Count the requested model; take the shapes from one run if the model runs."""
    path = locate(request["path"]).path
    point = from_plain(Point, request["point"]) if request.get("point") else None
    expansion = open_expansion(path)
    # Use a separate directory, because the run's directory contains inputs of the same names.
    with tempfile.TemporaryDirectory(prefix="cost-", dir=request["run_dir"]) as work_dir:
        task = _Task(
            path, expansion, _spec(request["spec"], str(path)), work_dir, available_bytes, point, request.get("loop_s")
        )
        static = request.get("static")
        # A request without a run gives the reason, for example a run that did not end.
        shapes = task.guess(from_plain(Reason, static)) if static else task.trace(open_tracer)
    return count_expansion(expansion, path, shapes)


def _spec(plain: Mapping[str, Any], path: str) -> BenchmarkSpec:
    """Return the request's specification for one sample of this model."""
    asked: BenchmarkSpec = from_plain(BenchmarkSpec, plain)
    return replace(asked, models=(ModelSource(path, path),), inputs=replace(asked.inputs, distinct=1))


def _tensors(values: Mapping[str, Any] | Feed) -> dict[str, Tensor]:
    found: dict[str, Tensor] = {}
    for name, value in values.items():
        shape: Shape | None = getattr(value, "shape", None)
        if shape is not None:
            found[name] = Tensor("", tuple(int(dim) for dim in shape))
    return found
