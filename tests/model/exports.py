"""Models as newer exporters write them, of opset 20 and later, with inputs to feed them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from inspect import signature
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, inliner, numpy_helper

from tests.engines.make import Case, tensor

expanded = pytest.mark.skipif(
    "inline_schema_functions" not in signature(inliner.inline_selected_functions).parameters,
    reason="onnx before 1.19 does not replace operators by their bodies",
)
_Ports = Sequence[onnx.ValueInfoProto]


def normal(*shape: int, seed: int = 0) -> Any:
    """Return random values."""
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def op(kind: str, inputs: str, outputs: str, **attributes: Any) -> onnx.NodeProto:
    """Return a node, with its tensors separated by blanks; `_` is an input that is left out."""
    return helper.make_node(kind, ["" if name == "_" else name for name in inputs.split()], [outputs], **attributes)


def build(name: str, opset: int, nodes: Sequence[onnx.NodeProto], ports: tuple[_Ports, _Ports], **weights: Any) -> Case:
    """Return a model of an opset, with one sample for each of its inputs of floats."""
    held = [numpy_helper.from_array(np.asarray(value), key) for key, value in weights.items()]
    graph = helper.make_graph(nodes, name, *ports, held)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)
    sizes = {"n": 2, "t": 5}
    shapes = {
        port.name: [dim.dim_value or sizes[dim.dim_param] for dim in port.type.tensor_type.shape.dim]
        for port in ports[0]
    }
    return Case(f"{name}{opset}", model, ({key: normal(*shape, seed=3) for key, shape in shapes.items()},))


def perceptron(opset: int) -> Case:
    """Return two layers with both kinds of Gelu."""
    nodes = [
        op("Gemm", "x w c", "a"),
        op("Gelu", "a", "b"),
        op("Gemm", "b v", "d"),
        op("Gelu", "d", "y", approximate="tanh"),
    ]
    ports = [tensor("x", ["n", 16])], [tensor("y", ["n", 8])]
    return build("perceptron", opset, nodes, ports, w=normal(16, 32), c=normal(32), v=normal(32, 8))


def normalized(opset: int) -> Case:
    """Return a convolution with GroupNormalization and HardSwish."""
    nodes = [
        op("Conv", "x w", "a", kernel_shape=[3, 3], pads=[1, 1, 1, 1]),
        op("GroupNormalization", "a s b", "g", num_groups=2),
        op("HardSwish", "g", "h"),
        op("GlobalMaxPool", "h", "y"),
    ]
    ports = [tensor("x", ["n", 4, 8, 8])], [tensor("y", ["n", 4, 1, 1])]
    return build("normalized", opset, nodes, ports, w=normal(4, 4, 3, 3), s=normal(4), b=normal(4))


def resized(opset: int) -> Case:
    """Return a convolution, a Resize and a pooling."""
    nodes = [
        op("Conv", "x w", "a", kernel_shape=[3, 3], pads=[1, 1, 1, 1]),
        op("Relu", "a", "r"),
        op("Resize", "r _ scales", "u", mode="linear"),
        op("AveragePool", "u", "y", kernel_shape=[2, 2]),
    ]
    ports = [tensor("x", ["n", 4, 8, 8])], [tensor("y", ["n", 4, 15, 15])]
    return build("resized", opset, nodes, ports, w=normal(4, 4, 3, 3), scales=np.array([1, 1, 2, 2], np.float32))


def layered(opset: int) -> Case:
    """Return a block of a transformer without attention."""
    nodes = [
        op("LayerNormalization", "x s b", "a", axis=-1),
        op("MatMul", "a w", "m"),
        op("Gelu", "m", "g"),
        op("MatMul", "g v", "o"),
        op("Add", "o x", "y"),
    ]
    ports = [tensor("x", ["n", "t", 16])], [tensor("y", ["n", "t", 16])]
    return build("layered", opset, nodes, ports, s=normal(16), b=normal(16), w=normal(16, 32), v=normal(32, 16))


def attentive(opset: int) -> Case:
    """Return the Attention of opset 23 between two projections."""
    nodes = [
        op("MatMul", "x wq", "q"),
        op("MatMul", "x wk", "k"),
        op("MatMul", "x wv", "v"),
        op("Attention", "q k v", "a", q_num_heads=2, kv_num_heads=2),
        op("MatMul", "a wo", "y"),
    ]
    weights = {f"w{part}": normal(16, 16, seed=at) for at, part in enumerate("qkvo")}
    ports = [tensor("x", ["n", "t", 16])], [tensor("y", ["n", "t", 16])]
    return build("attentive", opset, nodes, ports, **weights)


def causal(opset: int) -> Case:
    """Return a causal Attention without a mask, which is an input left out, and with its past."""
    nodes = [helper.make_node("Attention", ["q", "q", "q", "", "p", "p"], ["y", "more", "also"], is_causal=1)]
    ports = [tensor("q", ["n", 2, "t", 8]), tensor("p", ["n", 2, 3, 8])], [tensor("y", ["n", 2, "t", 8])]
    return build("causal", opset, nodes, ports)


def sampled(opset: int) -> Case:
    """Return a GridSample under the name that its mode got in opset 20."""
    nodes = [op("GridSample", "x at", "s", mode="cubic", align_corners=1), op("Elu", "s", "y")]
    ports = [tensor("x", ["n", 2, 4, 4]), tensor("at", ["n", 3, 3, 2])], [tensor("y", ["n", 2, 3, 3])]
    return build("sampled", opset, nodes, ports)


def scaled(opset: int) -> Case:
    """Return an RMSNormalization and a rotary embedding, both new in opset 23."""
    nodes = [op("RMSNormalization", "x s", "a"), op("RotaryEmbedding", "a cos sin", "y")]
    ports = [tensor("x", ["n", 2, "t", 8])], [tensor("y", ["n", 2, "t", 8])]
    return build("scaled", opset, nodes, ports, s=normal(8), cos=normal(2, 5, 4), sin=normal(2, 5, 4, seed=1))


def joined_text(opset: int) -> Case:
    """Return an operator that no older opset has and for which ONNX defines no body."""
    nodes = [op("StringConcat", "x z", "y")]
    ports = [tensor("x", ["n"], TensorProto.STRING)], [tensor("y", ["n"], TensorProto.STRING)]
    return build("joined_text", opset, nodes, ports, z=np.array(["!"], dtype=object))


EXPORTS: tuple[tuple[Callable[[int], Case], int], ...] = (
    *((make, opset) for make in (perceptron, layered, resized) for opset in (20, 21, 23)),
    (normalized, 21),
    (attentive, 23),
    (scaled, 23),
)
"""Twelve exports of three opsets."""
