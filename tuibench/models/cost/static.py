"""Infers shapes without a run, with ONNX's own inference on a copy without weights, and trip counts from constants."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import onnx
from onnx import shape_inference

from tuibench.models.cost.known import Known
from tuibench.models.cost.site import Scope, Site, find_sites
from tuibench.models.cost.tensor import Shape, Tensor
from tuibench.models.cost.trips import count_trips
from tuibench.models.graph import dtype_name, text

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
