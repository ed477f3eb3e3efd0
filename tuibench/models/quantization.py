"""Detects the quantization of a model from operators that only quantized models have."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping

import onnx

from tuibench.models.graph import dtype_name, walk_weights

_DYNAMIC = ("DynamicQuantizeLinear", "MatMulInteger", "ConvInteger", "DynamicQuantizeMatMul", "DynamicQuantizeLSTM")
_STATIC = ("QLinearConv", "QLinearMatMul", "QLinearAdd", "QLinearMul", "QGemm", "QLinearAveragePool", "QLinearConcat")
_WEIGHT_ONLY = ("MatMulNBits", "MatMulBnb4", "GatherBlockQuantized", "QMoE")
_SMALL = ("int4", "uint4", "int8", "uint8", "float8e4m3fn", "float8e5m2", "int2", "uint2", "float4e2m1")


def detect_quantization(model: onnx.ModelProto, operators: Mapping[str, int]) -> str | None:
    """Return the kinds of quantization found, such as 'QDQ int8' or 'dynamic int8', or None."""
    bare = Counter[str]()
    for name, count in operators.items():
        bare[name.rsplit("::", 1)[-1]] += count
    kinds = []
    if any(bare[name] for name in _STATIC):
        kinds.append("QOperator int8")
    if any(bare[name] for name in _DYNAMIC):
        kinds.append("dynamic int8")
    if bare["QuantizeLinear"] and bare["DequantizeLinear"]:
        kinds.append(f"QDQ {_smallest_weights(model)}")
    elif bare["DequantizeLinear"]:
        kinds.append(f"weight-only {_smallest_weights(model)}")
    kinds.extend(f"weight-only ({name})" for name in _WEIGHT_ONLY if bare[name])
    return ", ".join(kinds) or None


def _smallest_weights(model: onnx.ModelProto) -> str:
    """Return the narrow element type of most weights; scalars are zero points and do not count."""
    counts = Counter[str]()
    for weight in walk_weights(model):
        name = dtype_name(weight.data_type)
        if name in _SMALL and len(weight.dims) > 0:
            counts[name] += max(1, math.prod(weight.dims))
    return counts.most_common(1)[0][0] if counts else "int8"
