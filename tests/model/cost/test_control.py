"""Branches and loops: counted as a run or constants tell, and marked unknown where neither does."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import helper

from tests.model.cost.support import by_op, infer, require_sums, trace
from tests.model.factory import BOOL, F32, I64, model, tensor, weight
from tuibench.core.reason import Reason
from tuibench.model.graph import walk
from tuibench.present.profile.costs import cost_rows
from tuibench.present.profile.summary import summarize_costs

X = tensor("x", F32, ["batch", 4])
Y = tensor("y", F32, None)
SQUARE = weight("w", np.eye(4, dtype=np.float32))
ONE = 4 * 4
"""Multiply-accumulates of one row."""


def loop(limit: str, going: str = "keep", *, grow: bool = False, rows: int | None = None) -> onnx.NodeProto:
    """Return a loop that multiplies its state; `going` names its condition, `rows` the size its body declares."""
    nodes = [helper.make_node("Identity", [going], ["goes"])]
    if grow:
        nodes += [
            helper.make_node("Concat", ["s", "s"], ["wide"], axis=0),
            helper.make_node("MatMul", ["wide", "w"], ["t"]),
        ]
    else:
        nodes.append(helper.make_node("MatMul", ["s", "w"], ["t"]))
    body = helper.make_graph(
        nodes,
        "body",
        [tensor("i", I64, []), tensor("keep", BOOL, []), tensor("s", F32, None if rows is None else [rows, 4])],
        [tensor("goes", BOOL, []), tensor("t", F32, None)],
    )
    return helper.make_node("Loop", [limit, "", "x"], ["y"], body=body)


def looping(limit: int, node: onnx.NodeProto, more: Sequence[onnx.TensorProto] = ()) -> onnx.ModelProto:
    return model([node], [X], [Y], [SQUARE, weight("limit", np.array(limit, np.int64)), *more])


def test_loop_counts_its_trips(tmp_path: Path) -> None:
    built = looping(3, loop("limit", rows=2))
    for profile in (trace(built, tmp_path, batch=2), infer(built, tmp_path, {"x": (2, 4)})):
        (product,) = by_op(profile, "MatMul")
        assert (product.times, product.macs, product.parameters) == (3, 3 * 2 * ONE, 16)
        assert product.id == "y/body/t"
        assert by_op(profile, "Loop")[0].macs == 0
        require_sums(profile)
        # The nodes shown for it multiply nothing once more.
        assert sum(row.macs or 0 for row in cost_rows(profile)) == profile.macs
        assert sum(bar.amount or 0 for bar in summarize_costs(profile).bars) == profile.flops


def test_loop_with_growing_state_counts_each_trip_at_its_size(tmp_path: Path) -> None:
    profile = trace(looping(3, loop("limit", grow=True)), tmp_path, batch=1)
    assert by_op(profile, "MatMul")[0].macs == (2 + 4 + 8) * ONE
    assert by_op(profile, "MatMul")[0].activation_bytes == 2 * (2 + 4 + 8) * 4 * 4


def test_loop_with_an_unknown_limit_is_marked_unknown(tmp_path: Path) -> None:
    built = model([loop("n", rows=2)], [X, tensor("n", I64, [])], [Y], [SQUARE])
    profile = infer(built, tmp_path, {"x": (2, 4), "n": ()})
    (product,) = by_op(profile, "MatMul")
    assert (product.times, product.macs) == (None, 2 * ONE)
    assert product.why == Reason("times_unknown")
    assert profile.unknown >= 1
    require_sums(profile)


@pytest.mark.parametrize(("going", "trips"), [("never", 1), ("always", 3)])
def test_loop_that_may_stop_early_counts_its_trips_in_a_run(tmp_path: Path, going: str, trips: int) -> None:
    held = [weight("never", np.array(False)), weight("always", np.array(True))]
    built = looping(3, loop("limit", going), held)
    assert by_op(trace(built, tmp_path, batch=1), "MatMul")[0].times == trips
    guessed = by_op(infer(built, tmp_path, {"x": (1, 4)}), "MatMul")[0].times
    assert guessed == (3 if going == "always" else None)


def test_loop_with_the_largest_limit_counts_as_a_while_loop(tmp_path: Path) -> None:
    built = looping(2**63 - 1, loop("limit", rows=2))
    (product,) = by_op(infer(built, tmp_path, {"x": (2, 4)}), "MatMul")
    assert (product.times, product.macs) == (None, 2 * ONE), "a while loop is no loop of so many trips"


def test_loop_without_trips_costs_nothing(tmp_path: Path) -> None:
    built = looping(0, loop("limit"))
    for profile in (trace(built, tmp_path, batch=1), infer(built, tmp_path, {"x": (1, 4)})):
        assert (by_op(profile, "MatMul")[0].times, profile.macs, profile.parameters) == (0, 0, 16)


def test_loop_with_a_false_condition_costs_nothing(tmp_path: Path) -> None:
    node = loop("limit")
    node.input[1] = "never"
    built = looping(3, node, [weight("never", np.array(False))])
    for profile in (trace(built, tmp_path, batch=1), infer(built, tmp_path, {"x": (1, 4)})):
        assert by_op(profile, "MatMul")[0].times == 0
    node.input[1] = "open"
    asked = model([node], [X, tensor("open", BOOL, [])], [Y], [SQUARE, weight("limit", np.array(3, np.int64))])
    assert by_op(infer(asked, tmp_path, {"x": (1, 4), "open": ()}), "MatMul")[0].times is None


# Attributes are written in the order of their names: "else" comes before "then".
def choice(inside: onnx.NodeProto | None = None) -> onnx.NodeProto:
    """Return an If with one product in one branch and two in the other."""
    then = helper.make_graph([helper.make_node("MatMul", ["x", "w"], ["a"])], "then", [], [tensor("a", F32, None)])
    twice = [helper.make_node("MatMul", ["x", "w"], ["a"]), inside or helper.make_node("MatMul", ["a", "v"], ["b"])]
    other = helper.make_graph(twice, "else", [], [tensor("b", F32, None)])
    return helper.make_node("If", ["which"], ["y"], then_branch=then, else_branch=other)


def choosing(which: bool | None) -> onnx.ModelProto:
    held = [SQUARE, weight("v", np.eye(4, dtype=np.float32))]
    if which is None:
        return model([choice()], [X, tensor("which", BOOL, [])], [Y], held)
    return model([choice()], [X], [Y], [*held, weight("which", np.array(which))])


@pytest.mark.parametrize(("which", "products"), [(True, [0, 0, 1]), (False, [1, 1, 0])])
def test_run_decides_which_branch_is_counted(tmp_path: Path, which: bool, products: list[int]) -> None:
    profile = trace(choosing(which), tmp_path, batch=1)
    assert [node.times for node in by_op(profile, "MatMul")] == products
    assert profile.macs == sum(products) * ONE
    assert profile.parameters == 32
    whys = [None if times else Reason("body_did_not_run") for times in products]
    assert [node.why for node in by_op(profile, "MatMul")] == whys
    require_sums(profile)


def test_costlier_branch_is_counted_without_a_run(tmp_path: Path) -> None:
    profile = infer(choosing(None), tmp_path, {"x": (1, 4), "which": ()})
    assert [node.times for node in by_op(profile, "MatMul")] == [1, 1, 0]
    assert profile.macs == 2 * ONE
    require_sums(profile)


def test_nested_branches_are_counted(tmp_path: Path) -> None:
    inner = choice()
    inner.output[0] = "b"
    for graph in (attribute.g for attribute in inner.attribute):
        for node in graph.node:
            node.output[0] = f"in_{node.output[0]}"
            node.input[0] = {"a": "in_a"}.get(node.input[0], node.input[0])
        graph.output[0].name = f"in_{graph.output[0].name}"
    held = [SQUARE, weight("v", np.eye(4, dtype=np.float32)), weight("which", np.array(False))]
    built = model([choice(inner)], [X], [Y], held)
    for profile in (trace(built, tmp_path, batch=1), infer(built, tmp_path, {"x": (1, 4)})):
        assert profile.macs == 3 * ONE
        assert [node.id for node in profile.nodes] == [placed.id for placed in walk(built.graph)]


def test_scan_runs_along_its_axis(tmp_path: Path) -> None:
    body = helper.make_graph(
        [helper.make_node("MatMul", ["s", "w"], ["p"]), helper.make_node("Add", ["p", "row"], ["t"])],
        "body",
        [tensor("s", F32, [4]), tensor("row", F32, [4])],
        [tensor("t", F32, [4])],
    )
    node = helper.make_node("Scan", ["first", "x"], ["y"], body=body, num_scan_inputs=1)
    built = model([node], [X], [Y], [SQUARE, weight("first", np.zeros(4, np.float32))])
    for profile in (trace(built, tmp_path, batch=6), infer(built, tmp_path, {"x": (6, 4)})):
        assert by_op(profile, "MatMul")[0].times == 6
        assert profile.macs == 6 * ONE
        assert profile.unknown == 0


def test_outer_tensor_read_in_a_branch_stays_alive_until_then(tmp_path: Path) -> None:
    nodes = [
        helper.make_node("Relu", ["x"], ["kept"]),
        helper.make_node("Identity", ["x"], ["other"]),
        helper.make_node("Concat", ["other", "other"], ["wide"], axis=0),
        helper.make_node(
            "If",
            ["which"],
            ["y"],
            then_branch=helper.make_graph(
                [helper.make_node("Neg", ["kept"], ["a"])], "t", [], [tensor("a", F32, None)]
            ),
            else_branch=helper.make_graph(
                [helper.make_node("Abs", ["kept"], ["b"])], "e", [], [tensor("b", F32, None)]
            ),
        ),
    ]
    built = model(nodes, [tensor("x", F32, [1, 4])], [Y, tensor("wide", F32, None)], [weight("which", np.array(True))])
    # wide, kept, the branch's tensor and the output.
    assert trace(built, tmp_path).peak_activation_bytes == (8 + 4 + 4 + 4) * 4
    # And no longer: of the last node's 16 + 12 elements, wide is 8 and y 4.
    built.graph.node.append(helper.make_node("Concat", ["wide", "y"], ["last"], axis=0))
    built.graph.output.append(tensor("last", F32, None))
    assert trace(built, tmp_path).peak_activation_bytes == (8 + 4 + 12) * 4


def test_sequence_types_have_no_activation_size(tmp_path: Path) -> None:
    nodes = [
        helper.make_node("SequenceConstruct", ["x", "x"], ["q"]),
        helper.make_node("ConcatFromSequence", ["q"], ["c"], axis=0),
        helper.make_node("MatMul", ["c", "w"], ["y"]),
    ]
    profile = trace(model(nodes, [X], [Y], [SQUARE]), tmp_path, batch=2)
    assert [node.activation_bytes is None for node in profile.nodes] == [True, True, False]
    assert (profile.macs, profile.unknown, profile.peak_activation_bytes) == (4 * ONE, 2, None)
