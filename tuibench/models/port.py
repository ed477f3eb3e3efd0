"""Graph inputs and outputs as Ports: raw names, None for unknown dims, without weights listed as inputs."""

from __future__ import annotations

import onnx

from tuibench.core.model import Port
from tuibench.models.graph import dtype_name, text

# Placeholders that exporters write for unknown names; equal ones do not mean equal dims.
_NAMELESS = frozenset({"", "?", "-1", "None", "none", "unk", "unknown"})


def input_ports(graph: onnx.GraphProto) -> tuple[Port, ...]:
    """Return the inputs that must be fed; up to IR 3 the list of inputs also contains every initializer."""
    held = {text(i.name) for i in graph.initializer} | {text(s.values.name) for s in graph.sparse_initializer}
    return tuple(port(value) for value in graph.input if text(value.name) not in held)


def output_ports(graph: onnx.GraphProto) -> tuple[Port, ...]:
    """Return the model's outputs."""
    return tuple(port(value) for value in graph.output)


def port(value: onnx.ValueInfoProto) -> Port:
    """Return the Port of one input or output."""
    kind, dtype, shape, inner = _read(value.type)
    return Port(text(value.name), kind, dtype, shape, inner)


def _read(kind: onnx.TypeProto) -> tuple[str, str, tuple[int | str | None, ...] | None, str | None]:
    """Return kind, element type, shape (of each element for a sequence) and the inner kind."""
    which = kind.WhichOneof("value")
    if which == "sequence_type":
        inner = _read(kind.sequence_type.elem_type)
        return "sequence", inner[1], inner[2], inner[0]
    if which == "optional_type":
        inner = _read(kind.optional_type.elem_type)
        return "optional", inner[1], inner[2], inner[0]
    if which == "map_type":
        key, value = dtype_name(kind.map_type.key_type), _read(kind.map_type.value_type)
        return "map", f"{key}->{value[1]}", None, value[0]
    tensor = kind.sparse_tensor_type if which == "sparse_tensor_type" else kind.tensor_type
    # Without a type nothing is known; the engine may be able to infer it.
    shape = tuple(_dim(dim) for dim in tensor.shape.dim) if tensor.HasField("shape") else None
    return "tensor", dtype_name(tensor.elem_type), shape, None


def _dim(dim: onnx.TensorShapeProto.Dimension) -> int | str | None:
    which = dim.WhichOneof("value")
    if which == "dim_value":
        return int(dim.dim_value) if dim.dim_value >= 0 else None
    name = text(dim.dim_param) if which == "dim_param" else ""
    return None if name.strip() in _NAMELESS else name
