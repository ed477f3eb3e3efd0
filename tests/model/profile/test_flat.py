from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import helper

from tests.model.factory import BOOL, F32, model, tensor, weight
from tuibench.model.profile.events import Flat

OUT = tensor("o", F32, [4])


def nested(depth: int, core: list[onnx.NodeProto]) -> onnx.ModelProto:
    """Return nested branches that read constants except the innermost, each followed by a reader."""
    body = core
    for level in range(depth):
        inner = helper.make_graph(body, f"level {level}", [], [OUT])
        still = helper.make_graph([helper.make_node("Neg", ["w"], ["o"])], "still", [], [OUT])
        body = [
            helper.make_node("If", ["c"], ["i"], then_branch=inner, else_branch=still),
            helper.make_node("Exp", ["i"], ["o"]),
        ]
    held = [weight("w", np.ones(4, np.float32)), weight("c", np.array(True))]
    return model(body, [tensor("x", F32, [4]), tensor("d", BOOL, [])], [OUT], held)


def moving(built: onnx.ModelProto) -> set[str]:
    flat = Flat(built.graph)
    return {placed.id for placed, moves in zip(flat.nodes, flat.dynamic(), strict=True) if moves}


@pytest.mark.parametrize("depth", [1, 2, 3, 6])
def test_input_read_in_a_deep_branch_makes_all_outer_nodes_dynamic(depth: int) -> None:
    found = moving(nested(depth, [helper.make_node("Relu", ["x"], ["o"])]))
    assert {"i", "o"} <= found, "and whoever reads what the outermost branch gives"
    inner = "i/then_branch/" * depth
    assert f"{inner}o" in found
    assert len(found) == 2 * depth + 1, "and none of the branches that read constants alone"


def test_branches_over_constants_alone_are_static() -> None:
    assert moving(nested(3, [helper.make_node("Relu", ["w"], ["o"])])) == set()


def test_random_node_is_dynamic_and_a_static_node_stops_it() -> None:
    drawn = [helper.make_node("RandomNormal", [], ["r"], shape=[4]), helper.make_node("Relu", ["r"], ["o"])]
    built = nested(3, drawn)
    assert len(moving(built)) == 8
    flat = Flat(built.graph)
    still = frozenset(n for n, placed in enumerate(flat.nodes) if placed.id == "i/then_branch/i")
    found = {placed.id for placed, moves in zip(flat.nodes, flat.dynamic(still), strict=True) if moves}
    assert "i/then_branch/i/then_branch/i" in found and "i/then_branch/i" not in found and "i" not in found
