"""Whole models: weights counted once, constants folded, functions, and unusual files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import TensorProto, helper

from tests.model.cost.support import STATIC, TRACED, by_op, infer, is_inferred, require_sums, trace, trace_file
from tests.model.factory import F16, F32, I32, I64, model, save, tensor, weight
from tests.refusal import refused
from tuibench.core.errors import ModelError
from tuibench.core.profile import CostProfile
from tuibench.core.reason import because
from tuibench.model.cost.assembly import Zeros
from tuibench.model.cost.constant import Constant
from tuibench.model.cost.count import count
from tuibench.model.graph import walk
from tuibench.model.inspection import ZeroBudget

X = tensor("x", F32, ["batch", 8])
Y = tensor("y", F32, None)


def square(name: str = "w", value: float = 1.0, side: int = 8) -> onnx.TensorProto:
    return weight(name, np.full((side, side), value, np.float32))


def test_shared_weights_count_once_and_are_read_twice(tmp_path: Path) -> None:
    nodes = [helper.make_node("MatMul", ["x", "w"], ["h"]), helper.make_node("MatMul", ["h", "w"], ["y"])]
    profile = infer(model(nodes, [X], [Y], [square()]), tmp_path, {"x": (2, 8)})
    assert [node.parameters for node in profile.nodes] == [64, 0]
    assert [node.weight for node in profile.nodes] == ["w", "w"]
    assert [node.weight_bytes for node in profile.nodes] == [256, 256]
    assert (profile.parameters, profile.weight_bytes, profile.macs) == (64, 256, 2 * 2 * 64)


def test_shapes_and_indices_are_no_parameters(tmp_path: Path) -> None:
    nodes = [helper.make_node("Reshape", ["x", "shape"], ["r"]), helper.make_node("MatMul", ["r", "w"], ["y"])]
    held = [weight("shape", np.array([-1, 8], np.int64)), square()]
    profile = infer(model(nodes, [X], [Y], held), tmp_path, {"x": (2, 8)})
    assert profile.parameters == 64
    assert profile.nodes[0].weight == ""
    assert profile.nodes[0].weight_bytes == 16


@pytest.mark.parametrize("how", ["constant", "folded", "filled", "sparse"])
def test_weights_count_in_every_form_of_storage(tmp_path: Path, how: str) -> None:
    nodes = [helper.make_node("MatMul", ["x", "w"], ["y"])]
    held: list[onnx.TensorProto] = []
    if how == "constant":
        nodes.insert(0, helper.make_node("Constant", [], ["w"], value=square()))
    elif how == "folded":
        held.append(square("v"))
        nodes[:0] = [helper.make_node("Transpose", ["v"], ["t"]), helper.make_node("Identity", ["t"], ["w"])]
    elif how == "filled":
        held.append(weight("s", np.array([8, 8], np.int64)))
        nodes.insert(
            0, helper.make_node("ConstantOfShape", ["s"], ["w"], value=weight("", np.array([2.0], np.float32)))
        )
    built = model(nodes, [X], [Y], held)
    if how == "sparse":
        values, places = weight("w", np.array([1.0, 2.0], np.float32)), weight("", np.array([3, 9], np.int64))
        built.graph.sparse_initializer.append(helper.make_sparse_tensor(values, places, [8, 8]))
    profile = infer(built, tmp_path, {"x": (2, 8)})
    (product,) = by_op(profile, "MatMul")
    assert (product.parameters, profile.parameters, product.macs) == (64, 64, 128)
    assert product.zeros == (62 if how == "sparse" else 0)
    assert product.activation_bytes == 2 * 2 * 8 * 4
    assert {node.times for node in profile.nodes if node is not product} <= {0}


def test_state_of_zeros_is_no_weight(tmp_path: Path) -> None:
    nodes = [helper.make_node("ConstantOfShape", ["s"], ["w"]), helper.make_node("Add", ["x", "w"], ["y"])]
    built = model(nodes, [X], [Y], [weight("s", np.array([8, 8], np.int64))])
    assert infer(built, tmp_path, {"x": (8, 8)}).parameters == 0


def test_zeros_are_counted_for_each_weight(tmp_path: Path) -> None:
    nodes = [helper.make_node("MatMul", ["x", "w"], ["h"]), helper.make_node("MatMul", ["h", "v"], ["y"])]
    pruned = np.ones((8, 8), np.float32)
    pruned[:, :3] = -0.0
    profile = infer(model(nodes, [X], [Y], [square(), weight("v", pruned)]), tmp_path, {"x": (1, 8)})
    assert [node.zeros for node in profile.nodes] == [0, 24]


def test_zeros_are_counted_within_a_budget(tmp_path: Path) -> None:
    zeros = Zeros(tmp_path, lambda: 0.0, ZeroBudget(seconds=1.0, total_bytes=300))
    held = [Constant(name, "float32", (8, 8), square(name, 0.0), elements=64) for name in ("a", "b")]
    assert [zeros.count(one) for one in held] == [64, 0]
    assert len(zeros.notes()) == 1
    times = iter((0.0, 2.0))
    late = Zeros(tmp_path, lambda: next(times), ZeroBudget(seconds=1.0))
    assert late.count(held[0]) == 0
    assert len(late.notes()) == 1


def test_peak_activations_are_those_alive_at_once(tmp_path: Path) -> None:
    # a lives until the last node; b ends at the start of c.
    nodes = [
        helper.make_node("Relu", ["x"], ["a"]),
        helper.make_node("Relu", ["a"], ["b"]),
        helper.make_node("Relu", ["b"], ["c"]),
        helper.make_node("Concat", ["c", "a"], ["y"], axis=1),
    ]
    profile = infer(model(nodes, [X], [Y]), tmp_path, {"x": (1, 8)})
    assert profile.peak_activation_bytes == (8 + 8 + 16) * 4
    assert profile.activation_bytes == (16 + 16 + 16 + 32) * 4


def test_function_call_costs_the_nodes_in_it(tmp_path: Path) -> None:
    inner = helper.make_function(
        "own", "Twice", ["a", "b"], ["d"],
        [helper.make_node("MatMul", ["a", "b"], ["c"]), helper.make_node("MatMul", ["c", "b"], ["d"])],
        [helper.make_opsetid("", 17)],
    )  # fmt: skip
    outer = helper.make_function(
        "own", "Deep", ["a", "b"], ["e"],
        [helper.make_node("Twice", ["a", "b"], ["d"], domain="own"), helper.make_node("Relu", ["d"], ["e"])],
        [helper.make_opsetid("", 17), helper.make_opsetid("own", 1)],
    )  # fmt: skip
    nodes = [
        helper.make_node("Relu", ["x"], ["h"]),
        helper.make_node("Deep", ["h", "w"], ["k"], domain="own", name="deep"),
        helper.make_node("Twice", ["k", "w"], ["y"], domain="own"),
    ]
    built = model(nodes, [X], [Y], [square()])
    built.opset_import.append(helper.make_opsetid("own", 1))
    built.functions.extend([inner, outer])
    for profile in (infer(built, tmp_path, {"x": (3, 8)}), trace(built, tmp_path, batch=3)):
        assert [node.op for node in profile.nodes] == ["Relu", "own.Deep", "own.Twice"]
        assert [node.macs for node in profile.nodes] == [0, 2 * 3 * 64, 2 * 3 * 64]
        assert [node.parameters for node in profile.nodes] == [0, 64, 0]
        assert profile.nodes[1].element_flops == 24
        assert (profile.nodes[1].id, profile.nodes[1].name, profile.nodes[1].output_shape) == ("k", "deep", (3, 8))
        assert [node.index for node in profile.nodes] == [0, 1, 2], "the places in the file"
        assert profile.unknown == 0
        require_sums(profile)


def test_function_of_one_node_keeps_the_name_in_the_file(tmp_path: Path) -> None:
    body = helper.make_function(
        "own", "Only", ["a"], ["b"], [helper.make_node("Relu", ["a"], ["b"])], [helper.make_opsetid("", 17)]
    )
    built = model([helper.make_node("Only", ["x"], ["y"], domain="own", name="only")], [X], [Y])
    built.opset_import.append(helper.make_opsetid("own", 1))
    built.functions.append(body)
    (node,) = infer(built, tmp_path, {"x": (3, 8)}).nodes
    assert (node.op, node.name, node.element_flops) == ("own.Only", "only", 24)


def test_overloads_of_a_function_are_counted_separately(tmp_path: Path) -> None:
    nodes, functions = [], []
    for form, read, made, ops in (("short", "x", "h", ["Relu"]), ("long", "h", "k", ["Relu", "Tanh", "Neg"])):
        names = ["a", *(f"t{n}" for n in range(1, len(ops))), "b"]
        inside = [helper.make_node(op, [names[n]], [names[n + 1]]) for n, op in enumerate(ops)]
        functions.append(helper.make_function("own", "F", ["a"], ["b"], inside, [helper.make_opsetid("", 17)]))
        nodes.append(helper.make_node("F", [read], [made], domain="own"))
        functions[-1].overload = nodes[-1].overload = form
    built = model([*nodes, helper.make_node("Relu", ["k"], ["y"])], [X], [Y])
    built.ir_version = 10
    built.opset_import.append(helper.make_opsetid("own", 1))
    built.functions.extend(functions)
    found = infer(built, tmp_path, {"x": (3, 8)}).nodes
    assert [node.element_flops for node in found] == [24, 3 * 24, 24]
    assert [node.index for node in found] == [0, 1, 2], "the places in the file"


@pytest.mark.parametrize("trouble", ["calls itself", "another opset", "no nodes"])
def test_function_that_cannot_be_expanded_is_unknown(tmp_path: Path, trouble: str) -> None:
    body = helper.make_node("Again" if trouble == "calls itself" else "Relu", ["a"], ["b"], domain="own")
    opsets = [helper.make_opsetid("", 12 if trouble == "another opset" else 17), helper.make_opsetid("own", 1)]
    built = model([helper.make_node("Again", ["x"], ["y"], domain="own")], [X], [Y])
    built.opset_import.append(helper.make_opsetid("own", 1))
    inside, given = ([], ["a"]) if trouble == "no nodes" else ([body], ["b"])
    built.functions.append(helper.make_function("own", "Again", ["a"], given, inside, opsets))
    (node,) = trace(built, tmp_path, batch=2).nodes
    assert (node.op, node.macs, node.why) == ("own.Again", None, because("operator_unknown", name="own.Again"))


def test_unknown_operator_is_shown_and_not_added(tmp_path: Path) -> None:
    nodes = [helper.make_node("Mystery", ["x"], ["h"], domain="own"), helper.make_node("MatMul", ["x", "w"], ["y"])]
    built = model(nodes, [X], [Y], [square()])
    built.opset_import.append(helper.make_opsetid("own", 1))
    profile = trace(built, tmp_path, batch=2)
    assert is_inferred(profile)
    assert (profile.nodes[0].macs, profile.nodes[0].flops, profile.unknown) == (None, None, 1)
    assert profile.nodes[0].why == because("operator_unknown", name="own.Mystery")
    assert profile.macs == 128


def test_constant_model_and_model_without_weights_are_counted(tmp_path: Path) -> None:
    constant = [helper.make_node("MatMul", ["w", "w"], ["y"])]
    for profile in (
        infer(model(constant, [], [Y], [square()]), tmp_path),
        trace(model(constant, [], [Y], [square()]), tmp_path),
    ):
        assert (profile.macs, profile.parameters, profile.nodes[0].times) == (0, 64, 0)
        require_sums(profile)
    plain = trace(model([helper.make_node("Relu", ["x"], ["y"])], [X], [Y]), tmp_path, batch=2)
    assert (plain.parameters, plain.weight_bytes, plain.element_flops) == (0, 0, 16)
    assert plain.nodes[0].intensity == 16 / 128


@pytest.mark.parametrize("names", [["", ""], ["same", "same"], ['a"b\n\\', "\x1b]0;x\x07"], ["a_kernel_time", "a"]])
def test_node_names_do_not_change_the_count(tmp_path: Path, names: list[str]) -> None:
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["h"], name=names[0]),
        helper.make_node("Relu", ["h"], ["y"], name=names[1]),
    ]
    profile = trace(model(nodes, [X], [Y], [square()]), tmp_path, batch=2)
    assert profile.shapes_from == TRACED
    assert [node.name for node in profile.nodes] == names
    assert [(node.macs, node.element_flops) for node in profile.nodes] == [(128, 0), (0, 16)]


def test_external_weights_of_unnamed_nodes_are_left_in_place(tmp_path: Path) -> None:
    built = model([helper.make_node("MatMul", ["x", "w"], ["y"])], [X], [Y], [square(side=8)])
    path = str(tmp_path / "m.onnx")
    onnx.save(built, path, save_as_external_data=True, location="m.data", size_threshold=0)
    before = {file.name: file.read_bytes() for file in tmp_path.iterdir()}
    profile = trace_file(path, tmp_path, batch=2)
    assert (profile.shapes_from, profile.macs, profile.parameters) == (TRACED, 128, 64)
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == before


def test_external_weights_behind_cache_links_are_counted(tmp_path: Path) -> None:
    built = model([helper.make_node("MatMul", ["x", "w"], ["y"])], [X], [Y], [square()])
    blobs, snapshot = tmp_path / "blobs", tmp_path / "snapshot"
    for folder in (blobs, snapshot):
        folder.mkdir()
    onnx.save(built, str(blobs / "m.onnx"), save_as_external_data=True, location="m.data", size_threshold=0)
    for name in ("m.onnx", "m.data"):
        (snapshot / name).symlink_to(blobs / name)
    profile = trace_file(str(snapshot / "m.onnx"), tmp_path, batch=2)
    assert (profile.macs, profile.parameters, profile.zeros, profile.notes) == (128, 64, 0, ())
    assert profile.shapes_from == TRACED


def test_missing_external_weights_still_allow_shapes(tmp_path: Path) -> None:
    built = model([helper.make_node("MatMul", ["x", "w"], ["y"])], [X], [Y], [square(side=8)])
    path = str(tmp_path / "m.onnx")
    onnx.save(built, path, save_as_external_data=True, location="m.data", size_threshold=0)
    (tmp_path / "m.data").unlink()
    profile = trace_file(path, tmp_path, batch=2)
    assert is_inferred(profile)
    assert (profile.macs, profile.parameters, profile.zeros) == (128, 64, 0)
    missing = because("external_data", path=str(tmp_path / "m.data"), model=path)
    assert because("zeros_unreadable", why=because("path_missing", what=missing)) in profile.notes


def test_ort_file_is_refused_because_it_has_no_nodes(tmp_path: Path) -> None:
    path = tmp_path / "m.ort"
    path.write_bytes(b"\x00\x00\x00\x00ORTM" + bytes(64))
    with refused(ModelError, "ort_without_graph", path=str(path)):
        count(path)


def test_data_dependent_shapes_come_from_the_run(tmp_path: Path) -> None:
    nodes = [
        helper.make_node("NonZero", ["x"], ["places"]),
        helper.make_node("Transpose", ["places"], ["rows"]),
        helper.make_node("Cast", ["rows"], ["float"], to=F32),
        helper.make_node("MatMul", ["float", "w"], ["y"]),
    ]
    built = model(nodes, [X], [Y], [weight("w", np.ones((2, 5), np.float32))])
    profile = trace(built, tmp_path, batch=3)
    assert by_op(profile, "MatMul")[0].macs == 3 * 8 * 2 * 5
    guessed = trace(built, tmp_path, batch=3, static=STATIC)
    assert (by_op(guessed, "MatMul")[0].macs, guessed.unknown) == (None, 4)


def test_bytes_use_the_models_types_not_the_engines_conversions(tmp_path: Path) -> None:
    nodes = [helper.make_node("Erf", ["x"], ["h"]), helper.make_node("Relu", ["h"], ["y"])]
    built = model(nodes, [tensor("x", F16, [4, 8])], [tensor("y", F16, None)])
    profile = trace(built, tmp_path)
    assert profile.shapes_from == TRACED
    assert [node.activation_bytes for node in profile.nodes] == [128, 128]


def _chain(length: int) -> onnx.ModelProto:
    nodes = [helper.make_node("MatMul", [f"t{n}", "w"], [f"t{n + 1}"]) for n in range(length)]
    return model(nodes, [tensor("t0", F32, ["batch", 2])], [tensor(f"t{length}", F32, None)], [square(side=2)])


def test_model_of_5000_nodes_is_counted(tmp_path: Path) -> None:
    profile = trace(_chain(5000), tmp_path, batch=3)
    assert (len(profile.nodes), profile.macs, profile.parameters) == (5000, 5000 * 12, 4)
    require_sums(profile)


@pytest.mark.slow
def test_model_of_60000_nodes_is_counted(tmp_path: Path) -> None:
    for profile in (trace(_chain(60_000), tmp_path, batch=1), infer(_chain(60_000), tmp_path, {"t0": (1, 2)})):
        assert (len(profile.nodes), profile.macs) == (60_000, 60_000 * 4)


def test_chain_of_a_thousand_constants_is_followed(tmp_path: Path) -> None:
    held = [square(f"w{n}", side=2) for n in range(1000)]
    nodes = [helper.make_node("Add", [f"t{n}" if n else "w0", f"w{n}"], [f"t{n + 1}"]) for n in range(1000)]
    nodes.append(helper.make_node("MatMul", ["x", "t1000"], ["y"]))
    profile = infer(model(nodes, [tensor("x", F32, [1, 2])], [Y], held), tmp_path)
    assert profile.parameters == 4000
    require_sums(profile)


LAYERS = st.lists(st.sampled_from(["MatMul", "Relu", "Softmax", "Conv", "Transpose2", "Add"]), min_size=1, max_size=8)


@settings(max_examples=25, deadline=None)
@given(LAYERS, st.integers(1, 3))
def test_totals_are_sums_and_scale_with_the_batch(
    tmp_path_factory: pytest.TempPathFactory, layers: list[str], batch: int
) -> None:
    folder = tmp_path_factory.mktemp("made")
    one, two = (_both(folder, _stack(layers), size) for size in (batch, 2 * batch))
    for static, traced in (one, two):
        assert [(n.id, n.macs, n.element_flops) for n in static.nodes] == [
            (n.id, n.macs, n.element_flops) for n in traced.nodes
        ]
        assert static.peak_activation_bytes == traced.peak_activation_bytes
        require_sums(static)
        require_sums(traced)
    assert two[1].macs == 2 * one[1].macs
    assert two[1].parameters == one[1].parameters


def _both(folder: Path, built: onnx.ModelProto, batch: int) -> tuple[CostProfile, CostProfile]:
    static = trace(built, folder, batch=batch, static=STATIC)
    traced = trace(built, folder, batch=batch)
    assert traced.shapes_from == TRACED
    assert [node.id for node in traced.nodes] == [placed.id for placed in walk(built.graph)]
    return static, traced


def _stack(layers: list[str]) -> onnx.ModelProto:
    nodes, at = [], "x"
    for number, layer in enumerate(layers):
        names, more = [at], dict[str, Any]()
        if layer == "MatMul":
            names.append("w")
        elif layer == "Conv":
            names.append("k")
        elif layer == "Add":
            names.append("x")
        elif layer == "Transpose2":
            nodes.append(helper.make_node("Transpose", [at], [f"s{number}"], perm=[0, 1, 3, 2]))
            names = [f"s{number}"]
            more = {"perm": [0, 1, 3, 2]}
        at = f"t{number}"
        nodes.append(helper.make_node(layer.removesuffix("2"), names, [at], **more))
    held = [weight("w", np.ones((4, 4), np.float32)), weight("k", np.ones((3, 3, 1, 1), np.float32))]
    inputs = [tensor("x", F32, ["batch", 3, 4, 4])]
    return model(nodes, inputs, [tensor(at, F32, ["batch", None, None, None])], held)


def test_nodes_dropped_by_the_engine_are_counted(tmp_path: Path) -> None:
    # ONNX Runtime runs neither cast, even without optimization.
    nodes = [
        helper.make_node("Neg", ["i"], ["n"]),
        helper.make_node("Cast", ["n"], ["a"], to=I64),
        helper.make_node("Cast", ["a"], ["b"], to=I32),
        helper.make_node("Neg", ["b"], ["y"]),
    ]
    built = model(nodes, [tensor("i", I32, [5])], [tensor("y", I32, None)])
    profile = trace(built, tmp_path)
    assert [node.element_flops for node in profile.nodes] == [5, 5, 5, 5]
    assert [node.activation_bytes for node in profile.nodes] == [40, 60, 60, 40]


def test_directory_with_a_model_is_counted(tmp_path: Path) -> None:
    save(model([helper.make_node("Relu", ["x"], ["y"])], [X], [Y]), tmp_path / "model.onnx")
    assert trace_file(str(tmp_path), tmp_path, batch=4).element_flops == 32


def test_activations_of_64_bit_integers_are_counted(tmp_path: Path) -> None:
    built = model(
        [helper.make_node("Add", ["i", "i"], ["y"])], [tensor("i", I64, [5])], [tensor("y", TensorProto.INT64, None)]
    )
    assert trace(built, tmp_path).nodes[0].activation_bytes == 3 * 5 * 8
