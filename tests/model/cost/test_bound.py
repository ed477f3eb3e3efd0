"""Counting stops at a limit for any model and names that limit."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import count as numbers
from pathlib import Path

import onnx
import pytest
from onnx import TensorProto, helper

from tests.model.cost.support import TRACED, infer, request_for
from tests.model.factory import save
from tuibench.core.profile import EXECUTED, NODES, SECONDS, CostProfile, CountBound
from tuibench.core.reason import Reason, because
from tuibench.model.cost import count as counting
from tuibench.model.cost import expansion as turns
from tuibench.model.cost.count import carry_out
from tuibench.model.cost.expansion import MOST_EXECUTED, expand, limited_loops
from tuibench.model.cost.structure import MOST_NODES, UNEXPANDED, expanded_lengths, limit_calls
from tuibench.model.reference_run import TracedRun
from tuibench.present.profile.costs import bound_words, total_words, unknown_words
from tuibench.present.profile.page import ProfileHeading, profile_lines, view_of

_MACS = 4 * 4 * 4
_OPSETS = [helper.make_opsetid("", 17), helper.make_opsetid("c", 1)]
_X = helper.make_tensor_value_info("x", TensorProto.FLOAT, [4, 4])
_Y = helper.make_tensor_value_info("y", TensorProto.FLOAT, [4, 4])


def nested(depth: int, callee: str = "") -> onnx.ModelProto:
    """Return functions that each call the next one twice; the last has one product: 2 ** (depth - 1) in all."""
    functions = []
    for level in range(depth - 1):
        inner = f"f{level + 1}"
        nodes = [helper.make_node(inner, ["x"], ["t"], domain="c"), helper.make_node(inner, ["t"], ["y"], domain="c")]
        functions.append(helper.make_function("c", f"f{level}", ["x"], ["y"], nodes, _OPSETS))
    last = (
        helper.make_node(callee, ["x"], ["y"], domain="c") if callee else helper.make_node("MatMul", ["x", "x"], ["y"])
    )
    functions.append(helper.make_function("c", f"f{depth - 1}", ["x"], ["y"], [last], _OPSETS))
    graph = helper.make_graph([helper.make_node("f0", ["x"], ["y"], domain="c")], "nested", [_X], [_Y])
    return helper.make_model(graph, functions=functions, opset_imports=_OPSETS, ir_version=8)


def looping(turns_: int | None = None) -> onnx.ModelProto:
    """Return a loop without a limit that ends after the given number of turns, or never."""
    number = helper.make_tensor_value_info("i", TensorProto.INT64, [])
    go_on, goes_on = (helper.make_tensor_value_info(name, TensorProto.BOOL, []) for name in ("c", "co"))
    value, next_ = (helper.make_tensor_value_info(name, TensorProto.FLOAT, [4, 4]) for name in ("v", "vo"))
    test = helper.make_node("Less", ["i", "last"], ["co"]) if turns_ else helper.make_node("Identity", ["c"], ["co"])
    body = helper.make_graph(
        [test, helper.make_node("MatMul", ["v", "v"], ["vo"])], "body", [number, go_on, value], [goes_on, next_]
    )
    weights = [
        helper.make_tensor("true", TensorProto.BOOL, [], [True]),
        helper.make_tensor("last", TensorProto.INT64, [], [(turns_ or 0) - 1]),
    ]
    graph = helper.make_graph([helper.make_node("Loop", ["", "true", "x"], ["y"], body=body)], "g", [_X], [_Y], weights)
    return helper.make_model(graph, opset_imports=_OPSETS[:1], ir_version=8)


def run(model: onnx.ModelProto, folder: Path, loop_s: float = 1000.0, **more: object) -> CostProfile:
    """Count on the shapes of a run with limited loops."""
    request = request_for(save(model, folder / "m.onnx"), folder, loop_s=loop_s)
    return carry_out(request, 1 << 34, partial(TracedRun, **more))  # type: ignore[arg-type]


def test_functions_expanding_to_billions_are_counted_up_to_the_limit(tmp_path: Path) -> None:
    profile = run(nested(40), tmp_path)
    assert profile.bound == CountBound(NODES, MOST_NODES, MOST_NODES)
    assert profile.macs == MOST_NODES * _MACS and len(profile.nodes) == 1
    assert "1.28 M" in total_words(profile, "macs") and profile.bound is not None
    assert profile.shapes_from == because("inferred", why=Reason("too_many_nodes"))
    assert unknown_words(profile) == ""


def test_functions_below_the_limit_are_counted_whole(tmp_path: Path) -> None:
    profile = run(nested(6), tmp_path)
    assert profile.bound is None and profile.macs == 2**5 * _MACS and total_words(profile, "macs") == "2.05 k"


def test_recursive_function_stays_unknown(tmp_path: Path) -> None:
    profile = infer(nested(3, callee="f0"), tmp_path)
    assert profile.bound is None and profile.nodes[0].macs is None


def test_function_lengths_are_counted_without_expansion() -> None:
    lengths = expanded_lengths(nested(5).functions)
    assert lengths is not None and lengths["c", "f0", ""] == 16 and lengths["c", "f4", ""] == 1
    assert expanded_lengths(nested(3, callee="f0").functions) is None
    deep = expanded_lengths(nested(3000).functions)
    assert deep is not None and deep["c", "f2999", ""] == 1


@pytest.mark.parametrize("budget", [1, 3, 7, 15])
def test_calls_beyond_the_node_limit_stay_unexpanded(budget: int) -> None:
    model = nested(5)
    lengths = expanded_lengths(model.functions)
    assert lengths is not None and limit_calls(model, lengths, budget)
    flat = onnx.inliner.inline_local_functions(model).graph.node
    assert sum(node.op_type == "MatMul" for node in flat) == budget
    assert [node.overload for node in flat] == [""] * budget + [UNEXPANDED] * (len(flat) - budget)
    assert not limit_calls(nested(5), lengths, 16)


def test_endless_loop_is_stopped_and_counted_as_executed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (turns, counting):
        monkeypatch.setattr(module, "MOST_EXECUTED", 3000)
    profile = run(looping(), tmp_path)
    assert profile.bound == CountBound(EXECUTED, 3000, 3)
    assert "64" in total_words(profile, "macs")
    assert profile.shapes_from == because("inferred", why=Reason("run_limited"))


def test_loop_ending_below_the_limit_is_counted_whole(tmp_path: Path) -> None:
    profile = run(looping(500), tmp_path)
    assert profile.bound is None and profile.shapes_from == TRACED and profile.macs == 500 * _MACS


def test_loop_limit_is_removed_after_the_run(tmp_path: Path) -> None:
    expansion = expand(looping())
    before = expansion.model.SerializeToString(deterministic=True)
    with limited_loops(expansion) as limits:
        assert limits == {0: MOST_EXECUTED // 2}
        assert expansion.model.graph.node[0].input[0]
    assert expansion.model.SerializeToString(deterministic=True) == before


def test_loop_beyond_its_time_limit_is_stopped_between_two_nodes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(turns, "MOST_EXECUTED", 1 << 40)
    ticks: Iterator[int] = numbers()
    profile = run(looping(), tmp_path, 5.0, clock=lambda: float(next(ticks)))
    assert profile.bound == CountBound(SECONDS, 5.0, 3)
    assert "64" in total_words(profile, "macs")


@pytest.mark.parametrize(
    ("bound", "said"),
    [
        (CountBound(NODES, 20_000, 20_000), "counted up to 20000 nodes: its functions expand to more than 20,000"),
        (
            CountBound(EXECUTED, 75_000, 3),
            "counted up to 3 nodes: its loops run more than 75,000 nodes in one inference",
        ),
        (CountBound(SECONDS, 2.5, 3), "counted up to 3 nodes: its loops did not end within 2.50 s"),
    ],
)
def test_shell_and_dashboard_name_the_limit_that_ended_counting(bound: CountBound, said: str) -> None:
    assert bound_words(bound).startswith(said)
    nothing = CostProfile((), None, 1, {}, 0, 0, 0, 0, 0, 0, None, 0, TRACED, bound=bound)
    assert said.capitalize()[:30] in "\n".join(profile_lines(view_of(nothing), ProfileHeading()))
    assert bound_words(bound) in [text for _, text, _ in view_of(nothing).facts()]
