from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

import numpy as np
import onnx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from onnx import helper

from tests.model.factory import F32, U8, model, save, tensor, weight
from tests.model.profile.graphs import GRAPHS, chain
from tuibench.core.profile import FOLDED, LAYER, LAYOUT, RUNTIME, UNMAPPED
from tuibench.engines import factory
from tuibench.engines.protocol import LoadSettings
from tuibench.model.profile.events import Flat
from tuibench.model.profile.layers import read_optimized, setting_for
from tuibench.model.profile.mapping import Row, map_rows


def setting(path: str, work_dir: Path) -> LoadSettings:
    factory.make("onnxruntime").start()
    return setting_for(path, (min(os.sched_getaffinity(0)),), 1, str(work_dir))


def rows_of(built: onnx.ModelProto, where: Path) -> tuple[list[Row], Flat, Flat]:
    path = save(built, where / "model.onnx")
    original, optimized = Flat(built.graph), Flat(read_optimized(setting(path, where), str(where)))
    assert os.listdir(where) == ["model.onnx"]
    return map_rows(original, optimized), original, optimized


def require_each_once(rows: list[Row], original: Flat, optimized: Flat) -> None:
    assert sorted(name for row in rows for name in row.nodes) == sorted(one.id for one in original.nodes)
    assert sorted(kernel for row in rows for kernel in row.kernels) == list(range(len(optimized.nodes)))
    assert max(Counter(row.key for row in rows).values(), default=1) == 1


def by_node(rows: list[Row]) -> dict[str, Row]:
    return {name: row for row in rows for name in row.nodes}


@pytest.mark.parametrize("name", GRAPHS)
def test_every_node_and_every_kernel_is_in_one_row(name: str, tmp_path: Path) -> None:
    rows, original, optimized = rows_of(GRAPHS[name], tmp_path)
    require_each_once(rows, original, optimized)
    assert not [row for row in rows if row.op == UNMAPPED]
    assert all(row.kernels for row in rows if row.kind == LAYER)


@pytest.mark.parametrize("name", ["convolutions", "convolutions without names"])
def test_convolution_rows_include_fused_nodes(name: str, tmp_path: Path) -> None:
    rows, _, _ = rows_of(GRAPHS[name], tmp_path)
    found = by_node(rows)
    assert found["c1"] is found["r1"] and found["c1"].op == "Conv"
    assert {"c2", "a1", "r2"} == set(found["c2"].nodes)
    assert found["k"].nodes == ("k",) and found["k"].kernel_op == "Concat"
    assert {row.op for row in rows if row.kind == RUNTIME} == {LAYOUT}


def test_tensor_named_like_an_engine_operation_stays_a_layer(tmp_path: Path) -> None:
    held = [weight("s", np.float32(0.1)), weight("z", np.uint8(0)), weight("u", np.int8(0))]
    held.append(weight("w", np.ones((8, 8, 3, 3), np.int8)))
    given = ["x", "s", "z", "w", "s", "u", "s", "z"]
    nodes = [
        helper.make_node("QLinearConv", given, ["Transpose"], name="c1", pads=[1, 1, 1, 1]),
        helper.make_node("QLinearConv", ["Transpose", *given[1:]], ["y"], name="c2", pads=[1, 1, 1, 1]),
    ]
    built = model(nodes, [tensor("x", U8, [1, 8, 16, 16])], [tensor("y", U8, [1, 8, 16, 16])], held)
    rows, original, optimized = rows_of(built, tmp_path)
    require_each_once(rows, original, optimized)
    assert {row.key for row in rows if row.kind == RUNTIME} >= {"Transpose (runtime)"}


def test_tensor_named_like_folded_work_stays_a_layer(tmp_path: Path) -> None:
    nodes = [
        helper.make_node("Add", ["w", "w"], ["twice"]),
        helper.make_node("MatMul", ["x", "twice"], ["done beforehand"]),
        helper.make_node("Softmax", ["done beforehand"], ["y"]),
    ]
    held = [weight("w", np.ones((8, 8), np.float32))]
    built = model(nodes, [tensor("x", F32, [1, 8])], [tensor("y", F32, [1, 8])], held)
    rows, original, optimized = rows_of(built, tmp_path)
    require_each_once(rows, original, optimized)
    assert [row.key for row in rows if row.kind == FOLDED] == ["done beforehand (runtime)"]


def test_folded_nodes_are_told_apart(tmp_path: Path) -> None:
    found = by_node(rows_of(GRAPHS["folding"], tmp_path)[0])
    assert found["w2"].kind == found["two"].kind == found["s"].kind == FOLDED
    assert found["m"] is found["a"] and found["m"].kind == LAYER


def test_nodes_in_branches_and_bodies_are_identified_by_path(tmp_path: Path) -> None:
    rows, _, optimized = rows_of(GRAPHS["branches"], tmp_path)
    found = by_node(rows)
    kernel = optimized.nodes[found["i/else_branch/o"].kernels[0]]
    assert kernel.op == "Sqrt" and found["i/then_branch/t"] is not found["i/else_branch/t"]
    found = by_node(rows_of(GRAPHS["loops"], tmp_path)[0])
    assert found["first/body/t"].op == "MatMul" and found["first/body/t"] is not found["second/body/t"]


def test_branch_that_replaces_its_if_is_matched(tmp_path: Path) -> None:
    found = by_node(rows_of(GRAPHS["a branch that is known"], tmp_path)[0])
    assert found["i/then_branch/t"].kernel_op == "MatMul"
    assert found["i/then_branch/o"] is found["i"]


def test_function_row_has_the_kernels_of_its_call(tmp_path: Path) -> None:
    rows, _, optimized = rows_of(GRAPHS["a function"], tmp_path)
    ops = {row.key: [optimized.nodes[kernel].op for kernel in row.kernels] for row in rows}
    assert ops == {"p": ["MatMul", "Softmax"], "y": ["MatMul", "Softmax"]}


def test_integer_rows_are_marked(tmp_path: Path) -> None:
    found = by_node(rows_of(GRAPHS["integer operators"], tmp_path)[0])
    assert found["q1"].integer and found["q2"].integer and not found["y"].integer
    found = by_node(rows_of(GRAPHS["rounding"], tmp_path)[0])
    assert found["c0"].integer and found["c0"].op == "Conv" and found["c0"] is found["r0"] is found["q1"]
    assert found["c1"].integer and found["c1"] is not found["c0"]
    assert found["dw0"].kind == FOLDED


def test_nodes_with_duplicate_or_missing_names_stay_separate() -> None:
    nodes = [
        helper.make_node("Relu", [a], [b], name=n) for a, b, n in (("x", "a", "n"), ("a", "b", "n"), ("b", "y", ""))
    ]
    graph = model(nodes, [tensor("x", F32, [2])], [tensor("y", F32, [2])]).graph
    rows = map_rows(Flat(graph), Flat(graph))
    assert [row.nodes for row in rows] == [("a",), ("b",), ("y",)]


OPS = st.sampled_from(["Relu", "Identity", "Dropout", "Add", "Mul", "MatMul", "Sum", "Neg", "Exp"])
LINKS = st.lists(st.tuples(OPS, st.booleans()), min_size=1, max_size=9)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(links=LINKS)
def test_optimized_chain_of_any_nodes_has_every_node_once(links: list[tuple[str, bool]], tmp_path: Path) -> None:
    names = [f"n{at}" if named else "" for at, (_, named) in enumerate(links)]
    require_each_once(*rows_of(chain([op for op, _ in links], names), tmp_path))


@given(LINKS, LINKS)
def test_graph_of_another_model_leaves_every_node_in_one_row(
    links: list[tuple[str, bool]], others: list[tuple[str, bool]]
) -> None:
    original = Flat(chain([op for op, _ in links], ["same"] * len(links)).graph)
    optimized = Flat(chain([op for op, _ in others], ["same"] * len(others)).graph)
    require_each_once(map_rows(original, optimized), original, optimized)


def test_thousands_of_nodes_are_mapped() -> None:
    built = chain(["Relu"] * 5000, [""] * 5000)
    original = Flat(built.graph)
    assert len(map_rows(original, original)) == 5000
