"""Marks zero points and packing of quantized weights, so that they are counted correctly."""

from __future__ import annotations

import math
from collections.abc import Sequence

from tuibench.models.cost.constant import Constant, Constants
from tuibench.models.cost.site import Site
from tuibench.models.cost.tensor import EIGHT_BITS

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
