from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import helper

from tuibench.profiles.int8_form import Form, NotAlone, Piece, as_int8, as_it_is

RANDOM = np.random.default_rng(0)
OPSETS = [helper.make_opsetid("", 17)]


def draw(*shape: int) -> Any:
    return RANDOM.standard_normal(shape).astype(np.float32)


def piece(op: str, fed: dict[str, Any], constants: dict[str, Any], **settings: Any) -> Piece:
    return Piece(helper.make_node(op, [*fed, *constants], ["y"], **settings), constants, fed, OPSETS)


def output(form: Form) -> Any:
    return onnxruntime.InferenceSession(form.model).run(None, form.feed)[0]


def constant(form: Form, name: str) -> Any:
    (found,) = [t for t in onnx.ModelProto.FromString(form.model).graph.initializer if t.name == name]
    return onnx.numpy_helper.to_array(found)


PIECES = {
    "conv": piece("Conv", {"x": draw(1, 4, 9, 9)}, {"w": draw(8, 4, 3, 3), "b": draw(8)}, pads=[1] * 4, strides=[2, 2]),
    "one channel": piece("Conv", {"x": draw(1, 4, 9, 9)}, {"w": draw(1, 4, 3, 3), "b": draw(1)}),
    "one output": piece("Gemm", {"x": draw(9, 16)}, {"w": draw(1, 16), "b": draw(1)}, transB=1),
    "depthwise": piece("Conv", {"x": draw(1, 8, 9, 9)}, {"w": draw(8, 1, 3, 3)}, group=8),
    "matmul": piece("MatMul", {"x": draw(2, 5, 16)}, {"w": draw(16, 12)}),
    "matmul of two": piece("MatMul", {"x": draw(2, 5, 16), "z": draw(2, 16, 5)}, {}),
    "gemm": piece("Gemm", {"x": draw(3, 16)}, {"w": draw(12, 16), "b": draw(12)}, transB=1),
    "gemm as it lies": piece("Gemm", {"x": draw(3, 16)}, {"w": draw(16, 12)}),
    "strange numbers": piece("MatMul", {"x": np.full((2, 4), np.nan, np.float32)}, {"w": np.zeros((4, 3), np.float32)}),
}


@pytest.mark.parametrize("name", PIECES)
def test_the_integer_form_does_the_same_work(name: str) -> None:
    plain, changed = as_it_is(PIECES[name]), as_int8(PIECES[name])
    expected, got = output(plain), output(changed)
    assert got.shape == expected.shape and got.dtype == np.uint8
    assert changed.feed["x"].dtype == np.uint8
    if name == "strange numbers":
        return
    # The output is rounded coarsely, as any scale will do for its time; where it is not cut it follows the floats.
    back = (got.astype(np.float32) - 128) * constant(changed, "ys")
    inside = (got > 0) & (got < 255)
    assert inside.mean() > 0.5
    assert np.corrcoef(back[inside], expected[inside])[0, 1] > 0.98


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        (piece("Relu", {"x": draw(2)}, {}), "Relu has no int8 form"),
        (piece("MatMulInteger", {"x": draw(2, 2)}, {"w": draw(2, 2)}), "integers already"),
        (piece("Conv", {"x": draw(1, 4, 9, 9), "w": draw(8, 4, 3, 3)}, {}), "no constant"),
        (piece("MatMul", {"x": draw(2, 2).astype(np.float64)}, {"w": draw(2, 2)}), "32-bit"),
        (piece("Gemm", {"x": draw(2, 2)}, {"w": draw(2, 2)}, alpha=2.0), "scales"),
    ],
)
def test_what_has_no_such_form_says_why(given: Piece, reason: str) -> None:
    with pytest.raises(NotAlone, match=reason):
        as_int8(given)
