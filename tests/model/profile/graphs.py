"""Small models whose optimization changes everything that matters when kernels are matched to nodes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
from onnx import helper

from tests.model.factory import BOOL, F32, I64, model, tensor, weight

RANDOM = np.random.default_rng(0)


def _weights(name: str, *shape: int) -> onnx.TensorProto:
    return weight(name, RANDOM.standard_normal(shape).astype(np.float32))


def convolutions(named: bool = True) -> onnx.ModelProto:
    """Return a model with sums and activations after convolutions, an unnamed concatenation and changed layouts."""

    def node(op: str, reads: list[str], gives: str, **settings: Any) -> onnx.NodeProto:
        return helper.make_node(op, reads, [gives], name=f"node of {gives}" if named else "", **settings)

    pads = [1, 1, 1, 1]
    nodes = [
        node("Conv", ["x", "w1"], "c1", pads=pads),
        node("Relu", ["c1"], "r1"),
        node("Conv", ["r1", "w2"], "c2", pads=pads),
        node("Add", ["c2", "r1"], "a1"),
        node("Relu", ["a1"], "r2"),
        node("Conv", ["r2", "w2"], "c3", pads=pads),
        node("Concat", ["c3", "r2"], "k", axis=1),
        node("Conv", ["k", "w3"], "c4", pads=pads),
        node("Dropout", ["c4"], "d"),
        node("Identity", ["d"], "i"),
        node("MaxPool", ["i"], "y", kernel_shape=[2, 2]),
    ]
    weights = [_weights("w1", 16, 16, 3, 3), _weights("w2", 16, 16, 3, 3), _weights("w3", 16, 32, 3, 3)]
    return model(nodes, [tensor("x", F32, [1, 16, 12, 12])], [tensor("y", F32, None)], weights)


def folding() -> onnx.ModelProto:
    """Return a model with folded constants, a known shape, and names that occur nowhere."""
    nodes = [
        helper.make_node("Shape", ["x"], ["s"]),
        helper.make_node("Constant", [], ["two"], value=weight("two", np.float32(2))),
        helper.make_node("Mul", ["w", "two"], ["w2"]),
        helper.make_node("MatMul", ["x", "w2"], ["m"]),
        helper.make_node("Add", ["m", "b"], ["a"]),
        helper.make_node("Relu", ["a"], ["r"]),
        helper.make_node("Reshape", ["r", "s"], ["q"]),
        helper.make_node("Identity", ["q"], ["y"]),
    ]
    return model(nodes, [tensor("x", F32, [4, 8])], [tensor("y", F32, [4, 8])], [_weights("w", 8, 8), _weights("b", 8)])


def branches(constant: bool) -> onnx.ModelProto:
    """Return a model with an If, by its input or by a constant; names in its branches occur twice."""
    then = helper.make_graph(
        [helper.make_node("MatMul", ["e", "w"], ["t"], name="mm"), helper.make_node("Softmax", ["t"], ["o"], name="s")],
        *("then", [], [tensor("o", F32, [4, 4])]),
    )
    other = helper.make_graph(
        [helper.make_node("MatMul", ["e", "e"], ["t"], name="mm"), helper.make_node("Sqrt", ["t"], ["o"], name="s")],
        *("other", [], [tensor("o", F32, [4, 4])]),
    )
    nodes = [
        helper.make_node("Exp", ["x"], ["e"], name="exp"),
        helper.make_node("If", ["c"], ["i"], name="if", then_branch=then, else_branch=other),
        helper.make_node("Identity", ["i"], ["y"], name="out"),
    ]
    inputs, weights = [tensor("x", F32, [4, 4])], [_weights("w", 4, 4)]
    if constant:
        weights.append(weight("c", np.array(True)))
    else:
        inputs.append(tensor("c", BOOL, []))
    return model(nodes, inputs, [tensor("y", F32, [4, 4])], weights)


def loops() -> onnx.ModelProto:
    """Return a model with two unnamed loops whose bodies have the same names."""
    body = helper.make_graph(
        [
            helper.make_node("Identity", ["go"], ["go_on"], name="a"),
            helper.make_node("MatMul", ["s", "w"], ["t"], name="b"),
            helper.make_node("Relu", ["t"], ["so"], name=""),
        ],
        "body",
        [tensor("i", I64, []), tensor("go", BOOL, []), tensor("s", F32, [4, 4])],
        [tensor("go_on", BOOL, []), tensor("so", F32, [4, 4])],
    )
    nodes = [
        helper.make_node("Loop", ["n", "", "x"], ["first"], body=body),
        helper.make_node("Loop", ["n", "", "first"], ["second"], body=body),
        helper.make_node("Relu", ["second"], ["y"]),
    ]
    weights = [_weights("w", 4, 4), weight("n", np.array(5))]
    return model(nodes, [tensor("x", F32, [4, 4])], [tensor("y", F32, [4, 4])], weights)


def function() -> onnx.ModelProto:
    """Return a model with two calls of its own function, which has no kernel and is inlined."""
    opset = [helper.make_opsetid("", 17)]
    inner = [helper.make_node("MatMul", ["a", "w"], ["t"]), helper.make_node("Softmax", ["t"], ["b"])]
    block = helper.make_function("own", "Block", ["a", "w"], ["b"], inner, opset)
    nodes = [
        helper.make_node("Block", ["x", "w"], ["p"], name="one", domain="own"),
        helper.make_node("Block", ["p", "w"], ["y"], domain="own"),
    ]
    built = model(nodes, [tensor("x", F32, [4, 4])], [tensor("y", F32, [4, 4])], [_weights("w", 4, 4)])
    built.opset_import.append(helper.make_opsetid("own", 1))
    built.functions.append(block)
    return built


def quantized(operators: bool) -> onnx.ModelProto:
    """Return a model with two integer convolutions, by integer operators or by rounding around float ones."""
    pads, signed = [1, 1, 1, 1], RANDOM.integers(-127, 128, (8, 8, 3, 3)).astype(np.int8)
    weights = [
        *(weight("w", signed), weight("s", np.float32(0.05)), weight("z", np.uint8(0))),
        *(weight("ws", np.full(8, 0.01, np.float32)), weight("wz", np.zeros(8, np.int8))),
    ]
    nodes = [helper.make_node("QuantizeLinear", ["x", "s", "z"], ["q0"])]
    for at in (0, 1):
        own = f"conv {at}"
        if operators:
            reads = [f"q{at}", "s", "z", "w", "ws", "wz", "s", "z"]
            nodes.append(helper.make_node("QLinearConv", reads, [f"q{at + 1}"], name=own, pads=pads))
            continue
        nodes += [
            helper.make_node("DequantizeLinear", [f"q{at}", "s", "z"], [f"d{at}"], name=f"{own} in"),
            helper.make_node("DequantizeLinear", ["w", "ws", "wz"], [f"dw{at}"], name=f"{own} weights", axis=0),
            helper.make_node("Conv", [f"d{at}", f"dw{at}"], [f"c{at}"], name=own, pads=pads),
            helper.make_node("Relu", [f"c{at}"], [f"r{at}"], name=f"{own} relu"),
            helper.make_node("QuantizeLinear", [f"r{at}", "s", "z"], [f"q{at + 1}"], name=f"{own} out"),
        ]
    nodes.append(helper.make_node("DequantizeLinear", ["q2", "s", "z"], ["y"]))
    return model(nodes, [tensor("x", F32, [1, 8, 10, 10])], [tensor("y", F32, None)], weights)


def chain(ops: Sequence[str], names: Sequence[str]) -> onnx.ModelProto:
    """Return a chain of element-wise operators and products with a constant."""
    nodes = []
    for at, (op, name) in enumerate(zip(ops, names, strict=True)):
        reads = [f"t{at}"]
        if op in ("Add", "Mul", "MatMul"):
            reads.append("w")
        elif op == "Sum":
            reads.append(f"t{max(0, at - 2)}")
        nodes.append(helper.make_node(op, reads, [f"t{at + 1}"], name=name))
    out = tensor(f"t{len(ops)}", F32, [4, 4])
    return model(nodes, [tensor("t0", F32, [4, 4])], [out], [_weights("w", 4, 4)])


GRAPHS = {
    "convolutions": convolutions(),
    "convolutions without names": convolutions(named=False),
    "folding": folding(),
    "branches": branches(constant=False),
    "a branch that is known": branches(constant=True),
    "loops": loops(),
    "a function": function(),
    "integer operators": quantized(operators=True),
    "rounding": quantized(operators=False),
}
