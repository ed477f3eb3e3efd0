"""Integer products: in their own operators, packed, and between DequantizeLinear and QuantizeLinear."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from tests.model.cost.support import MICROSOFT, Shape, by_op, infer, trace, work
from tests.model.factory import F32, model, tensor, weight
from tuibench.core.reason import DONE_BEFORE, Reason

ONE: Shape = ()
X, W, Y = (2, 8, 14, 14), (16, 8, 3, 3), (2, 16, 12, 12)
CONV_MACS = 2 * 16 * 144 * 72
A, B, C = (4, 10, 32), (32, 6), (4, 10, 6)
MATMUL_MACS = 40 * 32 * 6


@pytest.mark.parametrize(
    ("op", "domain", "inputs", "output", "expected"),
    [
        ("QLinearConv", "", [X, ONE, ONE, W, ONE, ONE, ONE, ONE, (16,)], Y, CONV_MACS),
        ("QLinearConv", MICROSOFT, [X, ONE, ONE, W, ONE, ONE, ONE, ONE], Y, CONV_MACS),
        ("ConvInteger", "", [X, W, ONE, ONE], Y, CONV_MACS),
        ("QLinearMatMul", "", [A, ONE, ONE, B, ONE, ONE, ONE, ONE], C, MATMUL_MACS),
        ("MatMulInteger", "", [A, B], C, MATMUL_MACS),
        ("DynamicQuantizeMatMul", MICROSOFT, [A, B, ONE, None, (6,)], C, MATMUL_MACS),
        ("MatMulIntegerToFloat", MICROSOFT, [A, B, ONE, ONE, None, None, (6,)], C, MATMUL_MACS),
        ("QGemm", MICROSOFT, [(40, 32), ONE, ONE, B, ONE, ONE, (6,)], (40, 6), MATMUL_MACS),
    ],
)
def test_integer_operator_macs_are_marked_as_integer(
    op: str, domain: str, inputs: list[Shape], output: Shape, expected: int
) -> None:
    found = work(op, inputs, [output], domain)
    assert (found.macs, found.integer) == (expected, True)


def test_packed_weight_size_comes_from_its_attributes() -> None:
    found = work("MatMulNBits", [(4, 10, 32), (6, 1, 16), (6,)], [C], MICROSOFT, K=32, N=6, bits=4, block_size=32)
    assert (found.macs, found.integer) == (MATMUL_MACS, False)
    assert work("MatMulNBits", [(4, 10, 33), (6, 1, 16), (6,)], [C], MICROSOFT, K=32, N=6).macs is None


def _pair(x: str, name: str, dtype: type) -> list[onnx.NodeProto]:
    scales = [f"{name}_s", f"{name}_z"]
    return [
        helper.make_node("QuantizeLinear", [x, *scales], [f"{name}_q"]),
        helper.make_node("DequantizeLinear", [f"{name}_q", *scales], [f"{name}_d"]),
    ]


def _qdq(zero_point: int = 0, weights: np.ndarray | None = None, shift: bool = True) -> onnx.ModelProto:
    """Return a Gemm between pairs, its weight and bias stored as integers."""
    array = np.ones((8, 4), np.uint8) if weights is None else weights
    nodes = [
        *_pair("x", "x", np.uint8),
        helper.make_node("DequantizeLinear", ["w_q", "w_s", *(["w_z"] if shift else [])], ["w"]),
        helper.make_node("DequantizeLinear", ["b_q", "b_s"], ["b"]),
        helper.make_node("Gemm", ["x_d", "w", "b"], ["y"], name="gemm"),
    ]
    held = [
        weight("x_s", np.float32(0.1)),
        weight("x_z", np.uint8(128)),
        weight("w_q", array),
        weight("w_s", np.float32(0.1)),
        weight("w_z", np.uint8(zero_point)),
        weight("b_q", np.zeros(4, np.int32)),
        weight("b_s", np.float32(0.01)),
    ]
    return model(nodes, [tensor("x", F32, ["n", 8])], [tensor("y", F32, None)], held)


@pytest.mark.parametrize("count", [infer, trace])
def test_product_between_quantize_pairs_is_an_integer_product(tmp_path: Path, count: object) -> None:
    profile = infer(_qdq(), tmp_path, {"x": (3, 8)}) if count is infer else trace(_qdq(), tmp_path, batch=3)
    (gemm,) = by_op(profile, "Gemm")
    assert (gemm.macs, gemm.integer) == (3 * 8 * 4, True)
    assert (gemm.weight, gemm.weight_shape) == ("w_q", (8, 4))


@pytest.mark.parametrize(("number", "name"), [(0, "x"), (1, "v")])
def test_product_with_a_float_operand_is_no_integer_product(tmp_path: Path, number: int, name: str) -> None:
    built = _qdq()
    built.graph.initializer.append(weight("v", np.ones((8, 4), np.float32)))
    built.graph.node[4].input[number] = name
    (gemm,) = by_op(infer(built, tmp_path, {"x": (3, 8)}), "Gemm")
    assert not gemm.integer


def test_weights_count_for_the_product_and_scales_for_no_node(tmp_path: Path) -> None:
    profile = trace(_qdq(), tmp_path, batch=3)
    (gemm,) = by_op(profile, "Gemm")
    assert gemm.parameters == profile.parameters == 8 * 4 + 4
    # 36 values in 32 + 16 bytes, their scales and one zero point.
    assert gemm.weight_bytes == 32 + 16 + 4 + 4 + 1
    folded = [node for node in by_op(profile, "DequantizeLinear") if node.times == 0]
    assert [node.why for node in folded] == [Reason(DONE_BEFORE)] * 2


def test_zeros_of_a_quantized_weight_equal_its_zero_point(tmp_path: Path) -> None:
    array = np.array([[0, 128, 128, 5]] * 8, np.uint8)
    assert by_op(infer(_qdq(128, array), tmp_path, {"x": (1, 8)}), "Gemm")[0].zeros == 16 + 4
    assert by_op(infer(_qdq(0, array), tmp_path, {"x": (1, 8)}), "Gemm")[0].zeros == 8 + 4
    assert by_op(infer(_qdq(0, array, shift=False), tmp_path, {"x": (1, 8)}), "Gemm")[0].zeros == 8 + 4


@pytest.mark.parametrize(
    ("kind", "raw", "zero_point", "zeros"),
    [
        (TensorProto.UINT4, b"\x88\x08\x80\x33\x08", 8, 5),
        (TensorProto.INT4, b"\xff\x0f\xf0\x33\x0f", -1, 5),
        (TensorProto.UINT16, np.array([300, 300, 0, 1, 2, 3, 4, 5, 44], "<u2").tobytes(), 300, 2),
        (TensorProto.INT16, np.array([-2, -2, 0, 1, 2, 3, 4, 5, 254], "<i2").tobytes(), -2, 2),
    ],
)
def test_zeros_equal_the_zero_point_in_every_width(
    tmp_path: Path, kind: int, raw: bytes, zero_point: int, zeros: int
) -> None:
    held = TensorProto(name="w", data_type=kind, dims=[3, 3], raw_data=raw)
    point = helper.make_tensor("z", kind, [], [zero_point])
    nodes = [
        helper.make_node("DequantizeLinear", ["w", "s", "z"], ["d"]),
        helper.make_node("MatMul", ["x", "d"], ["y"]),
    ]
    ends = [tensor("x", F32, [2, 3])], [tensor("y", F32, None)]
    built = model(nodes, *ends, [held, weight("s", np.float32(1)), point], opset=21)
    (product,) = by_op(infer(built, tmp_path), "MatMul")
    assert (product.parameters, product.zeros) == (9, zeros)


@pytest.mark.parametrize(("bits", "parameters"), [(None, 2 * 10 * 32), (8, 10 * 32), (2, 4 * 10 * 32)])
def test_block_quantized_table_counts_its_values_without_scales(
    tmp_path: Path, bits: int | None, parameters: int
) -> None:
    node = helper.make_node("GatherBlockQuantized", ["w", "i", "s"], ["y"], domain=MICROSOFT, block_size=16, bits=bits)
    held = [weight("w", np.zeros((10, 32), np.uint8)), weight("s", np.ones((10, 4), np.float32))]
    built = model([node], [tensor("i", TensorProto.INT64, [3])], [tensor("y", F32, [3, 64])], held)
    (found,) = infer(built, tmp_path).nodes
    assert (found.parameters, found.zeros) == (parameters, 0), "what stands for zero is not told"


def test_scales_between_integers_are_no_parameters(tmp_path: Path) -> None:
    scales = [weight("s", np.float32(0.1)), weight("z", np.uint8(3)), weight("t", np.float32(0.2))]
    nodes = [
        helper.make_node("QLinearSigmoid", ["x", "s", "z", "t", "z"], ["a"], domain=MICROSOFT),
        helper.make_node("QLinearConcat", ["t", "z", "x", "s", "z", "a", "t", "z"], ["y"], domain=MICROSOFT, axis=0),
    ]
    u8 = TensorProto.UINT8
    profile = infer(model(nodes, [tensor("x", u8, [2, 3])], [tensor("y", u8, [4, 3])], scales), tmp_path)
    assert profile.parameters == 0 and profile.weight_bytes == 9


def test_packed_weights_count_the_values_they_hold(tmp_path: Path) -> None:
    node = helper.make_node("MatMulNBits", ["x", "w", "s"], ["y"], domain=MICROSOFT, K=32, N=6, bits=4, block_size=32)
    held = [weight("w", np.zeros((6, 1, 16), np.uint8)), weight("s", np.ones(6, np.float32))]
    built = model([node], [tensor("x", F32, [4, 32])], [tensor("y", F32, None)], held)
    built.opset_import.append(helper.make_opsetid(MICROSOFT, 1))
    (found,) = trace(built, tmp_path).nodes
    assert (found.macs, found.parameters, found.zeros, found.weight_bytes) == (4 * 32 * 6, 32 * 6, 0, 96 + 24)


def test_four_bit_weights_take_half_a_byte(tmp_path: Path) -> None:
    held = TensorProto(name="w", data_type=TensorProto.INT4, dims=[3, 3], raw_data=b"\x10\x10\x10\x10\x01")
    node = helper.make_node("DequantizeLinear", ["w", "s"], ["d"])
    nodes = [node, helper.make_node("MatMul", ["x", "d"], ["y"])]
    built = model(
        nodes, [tensor("x", F32, [2, 3])], [tensor("y", F32, None)], [held, weight("s", np.float32(1))], opset=21
    )
    (product,) = by_op(infer(built, tmp_path), "MatMul")
    assert (product.parameters, product.zeros, product.weight_bytes) == (9, 4, 5 + 4)
