"""Detects outputs that look like class scores, by their values, names and operators."""

from __future__ import annotations

import re
from collections.abc import Mapping

import numpy as np
import onnx

from tuibench.arrays.bundle import Array
from tuibench.profiles.loss.likeness import rows_of_classes

_NAMED = re.compile(r"logit|prob|softmax|score|class|label", re.IGNORECASE)
_OTHERWISE = re.compile(r"embed|hidden|pool|feature|box|coord|state|mask", re.IGNORECASE)
_SHAPING = frozenset({"Reshape", "Flatten", "Squeeze", "Identity", "Cast", "Transpose"})
_DECIDING = frozenset(
    {"Gemm", "MatMul", "Add", "Conv", "Softmax", "LogSoftmax", "GlobalAveragePool", "DequantizeLinear"}
)
_MOST_STEPS = 16
_SLACK = 0.01


def find_probabilities(outputs: Mapping[str, Array]) -> frozenset[str]:
    """Return the outputs whose rows all add up to one."""
    return frozenset(name for name, array in outputs.items() if array.ndim >= 2 and _adds_up(array))


def find_classes(graph: onnx.GraphProto, outputs: Mapping[str, Array]) -> frozenset[str]:
    """Return the outputs whose last axis looks like one score per class."""
    makers = {name: node for node in graph.node for name in node.output if name}
    return frozenset(name for name, array in outputs.items() if array.ndim >= 2 and _looks(name, array, makers))


def _looks(name: str, array: Array, makers: Mapping[str, onnx.NodeProto]) -> bool:
    count = rows_of_classes(array).shape[1]
    if count < 2:
        return False
    if _adds_up(array) or _NAMED.search(name):
        return True
    decisions = array.size // count
    plain = array.ndim == 2 or decisions == array.shape[0]
    return plain and not _OTHERWISE.search(name) and _maker(name, makers) in _DECIDING


def _adds_up(array: Array) -> bool:
    rows = rows_of_classes(array)
    if rows.shape[1] < 2 or not np.isfinite(rows).all() or rows.min() < 0 or rows.max() > 1 + _SLACK:
        return False
    return bool(np.abs(rows.sum(axis=1, dtype=np.float64) - 1).max() < _SLACK)


def _maker(name: str, makers: Mapping[str, onnx.NodeProto]) -> str:
    """Return the operator that computes an output; look through operators that only reshape it."""
    for _ in range(_MOST_STEPS):
        node = makers.get(name)
        if node is None:
            return ""
        if node.op_type not in _SHAPING or not node.input:
            return str(node.op_type)
        name = node.input[0]
    return ""
