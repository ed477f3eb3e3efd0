"""The layers of a model: nodes that multiply by a weight, and where the file stores that weight."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import field
from pathlib import Path

import numpy as np
import onnx
from onnx import numpy_helper

from tuibench.core.errors import ModelError
from tuibench.core.reason import Reason, because
from tuibench.core.value import dataclass
from tuibench.model.cost.structure import Scope, Site, find_sites, size_of
from tuibench.model.file import extent, is_external, read_chunks
from tuibench.model.graph import dtype_name
from tuibench.worker.bundle import Array

_MOST_STEPS = 64
"""Most nodes between a layer and its weight; a longer chain is a loop in a damaged file."""


@dataclass(frozen=True, slots=True)
class Source:
    """The source of a name's value: an initializer, or the node that outputs it."""

    scope: Scope
    name: str
    tensor: onnx.TensorProto | None
    node: onnx.NodeProto | None = None

    @property
    def constant(self) -> onnx.TensorProto | None:
        """The tensor in the initializer or Constant node."""
        is_constant = self.node is not None and self.node.op_type == "Constant"
        return self.filler if is_constant else self.tensor

    @property
    def filler(self) -> onnx.TensorProto | None:
        """The value of the node; None for the default of ConstantOfShape, a float zero."""
        attributes = self.node.attribute if self.node is not None else ()
        return next((a.t for a in attributes if a.name == "value" and a.HasField("t")), None)


def find_source(scope: Scope, name: str) -> Source | None:
    """Return the source of a name; None for an input or an unknown name."""
    home = scope.home(name)
    maker = home.makers.get(name) if home is not None else None
    if home is None or (maker is None and name not in home.weights):
        return None
    return Source(home, name, None, maker.node) if maker is not None else Source(home, name, home.weights[name])


@dataclass(slots=True)
class Trail:
    """The path from a node's input back to the stored weight."""

    source: Source | None = None
    permutations: list[tuple[int, ...]] = field(default_factory=list)
    """Nearest to the node first; an empty one reverses all axes."""
    dequantizer: onnx.NodeProto | None = None
    dequantizer_scope: Scope | None = None
    permutations_before: int = 0
    quantized: bool = False

    def stored_axis(self, axis: int, rank: int, skip: int = 0) -> int:
        """Return the stored axis behind an axis of the node's view; skip the first `skip` permutations."""
        for permutation in self.permutations[skip:]:
            axis = permutation[axis] if permutation else rank - 1 - axis
        return axis


def follow(scope: Scope, name: str) -> Trail:
    """Trace `name` back as long as a single input determines its value."""
    trail = Trail()
    for _ in range(_MOST_STEPS):
        source = find_source(scope, name)
        if source is None or source.tensor is not None:
            trail.source = source
            return trail
        node = source.node
        assert node is not None
        scope = source.scope
        if node.op_type in ("Constant", "ConstantOfShape"):
            trail.source = source
            return trail
        if node.op_type == "Transpose":
            trail.permutations.append(integers_of(node, "perm"))
        elif node.op_type == "DequantizeLinear" and not trail.quantized:
            trail.dequantizer, trail.dequantizer_scope, trail.quantized = node, scope, True
            trail.permutations_before = len(trail.permutations)
        elif node.op_type == "QuantizeLinear":
            # Behind it are the original weights, which have a scale of their own.
            trail.dequantizer = trail.dequantizer_scope = None
            trail.quantized = True
        elif node.op_type not in ("Identity", "Cast"):
            return trail
        if not node.input:
            return trail
        name = node.input[0]
    return trail


def integer_of(node: onnx.NodeProto, name: str, default: int) -> int:
    """Return an integer attribute."""
    return next((int(a.i) for a in node.attribute if a.name == name), default)


def integers_of(node: onnx.NodeProto, name: str) -> tuple[int, ...]:
    """Return an integer-list attribute; empty if it is missing."""
    return next((tuple(a.ints) for a in node.attribute if a.name == name), ())


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
    reason: Reason | None = None

    @property
    def dtype(self) -> str:
        """The numpy-like name of the stored type."""
        return dtype_name(self.element)


def find_layers(graph: onnx.GraphProto) -> tuple[Layer, ...]:
    """Return all layers in file order; layers that share a weight appear once, under the first one."""
    found: dict[tuple[int, str], Layer] = {}
    for place in find_sites(graph)[0]:
        if place.node.domain not in _DOMAINS:
            continue
        for layer in _layers_at(place):
            found.setdefault((id(layer.root.scope), layer.root.name), layer)
    return tuple(found.values())


def _layers_at(place: Site) -> Iterator[Layer]:
    node = place.node
    if node.op_type in _PACKED:
        source = find_source(place.scope, node.input[1]) if len(node.input) > 1 else None
        if source is not None and source.tensor is not None:
            yield _make(place, source, source.tensor.data_type, tuple(source.tensor.dims), Reason("weights_packed"))
        return
    for at, scale, zero in _LAYERS.get(node.op_type, ()):
        if at >= len(node.input):
            continue
        trail = follow(place.scope, node.input[at])
        source = trail.source
        stored = _stored(source) if source else None
        if source is not None and stored is not None and len(stored[1]) >= 2:
            yield _describe(place, source, trail, stored, (at, scale, zero))
            return


def _describe(place: Site, source: Source, trail: Trail, stored: tuple[int, tuple[int, ...]], inputs: _Inputs) -> Layer:
    element, shape = stored
    at, scale_at, zero_at = inputs
    node, rank = place.node, len(shape)
    given, scope, places = node, place.scope, (scale_at, zero_at)
    if trail.dequantizer is not None and trail.dequantizer_scope is not None:
        given, scope, places = trail.dequantizer, trail.dequantizer_scope, (1, 2)
    scale, zero = (_find_input(scope, given, number) for number in places)
    reason = _reason_against(trail, element, rank, scale)
    channel_axis = 0 if reason else _channel_axis(trail, node, at, rank)
    if not reason and not all(_fits(held, shape[channel_axis]) for held in (scale, zero)):
        reason = Reason("scales_of_no_channels")
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


def _reason_against(trail: Trail, element: int, rank: int, scale: Source | None) -> Reason | None:
    if dtype_name(element) not in (*FLOATS, *_BYTES):
        return because("weights_of_type", dtype=dtype_name(element))
    if trail.dequantizer is not None and scale is None:
        return Reason("scale_not_constant")
    if any(permutation and sorted(permutation) != list(range(rank)) for permutation in trail.permutations):
        return Reason("axes_unclear")
    return None


def _fits(source: Source | None, channels: int) -> bool:
    """Return whether there is one value for all channels or one per channel."""
    tensor = source.constant if source else None
    return tensor is None or math.prod(tensor.dims) == 1 or list(tensor.dims) == [channels]


def _channel_axis(trail: Trail, node: onnx.NodeProto, at: int, rank: int) -> int:
    """Return the stored axis that the per-channel scales and zero points apply to."""
    if trail.dequantizer is None:
        return trail.stored_axis(_output_axis(node, at, rank), rank)
    named = integer_of(trail.dequantizer, "axis", 1)
    return trail.stored_axis(named % rank, rank, trail.permutations_before)


def _make(place: Site, source: Source, element: int, shape: tuple[int, ...], reason: Reason) -> Layer:
    return Layer(place.id, place.op, place.node.name, source.name, source, element, shape, reason=reason)


def _stored(source: Source) -> tuple[int, tuple[int, ...]] | None:
    """Return the stored element type and shape; None if the weight cannot be read."""
    tensor = source.constant
    if tensor is not None:
        shape = tuple(tensor.dims)
        return (tensor.data_type, shape) if all(dim > 0 for dim in shape) else None
    node = source.node
    if node is None or node.op_type != "ConstantOfShape" or not node.input:
        return None
    given = find_source(source.scope, node.input[0])
    dims = given.constant if given else None
    if dims is None or dims.data_location == onnx.TensorProto.EXTERNAL or dims.data_type != onnx.TensorProto.INT64:
        return None
    try:
        shape = tuple(int(dim) for dim in onnx.numpy_helper.to_array(dims).reshape(-1))
    except ValueError:
        # The data is shorter than its shape: the engine will refuse the model in its own words.
        return None
    element = source.filler.data_type if source.filler is not None else onnx.TensorProto.FLOAT
    return (element, shape) if all(dim > 0 for dim in shape) else None


def _find_input(scope: Scope, node: onnx.NodeProto, number: int | None) -> Source | None:
    if number is None or number >= len(node.input) or not node.input[number]:
        return None
    source = find_source(scope, node.input[number])
    return source if source and source.constant is not None else None


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


@dataclass(frozen=True, slots=True)
class Weight:
    """One weight: as stored, and its real values."""

    stored: Array
    real: Array
    """The real values as floats, in the same shape."""
    zero: Array
    """The stored value of zero: one element, or one per channel."""


class WeightReader:
    """Reads the weights of one model; caches the sizes of their files."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._sizes: dict[Path, int] = {}

    def stored(self, layer: Layer) -> Array:
        """Return the array stored in the file."""
        if layer.root.constant is not None:
            return self.tensor(layer.root.constant)
        filler = layer.root.filler
        value = self.tensor(filler).reshape(-1) if filler is not None else np.zeros(1, np.float32)
        return np.full(layer.shape, value[0])

    def weight(self, layer: Layer, stored: Array | None = None) -> Weight:
        """Return a layer's weight; the layer must have no reason against it."""
        held = self.stored(layer) if stored is None else stored
        if held.dtype.kind == "f":
            return Weight(held, held if held.dtype != np.float16 else held.astype(np.float32), np.zeros(1, held.dtype))
        zero = self._along_channels(layer, layer.zero)
        zero = np.zeros(1, held.dtype) if zero is None else zero.astype(held.dtype)
        scale = self._along_channels(layer, layer.scale)
        real = held.astype(np.float32) - zero.astype(np.float32)
        # An overflowing scale gives infinite weights, which the layer then reports.
        with np.errstate(over="ignore", invalid="ignore"):
            return Weight(held, real if scale is None else real * scale.astype(np.float32), zero)

    def tensor(self, tensor: onnx.TensorProto) -> Array:
        """Read any tensor of the model; raise ModelError if it is damaged."""
        try:
            return np.asarray(numpy_helper.to_array(self._inside(tensor)))
        except (ValueError, TypeError, KeyError) as error:
            raise ModelError("weight_damaged", name=tensor.name, text=str(error)[:500]) from None

    def raw(self, tensor: onnx.TensorProto) -> bytes:
        """Return exactly the bytes of an external weight."""
        place = extent(tensor, self._path, self._sizes)
        # Types of two or four bits share bytes; numpy uses one byte for each element.
        needed = size_of(dtype_name(tensor.data_type), tuple(tensor.dims))
        if needed is None:
            needed = math.prod(tensor.dims) * onnx.helper.tensor_dtype_to_np_dtype(tensor.data_type).itemsize
        return b"".join(read_chunks(place.path, place.offset, min(place.length, needed)))

    def _inside(self, tensor: onnx.TensorProto) -> onnx.TensorProto:
        if not is_external(tensor):
            return tensor
        return onnx.TensorProto(
            name=tensor.name, data_type=tensor.data_type, dims=tensor.dims, raw_data=self.raw(tensor)
        )

    def _along_channels(self, layer: Layer, source: Source | None) -> Array | None:
        tensor = source.constant if source else None
        if tensor is None:
            return None
        values = self.tensor(tensor)
        if values.size == 1:
            return values.reshape(1)
        return values.reshape([-1 if at == layer.channel_axis else 1 for at in range(len(layer.shape))])
