"""Constants of a model: weights, tensors computed from them, zero points and packing of quantized weights."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import onnx

from tuibench.model.cost.structure import EIGHT_BITS, Scope, Shape, Site, is_parameter_type, size_of
from tuibench.model.graph import dtype_name, text

_MOST_SOURCES = 16
"""Limit of weights tracked behind one computed constant; with more, its own node keeps them."""
_VARYING = frozenset({"RandomNormal", "RandomUniform", "RandomNormalLike", "RandomUniformLike", "Multinomial",
                      "Bernoulli"})  # fmt: skip


@dataclass(eq=False)
class Constant:
    """One weight stored in the file, or filled there with one value."""

    name: str
    dtype: str
    shape: Shape
    proto: onnx.TensorProto | None
    """None if it is filled with one value or sparse."""
    zeros: int = 0
    """Zeros of a constant without a proto."""
    elements: int = 0
    """Number of elements that count as parameters."""
    zero_point: Constant | None = None
    """The constant that represents 0 in this one, if it has a zero point."""
    packed: bool = False
    """True if one element packs several values, so that zeros cannot be counted."""

    @property
    def size(self) -> int:
        """Size in bytes."""
        return size_of(self.dtype, self.shape) or 0


@dataclass
class Constants:
    """The constant tensors of a model and the weights behind each."""

    behind: dict[tuple[int, str], tuple[Constant, ...]] = field(default_factory=dict)
    """Weights behind each tensor that depends on weights alone, by scope and name."""
    folded: set[int] = field(default_factory=set)
    """Nodes that depend only on constants."""

    def find(self, scope: Scope, name: str) -> tuple[Constant, ...] | None:
        """Return the weights behind a tensor; None if it is not constant."""
        home = scope.home(name)
        return self.behind.get((id(home), name)) if home is not None else None

    def sources(self, site: Site) -> list[Constant]:
        """Return the weights that a node reads, each once, in the order of its inputs."""
        found = (constant for name in site.inputs if name for constant in self.find(site.scope, name) or ())
        return list(dict.fromkeys(found))


def find_constants(sites: list[Site], top: Scope) -> Constants:
    """Find the constants of a model, in the order of its nodes."""
    constants = Constants()
    seen: set[int] = set()
    for scope in (top, *(site.scope for site in sites)):
        if id(scope) not in seen:
            seen.add(id(scope))
            _add_initializers(constants, scope)
    for site in sites:
        inputs = [name for name in site.inputs if name]
        found = [constants.find(site.scope, name) for name in inputs]
        made = _made_here(site)
        if made is None and (not inputs or site.inner or site.node.op_type in _VARYING):
            continue
        if any(one is None for one in found):
            continue
        constants.folded.add(site.index)
        sources = (made,) if made is not None else tuple(dict.fromkeys(c for one in found for c in one or ()))
        for name in site.outputs:
            constants.behind[id(site.scope), name] = sources if len(sources) <= _MOST_SOURCES else ()
    return constants


def _add_initializers(constants: Constants, scope: Scope) -> None:
    for proto in scope.graph.initializer:
        constants.behind[id(scope), text(proto.name)] = (_of_proto(text(proto.name), proto),)
    for sparse in scope.graph.sparse_initializer:
        name = text(sparse.values.name)
        constants.behind[id(scope), name] = (_of_sparse(name, sparse),)


def _made_here(site: Site) -> Constant | None:
    """Return the constant that the node itself creates, or None."""
    name = site.outputs[0] if site.outputs else ""
    if site.op == "Constant":
        return _of_attribute(site.node, name)
    if site.op != "ConstantOfShape":
        return None
    known = site.scope.tensor(name)
    value = next((a.t for a in site.node.attribute if a.name == "value"), None)
    dtype = "float32" if value is None else dtype_name(value.data_type)
    zero = value is None or (not any(value.raw_data) and not any(value.float_data))
    shape = known.shape or ()
    # Zeros are an initial state or padding; any other value replaces weights that the file does not store.
    return Constant(name, dtype, shape, None, 0, 0 if zero or known.shape is None else _count(dtype, shape))


def _of_attribute(node: onnx.NodeProto, name: str) -> Constant:
    for attribute in node.attribute:
        if attribute.HasField("t"):
            return _of_proto(name, attribute.t)
        if attribute.HasField("sparse_tensor"):
            return _of_sparse(name, attribute.sparse_tensor)
        if attribute.name in ("value_float", "value_floats"):
            shape = (len(attribute.floats),) if attribute.name == "value_floats" else ()
            return Constant(name, "float32", shape, None, elements=math.prod(shape))
    return Constant(name, "", (), None)


def _of_sparse(name: str, sparse: onnx.SparseTensorProto) -> Constant:
    dtype, shape = dtype_name(sparse.values.data_type), tuple(max(dim, 0) for dim in sparse.dims)
    elements = _count(dtype, shape)
    return Constant(name, dtype, shape, None, max(elements - math.prod(sparse.values.dims), 0), elements)


def _of_proto(name: str, proto: onnx.TensorProto) -> Constant:
    dtype, shape = dtype_name(proto.data_type), tuple(max(dim, 0) for dim in proto.dims)
    return Constant(name, dtype, shape, proto, elements=_count(dtype, shape))


def _count(dtype: str, shape: Shape) -> int:
    return math.prod(shape) if is_parameter_type(dtype) else 0


_WEIGHTS = {
    "DequantizeLinear": (0, 2),
    "QLinearConv": (3, 5),
    "QLinearMatMul": (3, 5),
    "ConvInteger": (1, 3),
    "MatMulInteger": (1, 3),
    "com.microsoft.DequantizeLinear": (0, 2),
    "com.microsoft.QLinearConv": (3, 5),
    "com.microsoft.QGemm": (3, 5),
    "com.microsoft.DynamicQuantizeMatMul": (1, 3),
    "com.microsoft.MatMulIntegerToFloat": (1, 5),
    "com.microsoft.QAttention": (1, 7),
    "com.microsoft.GatherBlockQuantized": (0, 3),
}
"""Input positions of the weight and its zero point."""
_BIASES = {"QLinearConv": 8, "com.microsoft.QLinearConv": 8, "com.microsoft.QGemm": 6}
_SCALES = {
    "QuantizeLinear": (1, 2),
    "DequantizeLinear": (1, 2),
    "QLinearConv": (1, 2, 4, 5, 6, 7),
    "QLinearMatMul": (1, 2, 4, 5, 6, 7),
    "ConvInteger": (2, 3),
    "MatMulInteger": (2, 3),
    "QGemm": (1, 2, 4, 5, 7, 8),
    "QLinearAdd": (1, 2, 4, 5, 6, 7),
    "QLinearMul": (1, 2, 4, 5, 6, 7),
    "DynamicQuantizeMatMul": (2, 3),
    "MatMulIntegerToFloat": (2, 3, 4, 5),
    "MatMulNBits": (2, 3),
    "MatMulBnb4": (2,),
    "GatherBlockQuantized": (2, 3),
    "QAttention": (3, 4, 6, 7),
    "DynamicQuantizeLSTM": (8, 9, 10, 11),
    "QEmbedLayerNormalization": (8, 9, 10, 11, 12, 13, 14, 15, 16, 17),
    "QLinearWhere": (2, 3, 5, 6, 7, 8),
    **dict.fromkeys(
        (
            *("QLinearSigmoid", "QLinearLeakyRelu", "QLinearSoftmax", "QLinearReduceMean"),
            *("QLinearAveragePool", "QLinearGlobalAveragePool"),
        ),
        (1, 2, 3, 4),
    ),
}
"""Input positions of scales and zero points, in any domain: they are no learned weights."""
_PACKED = ("com.microsoft.MatMulNBits", "com.microsoft.MatMulBnb4")
_LOOKUP = "com.microsoft.GatherBlockQuantized"
_FLOAT_PRODUCTS = frozenset({"Conv", "ConvTranspose", "Gemm", "MatMul", "Einsum"})
_DEQUANTIZE = ("DequantizeLinear", "com.microsoft.DequantizeLinear")


def describe_weights(sites: list[Site], constants: Constants) -> None:
    """Set for each quantized weight how its elements and zeros are counted."""
    for site in sites:
        for number in _scales_of(site):
            scale = _only(constants, site, number)
            if scale is not None:
                scale.elements = 0
        place = _WEIGHTS.get(site.op)
        if place is not None:
            _mark_zero_point(_only(constants, site, place[0]), _only(constants, site, place[1]))
        bias = _only(constants, site, _BIASES.get(site.op, -1))
        if bias is not None and bias.dtype == "int32":
            bias.elements = math.prod(bias.shape)
        if site.op in _PACKED:
            _mark_packed(_only(constants, site, 1), site)
        if site.op == _LOOKUP:
            _mark_bytes(_only(constants, site, 0), site)


def _scales_of(site: Site) -> Sequence[int]:
    name = site.op.removeprefix("com.microsoft.")
    if name == "QLinearConcat":
        # Scale and zero point of the result come first, then each tensor with its own two.
        return [number for number in range(len(site.inputs)) if number % 3 != 2]
    return _SCALES.get(name, ())


def multiplies_integers(site: Site) -> bool:
    """Return whether both factors of a float product were dequantized from 8 bits."""
    return site.op in _FLOAT_PRODUCTS and len(site.inputs) > 1 and all(_was_eight(site, n) for n in (0, 1))


def _was_eight(site: Site, number: int) -> bool:
    maker = site.scope.maker(site.inputs[number])
    if maker is None or maker.op not in _DEQUANTIZE or not maker.inputs:
        return False
    return _element_type(maker) in EIGHT_BITS


def _element_type(dequantize: Site) -> str:
    """Return the element type before dequantization; taken from the zero point if a run did not show it."""
    known = dequantize.scope.tensor(dequantize.inputs[0]).dtype
    if not known and len(dequantize.inputs) > 2 and dequantize.inputs[2]:
        return dequantize.scope.tensor(dequantize.inputs[2]).dtype
    return known


def _only(constants: Constants, site: Site, number: int) -> Constant | None:
    if not 0 <= number < len(site.inputs) or not site.inputs[number]:
        return None
    found = constants.find(site.scope, site.inputs[number])
    return found[0] if found is not None and len(found) == 1 else None


def _mark_zero_point(weight: Constant | None, zero_point: Constant | None) -> None:
    if weight is None:
        return
    weight.zero_point = zero_point
    if weight.dtype == "int32":
        weight.elements = math.prod(weight.shape)


def _mark_packed(weight: Constant | None, site: Site) -> None:
    if weight is None:
        return
    sizes = {attribute.name: int(attribute.i) for attribute in site.node.attribute}
    weight.elements, weight.packed = max(sizes.get("K", 0), 0) * max(sizes.get("N", 0), 0), True


def _mark_bytes(weight: Constant | None, site: Site) -> None:
    """Set the count of numbers packed into bytes; without a zero point, zeros cannot be counted."""
    bits = next((int(attribute.i) for attribute in site.node.attribute if attribute.name == "bits"), 4)
    if weight is not None and weight.dtype == "uint8" and bits in (2, 4, 8):
        weight.elements = 8 // bits * math.prod(weight.shape)
        weight.packed = bits < 8 or weight.zero_point is None
