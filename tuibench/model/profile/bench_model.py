"""Small synthetic models for measuring a machine's roofs and the effect of zeros."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from tuibench.worker.bundle import Array

SEED = 20260101
_TILE = 1 << 18


def draw(shape: Sequence[int], seed: int = SEED, zeros: float = 0.0) -> Array:
    """Return pseudo-random weights; repeat a small block, as drawing hundreds of megabytes would take seconds."""
    size = int(np.prod(shape))
    random = np.random.default_rng(seed)
    block = random.standard_normal(min(size, _TILE), dtype=np.float32) / np.float32(max(1, shape[-1]) ** 0.5)
    if zeros:
        block[random.random(block.size) < zeros] = 0.0
    return np.resize(block, size).reshape(tuple(shape))


def matmul(rows: int, inner: int, columns: int, zeros: float = 0.0) -> bytes:
    """Build x (rows, inner) times a constant matrix."""
    weight = numpy_helper.from_array(draw((inner, columns), zeros=zeros), "w")
    node = helper.make_node("MatMul", ["x", "w"], ["y"], name="matmul")
    return build([node], [("x", TensorProto.FLOAT, (rows, inner))], [("y", TensorProto.FLOAT)], [weight])


def matmul_integer(rows: int, inner: int, columns: int) -> bytes:
    """Build x (rows, inner) of uint8 times a constant int8 matrix, to int32."""
    random = np.random.default_rng(SEED)
    weight = numpy_helper.from_array(random.integers(-127, 128, (inner, columns)).astype(np.int8), "w")
    node = helper.make_node("MatMulInteger", ["x", "w"], ["y"], name="matmul")
    return build([node], [("x", TensorProto.UINT8, (rows, inner))], [("y", TensorProto.INT32)], [weight])


def add(size: int) -> bytes:
    """Build x + z, two one-dimensional inputs."""
    inputs = [(name, TensorProto.FLOAT, (size,)) for name in ("x", "z")]
    node = helper.make_node("Add", ["x", "z"], ["y"], name="add")
    return build([node], inputs, [("y", TensorProto.FLOAT)], [])


def sums(rows: int, columns: int) -> bytes:
    """Build the row sums of the input x."""
    node = helper.make_node("ReduceSum", ["x", "axes"], ["y"], name="sums")
    axes = numpy_helper.from_array(np.asarray([1], np.int64), "axes")
    return build([node], [("x", TensorProto.FLOAT, (rows, columns))], [("y", TensorProto.FLOAT)], [axes])


def conv(channels: int, size: int, zeros: float = 0.0) -> bytes:
    """Build a 3x3 convolution over (1, channels, size, size)."""
    weight = numpy_helper.from_array(draw((channels, channels, 3, 3), zeros=zeros), "w")
    node = helper.make_node("Conv", ["x", "w"], ["y"], name="conv", pads=[1, 1, 1, 1])
    return build([node], [("x", TensorProto.FLOAT, (1, channels, size, size))], [("y", TensorProto.FLOAT)], [weight])


def nothing() -> bytes:
    """Build an Identity of one number; its time is the cost of a call."""
    node = helper.make_node("Identity", ["x"], ["y"], name="nothing")
    return build([node], [("x", TensorProto.FLOAT, (1, 1))], [("y", TensorProto.FLOAT)], [])


def build(
    nodes: Sequence[onnx.NodeProto],
    inputs: Sequence[tuple[str, int, Sequence[int]]],
    outputs: Sequence[tuple[str, int]],
    weights: Sequence[onnx.TensorProto],
    opsets: Sequence[onnx.OperatorSetIdProto] | None = None,
) -> bytes:
    """Serialize a model; its outputs need only element types."""
    graph = helper.make_graph(
        list(nodes),
        "alone",
        [helper.make_tensor_value_info(name, kind, list(shape)) for name, kind, shape in inputs],
        [helper.make_tensor_value_info(name, kind, None) for name, kind in outputs],
        list(weights),
    )
    wanted = opsets or [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    made: bytes = helper.make_model(graph, opset_imports=list(wanted), ir_version=10).SerializeToString()
    return made
