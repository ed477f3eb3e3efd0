"""Small models built by the tests, so that the repository contains no model file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

F32, F16, BF16, I64, I32 = (
    TensorProto.FLOAT,
    TensorProto.FLOAT16,
    TensorProto.BFLOAT16,
    TensorProto.INT64,
    TensorProto.INT32,
)
U8, BOOL, STRING = TensorProto.UINT8, TensorProto.BOOL, TensorProto.STRING
Dims = Sequence[int | str | None] | None


def tensor(name: str, element: int, dims: Dims) -> onnx.ValueInfoProto:
    """Return a tensor as input or output."""
    return helper.make_tensor_value_info(name, element, dims)


def weight(name: str, array: Any) -> onnx.TensorProto:
    """Return an initializer."""
    return numpy_helper.from_array(np.asarray(array), name)


def model(
    nodes: Sequence[onnx.NodeProto],
    inputs: Sequence[onnx.ValueInfoProto],
    outputs: Sequence[onnx.ValueInfoProto],
    weights: Sequence[onnx.TensorProto] = (),
    *,
    opset: int = 17,
    ml: bool = False,
) -> onnx.ModelProto:
    """Return a model of IR 8, which every engine accepts."""
    opsets = [helper.make_opsetid("", opset), *([helper.make_opsetid("ai.onnx.ml", 1)] if ml else [])]
    graph = helper.make_graph(list(nodes), "g", list(inputs), list(outputs), list(weights))
    return helper.make_model(graph, opset_imports=opsets, ir_version=8)


def save(built: onnx.ModelProto, path: Path) -> str:
    """Write a model and return its path as the command line would hold it."""
    path.write_bytes(built.SerializeToString())
    return str(path)


def classifier(dims: Dims = ("batch", 3, "height", "width")) -> onnx.ModelProto:
    """Return a Relu over pictures of any size."""
    return model([helper.make_node("Relu", ["x"], ["y"])], [tensor("x", F32, dims)], [tensor("y", F32, None)])


def encoder(rows: int = 50) -> onnx.ModelProto:
    """Return a lookup of token ids in a table, times a mask."""
    return model(
        [
            helper.make_node("Cast", ["ids"], ["wide"], to=I64),
            helper.make_node("Gather", ["table", "wide"], ["rows"]),
            helper.make_node("ReduceSum", ["rows", "last"], ["flat"], keepdims=0),
            helper.make_node("Cast", ["attention_mask"], ["scale"], to=F32),
            helper.make_node("Mul", ["flat", "scale"], ["y"]),
        ],
        [tensor("ids", I32, ["batch", "seq"]), tensor("attention_mask", I64, ["batch", "seq"])],
        [tensor("y", F32, ["batch", "seq"])],
        [weight("table", np.linspace(-1, 1, rows * 4, dtype=np.float32).reshape(rows, 4)), weight("last", [2])],
    )
