"""Rows as models of their own: the same work in floats and, if the form exists, in integers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper

from tuibench.core.reason import Reason, because
from tuibench.model.profile.int8 import Cut, NotSeparable, as_int8, needed_ranges, simplify, unchanged_form, values_of
from tuibench.model.profile.layers import setting_for
from tuibench.model.profile.mapping import is_integer

RANDOM = np.random.default_rng(0)


def draw(*shape: int) -> Any:
    return RANDOM.standard_normal(shape).astype(np.float32)


def node(op: str, inputs: str, output: str, **settings: Any) -> onnx.NodeProto:
    return helper.make_node(op, inputs.split(), [output], name='a "name"', **settings)


def cut(nodes: list[onnx.NodeProto], constants: dict[str, Any], opset: int = 17, **fed: Any) -> Cut:
    return Cut(nodes, constants, fed, [nodes[-1].output[0]], [helper.make_opsetid("", opset)])


def conv(*more: onnx.NodeProto, weight: Any, opset: int = 17, **others: Any) -> Cut:
    first = node("Conv", "x w b", "c", pads=[1] * 4) if "b" in others else node("Conv", "x w", "c", pads=[1] * 4)
    residual = {"r": others.pop("r")} if "r" in others else {}
    return cut([first, *more], {"w": weight, **others}, opset, x=draw(1, 4, 9, 9), **residual)


NORM = {"s": draw(8), "o": draw(8), "m": draw(8), "v": np.abs(draw(8))}
CUTS = {
    "conv": (conv(weight=draw(8, 4, 3, 3), b=draw(8)), "QLinearConv"),
    "of an old version": (conv(weight=draw(8, 4, 3, 3), b=draw(8), opset=9), "QLinearConv"),
    "one channel": (conv(weight=draw(1, 4, 3, 3), b=draw(1)), "QLinearConv"),
    "its activation": (conv(node("Relu", "c", "y"), weight=draw(8, 4, 3, 3)), "QLinearConv"),
    "its normalization": (
        conv(node("BatchNormalization", "c s o m v", "n"), node("Relu", "n", "y"), weight=draw(8, 4, 3, 3), **NORM),
        "QLinearConv",
    ),
    "a residual": (
        conv(node("Add", "c r", "a"), node("Relu", "a", "y"), weight=draw(8, 4, 3, 3), r=draw(1, 8, 9, 9)),
        "QLinearConv",
    ),
    "depthwise": (cut([node("Conv", "x w", "y", group=8)], {"w": draw(8, 1, 3, 3)}, x=draw(1, 8, 9, 9)), "QLinearConv"),
    "matmul": (cut([node("MatMul", "x w", "y")], {"w": draw(16, 12)}, x=draw(2, 5, 16)), "MatMulIntegerToFloat"),
    "matmul of two": (
        cut([node("MatMul", "x z", "y")], {}, x=draw(2, 5, 16), z=draw(2, 16, 5)),
        "MatMulIntegerToFloat",
    ),
    "matmul and its bias": (
        cut(
            [node("MatMul", "x w", "m"), node("Add", "b m", "y")], {"w": draw(16, 12), "b": draw(12)}, x=draw(1, 5, 16)
        ),
        "QGemm",
    ),
    "gemm": (cut([node("Gemm", "x w b", "y", transB=1)], {"w": draw(12, 16), "b": draw(12)}, x=draw(3, 16)), "QGemm"),
    "gemm as it lies": (cut([node("Gemm", "x w", "y")], {"w": draw(16, 12)}, x=draw(3, 16)), "QGemm"),
    "one output": (
        cut([node("Gemm", "x w b", "y", transB=1)], {"w": draw(1, 16), "b": draw(1)}, x=draw(9, 16)),
        "QGemm",
    ),
    "two products": (
        cut(
            [node("MatMul", "x w", "m"), node("MatMul", "m z", "y")], {"w": draw(16, 8), "z": draw(8, 4)}, x=draw(5, 16)
        ),
        "QLinearMatMul MatMulIntegerToFloat",
    ),
}


def changed(given: Cut, directory: Path) -> tuple[Any, bytes]:
    plain = unchanged_form(given)
    setting = setting_for("", (0,), 1, str(directory))
    simple = simplify(plain, setting, str(directory))
    assert not list(directory.iterdir())
    values = values_of(simple, plain.feed, needed_ranges(simple), setting)
    return plain, as_int8(simple, {**plain.feed, **values})


def output(model: bytes, feed: dict[str, Any], optimized: Path | None = None) -> Any:
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    if optimized is not None:
        options.optimized_model_filepath = str(optimized)
    return onnxruntime.InferenceSession(model, options).run(None, feed)[0]


@pytest.mark.parametrize("name", CUTS)
def test_integer_form_does_the_same_work_in_integer_kernels(name: str, tmp_path: Path) -> None:
    given, kernels = CUTS[name]
    plain, integer = changed(given, tmp_path)
    expected, got = output(plain.model, plain.feed), output(integer, plain.feed, tmp_path / "o.onnx")
    assert got.shape == expected.shape and got.dtype == np.float32, "what comes in and goes out are floats"
    assert np.corrcoef(got.ravel(), expected.ravel())[0, 1] > 0.99
    ops = [one.op_type for one in onnx.load(tmp_path / "o.onnx").graph.node]
    assert [op for op in ops if is_integer(op)] == kernels.split() and not {"Conv", "MatMul", "Gemm"} & set(ops)
    if name in ("its activation", "its normalization"):
        # The layout changes only around a convolution.
        assert set(ops) - {"Transpose"} == {"QuantizeLinear", "QLinearConv", "DequantizeLinear"}
    weights = onnx.ModelProto.FromString(integer).graph.initializer
    assert not [one for one in weights if one.data_type == TensorProto.FLOAT and len(one.dims) > 1], "left behind"


def test_nan_input_does_not_stop_the_integer_form(tmp_path: Path) -> None:
    strange = cut(
        [node("MatMul", "x w", "y")], {"w": np.zeros((4, 3), np.float32)}, x=np.full((2, 4), np.nan, np.float32)
    )
    plain, integer = changed(strange, tmp_path)
    assert output(integer, plain.feed).shape == (2, 3)


def weights_of(op: str, constants: dict[str, Any], **fed: Any) -> Cut:
    return cut([node(op, " ".join([*fed, *constants]), "y")], constants, **fed)


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        (weights_of("Relu", {}, x=draw(2)), because("no_int8_form", ops=["Relu"])),
        (
            cut([node("Relu", "x", "r"), node("Exp", "r", "y")], {}, x=draw(2)),
            because("no_int8_form", ops=["Relu", "Exp"]),
        ),
        (weights_of("Conv", {}, x=draw(1, 4, 9, 9), w=draw(8, 4, 3, 3)), Reason("weights_not_constant")),
        (
            cut([node("Conv", "x w b", "y")], {"w": draw(8, 4, 3, 3)}, x=draw(1, 4, 9, 9), b=draw(8)),
            Reason("bias_not_constant"),
        ),
        (cut([node("Gemm", "x w b", "y")], {"w": draw(4, 8)}, x=draw(2, 4), b=draw(8)), Reason("bias_not_constant")),
        (weights_of("Gemm", {"w": draw(4, 8), "b": draw(2, 8)}, x=draw(2, 4)), Reason("bias_of_other_size")),
        (weights_of("Gemm", {"w": draw(4, 8), "b": draw(1)}, x=draw(2, 4)), Reason("bias_of_other_size")),
        (
            weights_of("MatMul", {"w": draw(2, 2).astype(np.float64)}, x=draw(2, 2).astype(np.float64)),
            Reason("not_float32"),
        ),
        (cut([node("Gemm", "x w", "y", alpha=2.0)], {"w": draw(2, 2)}, x=draw(2, 2)), Reason("transposes_or_scales")),
        (cut([node("MatMul", "w x", "y")], {"w": draw(2, 2)}, x=draw(2, 2)), Reason("first_input_constant")),
    ],
)
def test_row_without_an_integer_form_has_a_reason(given: Cut, reason: Reason, tmp_path: Path) -> None:
    with pytest.raises(NotSeparable) as raised:
        changed(given, tmp_path)
    assert raised.value.reason == reason


def test_integer_product_needs_no_integer_form() -> None:
    graph = helper.make_graph(
        [helper.make_node("MatMulInteger", ["x", "w"], ["y"])],
        "integers",
        [helper.make_tensor_value_info("x", TensorProto.UINT8, [2, 2])],
        [onnx.ValueInfoProto(name="y")],
        [numpy_helper.from_array(np.ones((2, 2), np.int8), "w")],
    )
    with pytest.raises(NotSeparable, match="already_integer"):
        as_int8(helper.make_model(graph), {})
