"""Detection of layers, and of the place of their weights behind other nodes."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper

from tests.model.factory import BF16, F32, I64, model, tensor, weight
from tests.model.loss.built import branching, convolutions, layers_of, linear, quantized, random, reader
from tuibench.core.reason import Reason, because


def product(*before: onnx.NodeProto, held: tuple[Any, ...], op: str = "MatMul", **attributes: Any) -> onnx.ModelProto:
    node = helper.make_node(op, ["x", "w"], ["y"], **attributes)
    return model([*before, node], [tensor("x", F32, ["b", 3])], [tensor("y", F32, None)], list(held))


def test_layers_have_the_id_of_their_node_and_name_of_their_weight() -> None:
    conv, transposed, gemm = layers_of(convolutions())
    assert (conv.id, conv.op, conv.name, conv.weight, conv.shape) == ("a", "Conv", "conv", "k", (4, 3, 3, 3))
    assert conv.reduced == (1, 2, 3) and conv.groups is None
    assert transposed.reduced == (0, 2, 3) and transposed.groups == (0, 2)
    assert (gemm.weight, gemm.shape) == ("g0", (6, 5))
    # As the node sees it (transposed twice), a channel is a column of the stored weight.
    assert gemm.reduced == (0,)


@pytest.mark.parametrize(
    ("op", "attributes", "reduced"),
    [
        ("MatMul", {}, (0,)),
        ("Gemm", {}, (0,)),
        ("Gemm", {"transB": 1}, (1,)),
        ("FusedMatMul", {"domain": "com.microsoft", "transB": 1}, (1,)),
    ],
)
def test_weights_of_a_channel_lie_along_the_summed_axis(
    op: str, attributes: dict[str, Any], reduced: tuple[int, ...]
) -> None:
    (layer,) = layers_of(product(held=(weight("w", random(3, 3)),), op=op, **attributes))
    assert layer.reduced == reduced


@pytest.mark.parametrize(
    ("shape", "perms", "reduced"),
    [((2, 3), [None], (1,)), ((5, 2, 3), [[1, 2, 0]], (2,)), ((5, 2, 3), [[1, 2, 0], [1, 2, 0]], (0,))],
)
def test_axes_refer_to_the_stored_weight_through_transposes(
    shape: tuple[int, ...], perms: list[list[int] | None], reduced: tuple[int, ...]
) -> None:
    names = [*(f"w{number}" for number in range(len(perms))), "w"]
    turns = [
        helper.make_node("Transpose", [names[number]], [names[number + 1]], perm=perm)
        for number, perm in enumerate(perms)
    ]
    (layer,) = layers_of(product(*turns, held=(weight("w0", random(*shape)),)))
    assert layer.reduced == reduced


def test_weight_on_the_left_is_summed_over_its_columns() -> None:
    node = helper.make_node("MatMul", ["w", "x"], ["y"])
    built = model([node], [tensor("x", F32, [3, 2])], [tensor("y", F32, None)], [weight("w", random(4, 3))])
    (layer,) = layers_of(built)
    assert (layer.shape, layer.reduced) == ((4, 3), (1,))


def test_shared_weight_is_one_layer_named_by_its_first_node() -> None:
    nodes = [helper.make_node("MatMul", ["x", "w"], ["a"]), helper.make_node("MatMul", ["a", "w"], ["y"])]
    built = model(nodes, [tensor("x", F32, ["b", 3])], [tensor("y", F32, None)], [weight("w", random(3, 3))])
    assert [layer.id for layer in layers_of(built)] == ["a"]


def test_weights_of_equal_name_in_two_branches_are_separate() -> None:
    second, first = layers_of(branching())
    assert (first.id, second.id) == ("y/then_branch/y0", "y/else_branch/y1")
    assert not np.array_equal(reader().stored(first), reader().stored(second))


def test_outer_weight_is_found_in_a_body_and_a_body_input_is_not() -> None:
    step = helper.make_node("MatMul", ["state", "w"], ["next"])
    other = helper.make_node("MatMul", ["state", "state"], ["square"])
    keep = helper.make_node("Identity", ["on"], ["still"])
    body = helper.make_graph(
        [step, other, keep],
        "body",
        [tensor("i", I64, []), tensor("on", onnx.TensorProto.BOOL, []), tensor("state", F32, [3, 3])],
        [tensor("still", onnx.TensorProto.BOOL, []), tensor("next", F32, [3, 3])],
    )
    nodes = [helper.make_node("Loop", ["n", "", "x"], ["y"], body=body)]
    # The body's input hides an initializer of the same name.
    held = [weight("w", random(3, 3)), weight("n", np.array(2)), weight("state", random(3, 3))]
    built = model(nodes, [tensor("x", F32, [3, 3])], [tensor("y", F32, None)], held)
    assert [(layer.id, layer.weight) for layer in layers_of(built)] == [("y/body/next", "w")]


def test_weight_from_constant_of_shape_is_read_as_an_array() -> None:
    filler = helper.make_node("ConstantOfShape", ["shape"], ["w"], value=helper.make_tensor("v", F32, [1], [0.25]))
    (layer,) = layers_of(product(filler, held=(weight("shape", [3, 2]),)))
    assert layer.shape == (3, 2) and reader().stored(layer).tolist() == [[0.25] * 2] * 3


def test_int8_weight_is_read_as_real_numbers() -> None:
    built, real = quantized()
    (layer,) = layers_of(built)
    assert layer.integer and layer.dtype == "int8" and not layer.reason
    found = reader().weight(layer)
    assert np.array_equal(found.real, real) and found.zero.tolist() == [[2, 10]]


def test_scale_of_a_transposed_weight_lies_along_its_stored_axis() -> None:
    before = (
        helper.make_node("DequantizeLinear", ["q", "s"], ["d"], axis=0),
        helper.make_node("Transpose", ["d"], ["w"], perm=[1, 0]),
    )
    stored = np.arange(6, dtype=np.int8).reshape(2, 3)
    scale = np.array([1, 10], np.float32)
    (layer,) = layers_of(product(*before, held=(weight("q", stored), weight("s", scale))))
    assert reader().weight(layer).real.tolist() == [[0, 1, 2], [30, 40, 50]]
    assert layer.reduced == (1,)


@pytest.mark.parametrize(
    ("op", "inputs", "more"),
    [
        ("QLinearMatMul", ["x", "f", "b", "w", "s", "z", "f", "b"], ("s", "z")),
        ("QLinearConv", ["x", "f", "b", "w", "s", "z", "f", "b"], ("s", "z")),
        ("MatMulInteger", ["x", "w", "b", "z"], ("z",)),
        ("ConvInteger", ["x", "w", "b", "z"], ("z",)),
    ],
)
def test_integer_operators_are_layers_with_their_own_zero_point(op: str, inputs: list[str], more: Any) -> None:
    held = [
        *(weight("w", np.full((2, 2), 7, np.uint8)), weight("z", np.array(5, np.uint8))),
        *(weight("s", np.array(0.5, np.float32)), weight("f", np.float32(1)), weight("b", np.array(0, np.uint8))),
    ]
    built = model([helper.make_node(op, inputs, ["y"])], [tensor("x", F32, None)], [tensor("y", F32, None)], held)
    (layer,) = layers_of(built)
    assert layer.integer and layer.weight == "w"
    assert reader().weight(layer).real.tolist() == [[1.0 if "s" in more else 2.0] * 2] * 2


def test_float_weights_rounded_by_the_graph_count_as_int8() -> None:
    before = (
        helper.make_node("QuantizeLinear", ["w0", "s"], ["q"]),
        helper.make_node("DequantizeLinear", ["q", "s"], ["w"]),
    )
    held = (weight("w0", random(3, 2)), weight("s", np.float32(0.1)))
    (layer,) = layers_of(product(*before, held=held))
    assert layer.integer and layer.weight == "w0" and layer.scale is None
    assert reader().weight(layer).real.tolist() == random(3, 2).tolist()


def test_layer_that_cannot_be_changed_has_a_reason() -> None:
    half = helper.make_tensor("w", BF16, [2, 2], [1.0, 2.0, 3.0, 4.0])
    (layer,) = layers_of(product(held=(half,)))
    assert layer.reason == because("weights_of_type", dtype="bfloat16")
    packed = helper.make_node("MatMulNBits", ["x", "p", "s"], ["y"], domain="com.microsoft", K=32, N=2, bits=4)
    held = [weight("p", np.zeros((2, 1, 16), np.uint8)), weight("s", np.ones(2, np.float32))]
    (layer,) = layers_of(model([packed], [tensor("x", F32, ["b", 32])], [tensor("y", F32, None)], held))
    assert layer.reason == Reason("weights_packed")
    scaled = helper.make_node("DequantizeLinear", ["q", "x"], ["w"])
    (layer,) = layers_of(product(scaled, held=(weight("q", np.zeros((3, 3), np.int8)),)))
    assert layer.reason == Reason("scale_not_constant")
    turned = helper.make_node("Transpose", ["w0"], ["w"], perm=[0, 5])
    (layer,) = layers_of(product(turned, held=(weight("w0", random(3, 3)),)))
    assert layer.reason == Reason("axes_unclear")


def test_node_without_a_weight_is_no_layer() -> None:
    nodes = [helper.make_node("MatMul", ["x", "x"], ["a"]), helper.make_node("MatMul", ["a", "v"], ["y"])]
    built = model(nodes, [tensor("x", F32, [3, 3])], [tensor("y", F32, None)], [weight("v", random(3))])
    assert layers_of(built) == ()
    strange = model(
        [helper.make_node("Conv", ["x", "w"], ["y"], domain="elsewhere")],
        [tensor("x", F32, None)],
        [tensor("y", F32, None)],
        [weight("w", random(2, 2))],
    )
    assert layers_of(strange) == ()


def test_cycle_of_names_does_not_hang_the_search() -> None:
    ring = (helper.make_node("Identity", ["w"], ["v"]), helper.make_node("Identity", ["v"], ["w"]))
    assert layers_of(product(*ring, held=())) == ()


def test_layers_keep_names_as_in_the_file() -> None:
    built = linear(random(3, 2), name="\x1b[31m w\n")
    (layer,) = layers_of(built)
    assert layer.weight == "\x1b[31m w\n"


def test_float_weight_quantized_for_an_integer_operator_is_a_layer() -> None:
    nodes = [
        helper.make_node("QuantizeLinear", ["w0", "s", "z"], ["w"]),
        helper.make_node("QLinearMatMul", ["x", "f", "b", "w", "s", "z", "f", "b"], ["y"]),
    ]
    held = [weight("w0", random(4, 3)), weight("s", np.array(0.02, np.float32)), weight("z", np.array(0, np.int8)),
            weight("f", np.array(0.1, np.float32)), weight("b", np.array(0, np.uint8))]  # fmt: skip
    built = model(nodes, [tensor("x", onnx.TensorProto.UINT8, [2, 4])], [tensor("y", F32, None)], held)
    (layer,) = layers_of(built)
    assert (layer.weight, layer.dtype, layer.integer, layer.reason) == ("w0", "float32", True, None)
    assert np.array_equal(reader().weight(layer).real, random(4, 3))
