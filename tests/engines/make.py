"""Small models of every kind that an engine must run or refuse, with inputs to feed them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

Feed = dict[str, Any]
SAMPLES = 3


@dataclass(frozen=True)
class Case:
    """A model and its inputs."""

    name: str
    model: onnx.ModelProto
    feeds: tuple[Feed, ...]

    def save(self, folder: Path) -> str:
        """Write the model into `folder`."""
        path = folder / f"{self.name}.onnx"
        onnx.save(self.model, path)
        return str(path)


def tensor(name: str, shape: Sequence[int | str | None], kind: int = TensorProto.FLOAT) -> onnx.ValueInfoProto:
    """Return a port of the model."""
    return helper.make_tensor_value_info(name, kind, shape)


def build(
    nodes: Sequence[onnx.NodeProto],
    inputs: Sequence[onnx.ValueInfoProto],
    outputs: Sequence[onnx.ValueInfoProto],
    **weights: Any,
) -> onnx.ModelProto:
    """Build a model of opset 17, which every engine here supports."""
    initializers = [numpy_helper.from_array(np.asarray(value), name) for name, value in weights.items()]
    graph = helper.make_graph(nodes, "test", inputs, outputs, initializers)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    model.ir_version = 8
    return model


def op(kind: str, inputs: str, outputs: str, **attributes: Any) -> onnx.NodeProto:
    """Return a node, with its tensors separated by blanks."""
    return helper.make_node(kind, inputs.split(), outputs.split(), **attributes)


def sampled(make: Callable[[np.random.Generator], Feed]) -> tuple[Feed, ...]:
    """Return feeds that differ from each other."""
    return tuple(make(np.random.default_rng(seed)) for seed in range(SAMPLES))


def normal(*shape: int, seed: int = 7) -> Any:
    """Return random weights."""
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def mlp(hidden: int = 16) -> Case:
    """Return a model with fixed dims, one input and one output."""
    nodes = [op("MatMul", "x w1", "a"), op("Relu", "a", "b"), op("MatMul", "b w2", "y")]
    model = build(nodes, [tensor("x", [1, 8])], [tensor("y", [1, 4])], w1=normal(8, hidden), w2=normal(hidden, 4))
    return Case(f"mlp{hidden}", model, sampled(lambda r: {"x": r.standard_normal((1, 8)).astype(np.float32)}))


def image() -> Case:
    """Return a model with bytes as input and a symbolic batch."""
    nodes = [
        op("Cast", "image", "f", to=TensorProto.FLOAT),
        op("Conv", "f w", "c", kernel_shape=[3, 3]),
        op("Relu", "c", "y"),
    ]
    ports = [tensor("image", ["batch", 3, 8, 8], TensorProto.UINT8)], [tensor("y", ["batch", 2, 6, 6])]
    model = build(nodes, *ports, w=normal(2, 3, 3, 3))
    return Case("image", model, sampled(lambda r: {"image": r.integers(0, 256, (2, 3, 8, 8), dtype=np.uint8)}))


def ids() -> Case:
    """Return a model with token ids of two symbolic dims, gathered from a table of 11 rows."""
    ports = [tensor("ids", ["batch", "seq"], TensorProto.INT64)], [tensor("y", ["batch", "seq", 4])]
    model = build([op("Gather", "table ids", "y")], *ports, table=normal(11, 4))
    return Case("ids", model, sampled(lambda r: {"ids": r.integers(0, 11, (2, 5), dtype=np.int64)}))


def two_outputs() -> Case:
    """Return a model whose outputs are not in node order, with a boolean and an Identity."""
    nodes = [op("Neg", "x", "n"), op("Identity", "n", "late"), op("Exp", "x", "early"), op("Not", "m", "flipped")]
    inputs = [tensor("x", ["n", 3]), tensor("m", [2], TensorProto.BOOL)]
    outputs = [tensor("late", ["n", 3]), tensor("flipped", [2], TensorProto.BOOL), tensor("early", ["n", 3])]
    feeds = sampled(
        lambda r: {"x": r.standard_normal((2, 3)).astype(np.float32), "m": r.integers(0, 2, 2).astype(bool)}
    )
    return Case("two_outputs", build(nodes, inputs, outputs), feeds)


def scalar() -> Case:
    """Return a model with an input and an output without dims."""
    nodes = [op("Mul", "x s", "a"), op("ReduceSum", "a", "y", keepdims=0)]
    model = build(nodes, [tensor("x", [2, 3]), tensor("s", [])], [tensor("y", [])])
    feeds = sampled(lambda r: {"x": normal(2, 3), "s": np.array(r.standard_normal(), dtype=np.float32)})
    return Case("scalar", model, feeds)


def half() -> Case:
    """Return a model with float16 input and output."""
    sides = [tensor("x", ["n", 4], TensorProto.FLOAT16)], [tensor("y", ["n", 4], TensorProto.FLOAT16)]
    feeds = sampled(lambda r: {"x": r.standard_normal((2, 4)).astype(np.float16)})
    return Case("half", build([op("Abs", "x", "y")], *sides), feeds)


def empty() -> Case:
    """Return a model with an axis of length zero."""
    model = build([op("Relu", "x", "y")], [tensor("x", ["n", 4])], [tensor("y", ["n", 4])])
    return Case("empty", model, ({"x": np.zeros((0, 4), dtype=np.float32)},))


def nonzero() -> Case:
    """Return a model whose output size depends on values; the first sample gives the smallest."""
    sides = [tensor("x", ["n", 3])], [tensor("y", [2, None], TensorProto.INT64)]
    fill = (np.array([[0, 1, 0]]), np.array([[1, 1, 0]]), np.array([[1, 1, 1]]))
    return Case("nonzero", build([op("NonZero", "x", "y")], *sides), tuple({"x": v.astype(np.float32)} for v in fill))


def bfloat() -> Case:
    """Return a model of a type that numpy lacks, fed as raw bits."""
    sides = [tensor("x", ["n"], TensorProto.BFLOAT16)], [tensor("y", ["n"])]
    feeds = sampled(lambda r: {"x": (r.standard_normal(4).astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)})
    return Case("bfloat", build([op("Cast", "x", "y", to=TensorProto.FLOAT)], *sides), feeds)


def text() -> Case:
    """Return a model with strings."""
    sides = [tensor("x", ["n"], TensorProto.STRING)], [tensor("y", ["n"], TensorProto.STRING)]
    return Case("text", build([op("Identity", "x", "y")], *sides), sampled(lambda r: {"x": np.array(["ä", str(r)])}))


def sequence() -> Case:
    """Return a model with a list of tensors."""
    port = helper.make_tensor_sequence_value_info("x", TensorProto.FLOAT, ["n"])
    model = build([op("SequenceAt", "x at", "y")], [port], [tensor("y", ["n"])], at=np.array(1))
    return Case("sequence", model, sampled(lambda r: {"x": [normal(2), r.standard_normal(3).astype(np.float32)]}))


def passed_through() -> Case:
    """Return a model with an input as output: binding one by name binds the other."""
    sides = [tensor("x", ["n", 2])], [tensor("x", ["n", 2]), tensor("y", ["n", 2])]
    feeds = sampled(lambda r: {"x": r.standard_normal((2, 2)).astype(np.float32)})
    return Case("passed_through", build([op("Relu", "x", "y")], *sides), feeds)


def renamed() -> Case:
    """Return a model in which folding a Dropout gives the input the name of an output."""
    sides = [tensor("x", ["n", 2])], [tensor("kept", ["n", 2]), tensor("same", ["n", 2])]
    feeds = sampled(lambda r: {"x": r.standard_normal((2, 2)).astype(np.float32)})
    return Case("renamed", build([op("Identity", "x", "same"), op("Dropout", "x", "kept")], *sides), feeds)


def reshaped() -> Case:
    """Return a model whose last sample requests an impossible shape."""
    sides = [tensor("x", ["n", 4]), tensor("s", [2], TensorProto.INT64)], [tensor("y", [None, None])]
    model = build([op("Relu", "x", "r"), op("Reshape", "r s", "y")], *sides)
    shapes = ((4, 2), (2, 4), (3, 3))
    return Case("reshaped", model, tuple({"x": normal(2, 4), "s": np.array(shape)} for shape in shapes))


PLAIN = (mlp, image, ids, two_outputs, scalar, half, empty, nonzero, passed_through, renamed)
"""Models that every engine runs in at least one class."""
ODD = (text, sequence, bfloat)
"""Models that an engine runs in some class or refuses in a sentence."""
