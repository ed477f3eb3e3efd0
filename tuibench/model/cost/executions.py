"""Number of executions of each node, and their shapes: from a traced run or from inference."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from typing import Any

import onnx
from onnx import numpy_helper, shape_inference

from tuibench.core.profile import CountBound
from tuibench.core.reason import DONE_BEFORE, Reason
from tuibench.core.value import dataclass
from tuibench.model.cost.constant import Constants
from tuibench.model.cost.structure import Scope, Shape, Site, Tensor, find_sites, profiler_dtype
from tuibench.model.graph import dtype_name, text

_SUFFIX = "_kernel_time"
_CONVERSION = "InsertedPrecisionFreeCast_"
MOST_EVENTS = 1_000_000
"""Limit of ONNX Runtime's profiler, which drops later events."""
MOST_VARIANTS = 256
"""Different shapes of one node kept apart per run; further ones count as the last of them."""

Variant = tuple[tuple[Tensor, ...], tuple[Tensor, ...]]
"""Tensors that a node read and wrote in one execution, without omitted ones."""


@dataclass
class Trace:
    """Executions per node, by node name."""

    variants: dict[str, Counter[Variant]] = field(default_factory=dict)
    outputs: dict[str, Tensor] = field(default_factory=dict)
    """Outputs of the model."""
    events: int = 0
    is_converted: bool = False
    """True if the engine converts types around nodes, so that events have other types than the model."""

    is_cut: bool = False
    """True if the profiler stopped before any run ended; the event of the whole run comes last."""

    def times(self, name: str) -> int:
        """Return how often a node ran."""
        return sum(self.variants[name].values()) if name in self.variants else 0


def read_profile(path: str | os.PathLike[str]) -> Trace:
    """Read the profile of the last complete run, sorted by node.

    Each event is a line, and lines are read one at a time: a loop's whole profile would take gigabytes.
    """
    start, end, events = _last_run(path)
    trace = Trace()
    if end < start:
        trace.is_cut = events >= MOST_EVENTS
        return trace
    for line in _lines(path, '"Node"'):
        trace.is_converted = trace.is_converted or _CONVERSION in line
        event = _parse(line)
        name = str(event.get("name", ""))
        if name.endswith(_SUFFIX) and start <= event.get("ts", -1) <= end:
            _add(trace, name.removesuffix(_SUFFIX), event.get("args") or {})
    return trace


def _last_run(path: str | os.PathLike[str]) -> tuple[int, int, int]:
    """Return start and end of the last run, and the events of all runs; the end is before the start if no run ended."""
    start, end, events = 0, -1, 0
    for line in _lines(path, "{"):
        events += 1
        event = _parse(line) if '"model_run"' in line else {}
        if event.get("name") == "model_run":
            start, end = int(event["ts"]), int(event["ts"]) + int(event["dur"])
    return start, end, events


def _lines(path: str | os.PathLike[str], word: str) -> Iterator[str]:
    with open(path, encoding="utf-8", errors="replace") as file:
        yield from (line for line in file if word in line)


def _parse(line: str) -> dict[str, Any]:
    """Parse one event; {} for a line broken by an engine-made tensor name. Names assigned by tuibench break no line."""
    try:
        event = json.loads(line.strip().rstrip(","))
    except ValueError:
        return {}
    return event if isinstance(event, dict) else {}


def _add(trace: Trace, name: str, fields: dict[str, Any]) -> None:
    found = trace.variants.setdefault(name, Counter())
    variant = (_tensors(fields.get("input_type_shape")), _tensors(fields.get("output_type_shape")))
    if variant not in found and len(found) >= MOST_VARIANTS:
        variant = next(reversed(found))
    found[variant] += 1
    trace.events += 1


def _tensors(shapes: Any) -> tuple[Tensor, ...]:
    return tuple(
        Tensor(profiler_dtype(str(dtype)), tuple(int(dim) for dim in shape))
        for item in shapes or ()
        for dtype, shape in item.items()
    )


@dataclass(frozen=True)
class Shapes:
    """Input shapes and the trace of a run on them; without a trace shapes are inferred, and `reason` says why."""

    inputs: Mapping[str, Shape] = field(default_factory=dict)
    batch: int | None = None
    items: int = 1
    dims: Mapping[str, int] = field(default_factory=dict)
    symbols: Mapping[str, int] = field(default_factory=dict)
    """Values of dims by their names in the model, including the batch."""
    trace: Trace | None = None
    reason: Reason | None = None
    bound: CountBound | None = None
    """Set if a run reached a limit."""


_TOLD = ("If", "Loop", "Scan")
"""Operators whose subgraphs the engine runs unchanged; it rewrites others beforehand."""
_SHAPELESS = ("Cast", "CastLike", "Dropout", "Identity")
"""Operators whose output has the shape of their input."""
Tensors = Sequence[Tensor | None]


@dataclass(frozen=True, slots=True)
class Execution:
    """Executions of a node on the same tensors, with their number."""

    inputs: Tensors
    outputs: Tensors
    times: int


@dataclass
class Known:
    """Executions per node, by node index."""

    times: dict[int, int | None]
    variants: dict[int, list[tuple[Variant, int]]] = field(default_factory=dict)
    reasons: dict[int, Reason] = field(default_factory=dict)
    """Reasons why nodes do not run."""
    traced: bool = False

    def executions(self, site: Site) -> list[Execution]:
        """Return each kind of execution; for an untraced node, one with the known tensors."""
        variants = self.variants.get(site.index)
        if not variants:
            times = self.times[site.index]
            return [Execution(_look_up(site, site.inputs), _look_up(site, site.outputs), 1 if times is None else times)]
        return [
            Execution(_fit(site, site.inputs, ins), _fit(site, site.outputs, outs), times)
            for (ins, outs), times in variants
        ]


def learn_from_trace(
    sites: Sequence[Site], top: Scope, names: Sequence[str], trace: Trace, inputs: Mapping[str, Tensor]
) -> Known:
    """Return the executions of a traced run, and store its shapes in the scopes."""
    for name, tensor in (*inputs.items(), *trace.outputs.items()):
        top.learn(name, tensor)
    known = Known({}, traced=True)
    for site, name in zip(sites, names, strict=True):
        found = trace.variants.get(name)
        if found:
            known.variants[site.index] = list(found.items())
            _learn(site, next(iter(found)))
    _bridge(sites, known)
    most: dict[int, int] = {}
    for site, name in zip(sites, names, strict=True):
        most[id(site.scope)] = max(most.get(id(site.scope), 0), trace.times(name))
    for site, name in zip(sites, names, strict=True):
        times = trace.times(name) or (1 if site.scope.owner < 0 else most[id(site.scope)])
        # A node without events in a graph that ran was replaced by the engine or treated as a constant.
        known.times[site.index] = times
        if not times and sites[site.scope.owner].op in _TOLD:
            known.reasons[site.index] = Reason("body_did_not_run")
        elif not times:
            known.times[site.index] = None
    return known


def skip_folded(known: Known, constants: Constants) -> None:
    """Mark nodes that depend only on constants as computed before the first inference."""
    why = Reason(DONE_BEFORE)
    for index in constants.folded:
        known.times[index], known.variants[index] = 0, []
        known.reasons[index] = why


def _bridge(sites: Sequence[Site], known: Known) -> None:
    """Infer shapes of nodes that the engine drops even without optimization, such as one of two casts in a row."""
    for site in sites:
        if site.op in _SHAPELESS and site.index not in known.variants and site.inputs and site.outputs:
            kind = next((int(a.i) for a in site.node.attribute if a.name == "to"), 0)
            source = site.scope.tensor(site.inputs[0])
            site.scope.learn(site.outputs[0], Tensor(dtype_name(kind) if kind else source.dtype, source.shape))


def _learn(site: Site, variant: Variant) -> None:
    for names, tensors in zip((site.inputs, site.outputs), variant, strict=True):
        present = [name for name in names if name]
        if len(present) != len(tensors):
            continue
        for name, tensor in zip(present, tensors, strict=True):
            home = site.scope.home(name)
            if home is not None:
                home.learn(name, tensor)


def _look_up(site: Site, names: Sequence[str]) -> Tensors:
    return [site.scope.tensor(name) if name else None for name in names]


def _fit(site: Site, names: Sequence[str], tensors: Sequence[Tensor]) -> Tensors:
    """Return the traced tensors by position; the profiler leaves out omitted inputs and values that are no tensors."""
    if sum(map(bool, names)) != len(tensors):
        return _look_up(site, names)
    rest = iter(tensors)
    return [_own_type(site, name, next(rest)) if name else None for name in names]


def _own_type(site: Site, name: str, tensor: Tensor) -> Tensor:
    """Return the traced shape with the model's element type, if that is known."""
    dtype = site.scope.tensor(name).dtype
    return tensor if dtype in ("", tensor.dtype) else Tensor(dtype, tensor.shape)


_ENDLESS = 2**31
"""Exporters write a limit above this for a loop without a limit."""


def count_trips(site: Site) -> int | None:
    """Return how often a node's subgraphs run; 1 for branches, None if only a run can show it."""
    if site.op == "If":
        return 1
    if site.op == "Loop":
        return _loop_trips(site)
    if site.op == "Scan":
        return _scan_trips(site)
    return None


def _loop_trips(site: Site) -> int | None:
    """Return the limit if the body never stops early."""
    limit = scalar(site.scope, site.inputs[0]) if site.inputs and site.inputs[0] else None
    begins = scalar(site.scope, site.inputs[1]) if len(site.inputs) > 1 and site.inputs[1] else 1
    if begins == 0 or (limit is not None and limit <= 0):
        return 0
    if limit is not None and limit > _ENDLESS:
        return None
    return limit if begins == 1 and site.inner and _goes_on(site) else None


def _goes_on(site: Site) -> bool:
    body = site.inner[0]
    if not body.graph.output:
        return False
    name = text(body.graph.output[0].name)
    passed = text(body.graph.input[1].name) if len(body.graph.input) > 1 else ""
    maker = body.makers.get(name)
    while maker is not None and maker.op == "Identity":
        name = maker.inputs[0]
        maker = body.makers.get(name)
    return name == passed or scalar(body, name) == 1


def _scan_trips(site: Site) -> int | None:
    """Return the length of the scanned axis."""
    numbers = {attribute.name: attribute for attribute in site.node.attribute}
    count = int(numbers["num_scan_inputs"].i) if "num_scan_inputs" in numbers else 0
    if not 0 < count <= len(site.inputs):
        return None
    axes = list(numbers["scan_input_axes"].ints) if "scan_input_axes" in numbers else []
    shape = site.scope.tensor(site.inputs[-count]).shape
    axis = axes[0] if axes else 0
    return shape[axis] if shape is not None and -len(shape) <= axis < len(shape) else None


def scalar(scope: Scope, name: str) -> int | None:
    """Return the value of a constant with one element."""
    home = scope.home(name)
    if home is None:
        return None
    maker = home.makers.get(name)
    if maker is None:
        proto = home.weights.get(name)
    else:
        proto = next((a.t for a in maker.node.attribute if a.HasField("t")), None) if maker.op == "Constant" else None
    if proto is None or proto.data_location == onnx.TensorProto.EXTERNAL or sum(proto.dims) > 1:
        return None
    try:
        return int(numpy_helper.to_array(proto).reshape(-1)[0])
    except (ValueError, TypeError, IndexError):
        return None


_LARGE_BYTES = 1024


def infer(
    model: onnx.ModelProto, sites: Sequence[Site], top: Scope, shapes: Mapping[str, Shape], dims: Mapping[str, int]
) -> Known:
    """Fill the scopes with inferred shapes; `dims` has the values of symbols."""
    _read_values(model.graph, top, dims)
    for name, shape in shapes.items():
        top.tensors[name] = Tensor(top.tensor(name).dtype, shape)
    inferred = _infer(_strip(model, shapes))
    if inferred is not None:
        # Both are walked in the same order, so their nodes correspond one to one.
        others, _ = find_sites(inferred.graph)
        done: set[int] = set()
        pairs = [(top, inferred.graph)]
        pairs += [(one.scope, other.scope.graph) for one, other in zip(sites, others, strict=True)]
        for scope, graph in pairs:
            if id(scope) not in done:
                done.add(id(scope))
                _read_values(graph, scope, dims)
    return Known(_times(sites))


def _times(sites: Sequence[Site]) -> dict[int, int | None]:
    times: dict[int, int | None] = {}
    trips: dict[int, int | None] = {}
    by_index = {site.index: site for site in sites}
    for site in sites:
        owner = site.scope.owner
        if owner < 0:
            times[site.index] = 1
            continue
        if owner not in trips:
            trips[owner] = count_trips(by_index[owner])
        outer, inner = times[owner], trips[owner]
        times[site.index] = None if outer is None or inner is None else outer * inner
    return times


def _strip(model: onnx.ModelProto, shapes: Mapping[str, Shape]) -> onnx.ModelProto:
    """Return a copy with large weights as inputs: inference reads only small ones, and copies all of them twice."""
    bare = onnx.ModelProto(ir_version=max(model.ir_version, 4), opset_import=model.opset_import)
    graph, source = bare.graph, model.graph
    graph.name = "stripped"
    graph.node.extend(source.node)
    graph.output.extend(source.output)
    graph.value_info.extend(source.value_info)
    declared = {text(value.name) for value in source.input}
    for value in source.input:
        added = graph.input.add()
        added.CopyFrom(value)
        shape = shapes.get(text(value.name))
        if shape is not None and value.type.WhichOneof("value") == "tensor_type":
            added.type.tensor_type.ClearField("shape")
            for dim in shape:
                added.type.tensor_type.shape.dim.add().dim_value = dim
    for weight in source.initializer:
        if weight.data_location != onnx.TensorProto.EXTERNAL and weight.ByteSize() <= _LARGE_BYTES:
            graph.initializer.append(weight)
        elif text(weight.name) not in declared:
            graph.input.append(onnx.helper.make_tensor_value_info(weight.name, weight.data_type, list(weight.dims)))
    for sparse in source.sparse_initializer:
        values = sparse.values
        graph.input.append(onnx.helper.make_tensor_value_info(values.name, values.data_type, list(sparse.dims)))
    return bare


def _infer(bare: onnx.ModelProto) -> onnx.ModelProto | None:
    try:
        return shape_inference.infer_shapes(bare, data_prop=True)
    except MemoryError:
        raise
    except Exception:  # a model that contradicts itself raises a C++ library's types; only declared shapes remain
        return None


def _read_values(graph: onnx.GraphProto, scope: Scope, dims: Mapping[str, int]) -> None:
    for value in (*graph.input, *graph.value_info, *graph.output):
        tensor = _tensor(value, dims)
        if tensor is not None:
            scope.learn(text(value.name), tensor)


def _tensor(value: onnx.ValueInfoProto, dims: Mapping[str, int]) -> Tensor | None:
    if value.type.WhichOneof("value") != "tensor_type":
        return None
    kind = value.type.tensor_type
    dtype = dtype_name(kind.elem_type) if kind.elem_type else ""
    if not kind.HasField("shape"):
        return Tensor(dtype, None)
    sizes = [
        dim.dim_value if dim.HasField("dim_value") else dims.get(text(dim.dim_param), -1) for dim in kind.shape.dim
    ]
    return Tensor(dtype, None if any(size < 0 for size in sizes) else tuple(sizes))
