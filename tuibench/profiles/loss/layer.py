"""The layers of a model: nodes that multiply by a weight, and where the file stores that weight."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import onnx

from tuibench.models.graph import dtype_name
from tuibench.models.node import Placed
from tuibench.profiles.loss.scope import Scopes, Source
from tuibench.profiles.loss.trail import Trail, follow, integer_of

FLOATS = ("float32", "float64", "float16")
_BYTES = ("int8", "uint8")
_DOMAINS = ("", "ai.onnx", "com.microsoft")
_Inputs = tuple[int, int | None, int | None]
"""The positions of a weight, its scale and its zero point among a node's inputs."""
_PLAIN: tuple[_Inputs, ...] = ((1, None, None), (0, None, None))
_CONVOLUTIONS: dict[str, tuple[_Inputs, ...]] = {
    **dict.fromkeys(("Conv", "FusedConv", "ConvTranspose"), ((1, None, None),)),
    "QLinearConv": ((3, 4, 5),),
    "ConvInteger": ((1, None, 3),),
}
_PRODUCTS: dict[str, tuple[_Inputs, ...]] = {
    **dict.fromkeys(("Gemm", "FusedGemm", "MatMul", "FusedMatMul"), _PLAIN),
    "Attention": ((1, None, None),),
    **dict.fromkeys(("QLinearMatMul", "QGemm"), ((3, 4, 5), (0, 1, 2))),
    "MatMulInteger": ((1, None, 3), (0, None, 2)),
    "MatMulIntegerToFloat": ((1, 3, 5), (0, 2, 4)),
    "DynamicQuantizeMatMul": ((1, 2, 3),),
}
_LAYERS = _CONVOLUTIONS | _PRODUCTS
LAYER_OPERATORS = frozenset(_LAYERS)
_PACKED = ("MatMulNBits", "MatMulBnb4", "MatMulFpQ4")


@dataclass(frozen=True, slots=True)
class Layer:
    """A node and its weight; axes refer to the weight as stored."""

    id: str
    op: str
    name: str
    weight: str
    root: Source
    element: int
    """TensorProto element type of the stored weight."""
    shape: tuple[int, ...]
    reduced: tuple[int, ...] = ()
    """The axes within one output channel."""
    groups: tuple[int, int] | None = None
    """The axis that stacks channel groups, and the number of groups."""
    scale: Source | None = None
    zero: Source | None = None
    channel_axis: int = 0
    """The axis of the scales and zero points."""
    integer: bool = False
    """True if the multiplication uses an int8 weight."""
    reason: str = ""

    @property
    def dtype(self) -> str:
        """The numpy-like name of the stored type."""
        return dtype_name(self.element)


def find_layers(scopes: Scopes) -> tuple[Layer, ...]:
    """Return all layers in file order; layers that share a weight appear once, under the first one."""
    found: dict[tuple[int, str], Layer] = {}
    for place in scopes.places:
        if place.node.domain not in _DOMAINS:
            continue
        for layer in _layers_at(scopes, place):
            found.setdefault((id(layer.root.graph), layer.root.name), layer)
    return tuple(found.values())


def _layers_at(scopes: Scopes, place: Placed) -> Iterator[Layer]:
    node = place.node
    if node.op_type in _PACKED:
        source = scopes.find(place.graph, node.input[1]) if len(node.input) > 1 else None
        if source is not None and source.tensor is not None:
            yield _make(place, source, source.tensor.data_type, tuple(source.tensor.dims), "its weights are packed")
        return
    for at, scale, zero in _LAYERS.get(node.op_type, ()):
        if at >= len(node.input):
            continue
        trail = follow(scopes, place.graph, node.input[at])
        source = trail.source
        stored = _stored(scopes, source) if source else None
        if source is not None and stored is not None and len(stored[1]) >= 2:
            yield _describe(scopes, place, source, trail, stored, (at, scale, zero))
            return


def _describe(
    scopes: Scopes, place: Placed, source: Source, trail: Trail, stored: tuple[int, tuple[int, ...]], inputs: _Inputs
) -> Layer:
    element, shape = stored
    at, scale_at, zero_at = inputs
    node, rank = place.node, len(shape)
    given, graph, places = node, place.graph, (scale_at, zero_at)
    if trail.dequantizer is not None and trail.dequantizer_graph is not None:
        given, graph, places = trail.dequantizer, trail.dequantizer_graph, (1, 2)
    scale, zero = (_find_input(scopes, graph, given, number) for number in places)
    reason = _reason_against(trail, element, rank, scale)
    channel_axis = 0 if reason else _channel_axis(trail, node, at, rank)
    if not reason and not all(_fits(held, shape[channel_axis]) for held in (scale, zero)):
        reason = "its weights have scales for something else than channels"
    if reason:
        return _make(place, source, element, shape, reason)
    groups = integer_of(node, "group", 1) if node.op_type == "ConvTranspose" else 1
    split = trail.stored_axis(0, rank)
    return Layer(
        *(place.id, place.op, node.name, source.name, source, element, shape),
        reduced=tuple(sorted(trail.stored_axis(a, rank) for a in _reduced_axes(node, at, rank))),
        groups=(split, groups) if groups > 1 and shape[split] % groups == 0 else None,
        scale=scale,
        zero=zero,
        channel_axis=channel_axis,
        integer=trail.quantized or dtype_name(element) in _BYTES,
    )


def _reason_against(trail: Trail, element: int, rank: int, scale: Source | None) -> str:
    if dtype_name(element) not in (*FLOATS, *_BYTES):
        return f"its weights are {dtype_name(element)}"
    if trail.dequantizer is not None and scale is None:
        return "the scale of its weights is no constant"
    if any(permutation and sorted(permutation) != list(range(rank)) for permutation in trail.permutations):
        return "the axes of its weights are unclear"
    return ""


def _fits(source: Source | None, channels: int) -> bool:
    """Return whether there is one value for all channels or one per channel."""
    tensor = (source.tensor or constant_tensor(source)) if source else None
    return tensor is None or math.prod(tensor.dims) == 1 or list(tensor.dims) == [channels]


def _channel_axis(trail: Trail, node: onnx.NodeProto, at: int, rank: int) -> int:
    """Return the stored axis that the per-channel scales and zero points apply to."""
    if trail.dequantizer is None:
        return trail.stored_axis(_output_axis(node, at, rank), rank)
    named = integer_of(trail.dequantizer, "axis", 1)
    return trail.stored_axis(named % rank, rank, trail.permutations_before)


def _make(place: Placed, source: Source, element: int, shape: tuple[int, ...], reason: str) -> Layer:
    return Layer(place.id, place.op, place.node.name, source.name, source, element, shape, reason=reason)


def _stored(scopes: Scopes, source: Source) -> tuple[int, tuple[int, ...]] | None:
    """Return the stored element type and shape; None if the weight cannot be read."""
    tensor = source.tensor or constant_tensor(source)
    if tensor is not None:
        shape = tuple(tensor.dims)
        return (tensor.data_type, shape) if all(dim > 0 for dim in shape) else None
    node = source.node
    if node is None or node.op_type != "ConstantOfShape" or not node.input:
        return None
    given = scopes.find(source.graph, node.input[0])
    dims = (given.tensor or constant_tensor(given)) if given else None
    if dims is None or dims.data_location == onnx.TensorProto.EXTERNAL or dims.data_type != onnx.TensorProto.INT64:
        return None
    try:
        shape = tuple(int(dim) for dim in onnx.numpy_helper.to_array(dims).reshape(-1))
    except ValueError:
        # The data is shorter than its shape: the engine will refuse the model in its own words.
        return None
    filler = fill_tensor(node)
    element = filler.data_type if filler is not None else onnx.TensorProto.FLOAT
    return (element, shape) if all(dim > 0 for dim in shape) else None


def constant_tensor(source: Source) -> onnx.TensorProto | None:
    """Return the tensor in a Constant node."""
    if source.node is None or source.node.op_type != "Constant":
        return None
    return next((a.t for a in source.node.attribute if a.name == "value" and a.HasField("t")), None)


def fill_tensor(node: onnx.NodeProto) -> onnx.TensorProto | None:
    """Return the value that ConstantOfShape repeats; None for its default, a float zero."""
    return next((a.t for a in node.attribute if a.name == "value" and a.HasField("t")), None)


def _find_input(scopes: Scopes, graph: onnx.GraphProto, node: onnx.NodeProto, number: int | None) -> Source | None:
    if number is None or number >= len(node.input) or not node.input[number]:
        return None
    source = scopes.find(graph, node.input[number])
    return source if source and (source.tensor is not None or constant_tensor(source) is not None) else None


def _output_axis(node: onnx.NodeProto, at: int, rank: int) -> int:
    """Return the axis of output channels, in the weight as the node reads it."""
    if node.op_type in _CONVOLUTIONS:
        return 1 if node.op_type == "ConvTranspose" else 0
    return 2 * rank - 3 - _reduced_axes(node, at, rank)[0]


def _reduced_axes(node: onnx.NodeProto, at: int, rank: int) -> tuple[int, ...]:
    if node.op_type in _CONVOLUTIONS:
        return tuple(axis for axis in range(rank) if axis != _output_axis(node, at, rank))
    turned = integer_of(node, "transA" if at == 0 else "transB", 0) != 0
    return (rank - 1 if (at == 0) != turned else rank - 2,)
