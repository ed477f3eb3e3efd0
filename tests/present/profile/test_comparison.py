"""Two profiles matched by node: every node once, with any fusion on either side."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.present.profile.sample_data import disturbed, make_performance
from tuibench.core.cell import Estimate
from tuibench.core.profile import FOLDED, LayerTime, PerformanceProfile
from tuibench.core.reason import Reason
from tuibench.present.profile.comparison import OTHER_FILES, ProfileComparison, compare_performance


def profile_of(*layers: LayerTime) -> PerformanceProfile:
    return replace(make_performance(), layers=layers)


def layer(ms: float | None, *nodes: str, kind: str = "layer", op: str = "Conv") -> LayerTime:
    return LayerTime(nodes[0] if nodes else op, kind, op, nodes, (), op, "", Estimate(ms, ms, ms, 3))


def pair_times(found: ProfileComparison) -> dict[tuple[str, ...], tuple[float | None, float | None]]:
    return {tuple(sorted(pair.nodes)): (pair.old_ms.value, pair.new_ms.value) for pair in found.pairs}


def test_equal_profiles_have_no_difference() -> None:
    found = compare_performance(make_performance(), make_performance())
    assert found.words == () and found.ratio == 1.0
    assert {pair.delta_ms for pair in found.pairs} == {0.0}
    assert all(pair.ratio == 1.0 for pair in found.pairs if pair.old_ms.value is not None)


def test_differences_are_sorted_by_size_in_both_directions() -> None:
    old = profile_of(layer(1.0, "a"), layer(2.0, "b"), layer(3.0, "c"), layer(None, "d"))
    new = profile_of(layer(1.1, "a"), layer(1.0, "b"), layer(3.5, "c"), layer(1.0, "d"))
    found = compare_performance(old, new)
    assert [pair.nodes for pair in found.pairs] == [("b",), ("c",), ("a",), ("d",)]
    assert [pair.delta_ms for pair in found.pairs] == [-1.0, 0.5, pytest.approx(0.1), None]


def test_rounding_in_sums_is_no_difference() -> None:
    split = [layer(0.1, "a"), layer(0.2, "b")]
    found = compare_performance(profile_of(*split), profile_of(layer(0.3, "a", "b")))
    assert 0.1 + 0.2 != 0.3 and [pair.delta_ms for pair in found.pairs] == [0.0]
    least = compare_performance(profile_of(layer(1.0, "a")), profile_of(layer(1.0 + 1e-8, "a")))
    assert [pair.delta_ms for pair in least.pairs] == [pytest.approx(1e-8)]


def test_rows_with_different_fusion_become_one_pair() -> None:
    old = profile_of(layer(1.0, "a", "b"), layer(2.0, "c"), layer(4.0, "d"))
    new = profile_of(layer(0.5, "a"), layer(2.0, "b", "c"), layer(4.0, "d"))
    found = compare_performance(old, new)
    assert pair_times(found) == {("a", "b", "c"): (3.0, 2.5), ("d",): (4.0, 4.0)}
    (grouped,) = (pair for pair in found.pairs if len(pair.nodes) == 3)
    assert (len(grouped.old), len(grouped.new)) == (2, 2) and grouped.ratio == pytest.approx(2.5 / 3)


def test_runtime_rows_match_by_kind_and_operator() -> None:
    layouts = [layer(0.1, kind="runtime", op="layout (runtime)"), layer(0.2, kind="runtime", op="layout (runtime)")]
    old = profile_of(*layouts, layer(0.3, kind="residual", op="residual"))
    new = profile_of(layouts[0], layer(0.4, kind="residual", op="residual"))
    found = compare_performance(old, new)
    times = {pair.op: (pair.old_ms.value, pair.new_ms.value) for pair in found.pairs}
    assert times == {"layout (runtime)": (pytest.approx(0.3), 0.1), "residual": (0.3, 0.4)}


def test_layer_of_one_profile_takes_no_time_in_the_other() -> None:
    found = compare_performance(profile_of(layer(1.0, "a")), profile_of(layer(2.0, "b")), (OTHER_FILES,))
    assert [pair.delta_ms for pair in found.pairs] == [2.0, -1.0]
    assert [pair.ratio for pair in found.pairs] == [None, None]
    assert found.words == ("models: no node is in both: these are two models, of which nothing but totals compares",)


def test_same_name_with_another_operator_is_another_node() -> None:
    old = profile_of(layer(1.0, "12"), layer(2.0, "b"), layer(3.0, "c"))
    new = profile_of(layer(5.0, "12", op="Gemm"), layer(2.5, "b"), layer(3.0, "c"))
    operators = {"12": "Conv", "b": "Conv"}, {"12": "Gemm", "b": "Conv", "c": "Conv"}
    found = compare_performance(old, new, (), operators)
    times = {(pair.nodes, pair.old_ms.value, pair.new_ms.value) for pair in found.pairs}
    assert times == {(("12",), None, 5.0), (("12",), 1.0, None), (("b",), 2.0, 2.5), (("c",), 3.0, 3.0)}
    assert found.words == ("models: 2 of 4 nodes (50 %) are in both",)
    assert len(compare_performance(old, new).pairs) == 3, "where operators are not known, names alone tell"


def test_folded_nodes_match_by_operator_too() -> None:
    old = profile_of(replace(layer(None, "12", "b"), kind=FOLDED), layer(2.0, "c"))
    new = profile_of(layer(5.0, "12", op="Gemm"), layer(1.0, "b"), layer(2.0, "c"))
    found = compare_performance(old, new, (), ({"12": "Shape", "b": "Cast"}, {"12": "Gemm", "b": "Cast"}))
    alone = [pair for pair in found.pairs if pair.nodes == ("12",)]
    assert sorted(bool(pair.old) for pair in alone) == [False, True], "a Shape is no Gemm"
    assert [bool(pair.old and pair.new) for pair in found.pairs if pair.nodes == ("b",)] == [True]


def test_node_folded_in_one_profile_takes_no_time_there() -> None:
    folded = replace(layer(None, "a"), kind="folded")
    (pair,) = compare_performance(profile_of(folded), profile_of(layer(2.0, "a"))).pairs
    assert pair.delta_ms == 2.0


def test_separate_intervals_are_a_clear_difference() -> None:
    def one(ms: Estimate) -> PerformanceProfile:
        return profile_of(replace(layer(1.0, "a"), ms=ms))

    (apart,) = compare_performance(one(Estimate(1.0, 0.9, 1.1, 3)), one(Estimate(1.5, 1.4, 1.6, 3))).pairs
    (near,) = compare_performance(one(Estimate(1.0, 0.9, 1.1, 3)), one(Estimate(1.15, 1.05, 1.25, 3))).pairs
    (none,) = compare_performance(one(Estimate(1.0)), one(Estimate(1.15, 1.05, 1.25, 3))).pairs
    assert (apart.is_clear, near.is_clear, none.is_clear) == (True, False, None)


def test_conditions_that_differ_are_reported() -> None:
    old = make_performance()
    new = replace(
        disturbed(old), engine="openvino", cores=1, cpus=(0,), threads=1, batch=8, dims={"seq": 128}, precision="bf16"
    )
    words = compare_performance(old, new, (Reason("told", {"text": "governor powersave / performance"}),)).words
    assert words == (
        "engine onnxruntime 1.31.1 / openvino 1.31.1",
        "cores 2 / 1",
        "CPUs 0-1 / 0",
        "threads 2 / 1",
        "precision f32 / bf16",
        "batch 1 / 8",
        "dims none / seq=128",
        "grades A / D: the machine was disturbed",
        "governor powersave / performance",
    )
    assert compare_performance(old, make_performance(24)).words == ("models: 17 of 33 nodes (52 %) are in both",)


def test_engine_with_a_release_is_not_followed_by_its_version() -> None:
    new = replace(make_performance(), engine="deepsparse@1.8.0", engine_version="1.8.0")
    assert "engine onnxruntime 1.31.1 / deepsparse@1.8.0" in compare_performance(make_performance(), new).words


def test_no_layer_below_the_resolution_has_a_difference() -> None:
    found = compare_performance(make_performance(), replace(make_performance(), below_resolution=True))
    assert {pair.delta_ms for pair in found.pairs} <= {None, 0.0}
    assert {pair.new_ms.value for pair in found.pairs} == {None}
    assert "new: times per layer are below the profiler's resolution" in found.words


partition = st.lists(st.integers(0, 5), min_size=1, max_size=12)


@given(partition, partition)
def test_any_two_fusions_have_each_node_in_one_pair_without_time_loss(
    old_groups: list[int], new_groups: list[int]
) -> None:
    def side(groups: list[int]) -> PerformanceProfile:
        rows: dict[int, list[str]] = {}
        for number, group in enumerate(groups):
            rows.setdefault(group, []).append(f"n{number}")
        return profile_of(*(layer(1.0 + group, *nodes) for group, nodes in rows.items()))

    old, new = side(old_groups), side(new_groups)
    found = compare_performance(old, new)
    nodes = [id_ for pair in found.pairs for id_ in pair.nodes]
    assert len(nodes) == len(set(nodes)) == max(len(old_groups), len(new_groups))
    for mine, theirs in ((old, [pair.old for pair in found.pairs]), (new, [pair.new for pair in found.pairs])):
        assert sorted(row.key for rows in theirs for row in rows) == sorted(row.key for row in mine.layers)
    for whole, parts in ((old, [p.old_ms for p in found.pairs]), (new, [p.new_ms for p in found.pairs])):
        total = math.fsum(row.ms.value or 0.0 for row in whole.layers)
        assert math.fsum(part.value or 0.0 for part in parts) == pytest.approx(total)
    for one in found.pairs:
        for two in found.pairs:
            assert one is two or not set(one.nodes) & set(two.nodes)


def test_folded_nodes_join_no_layers_of_the_other_profile() -> None:
    ran = [layer(1.0, "a"), layer(2.0, "b"), layer(4.0, "c")]
    folded = replace(layer(0.0, "a", "b", "d"), kind=FOLDED, ms=Estimate(None))
    found = compare_performance(profile_of(*ran), profile_of(folded, layer(4.0, "c")))
    assert sorted(pair.nodes for pair in found.pairs) == [("a",), ("b",), ("c",), ("d",)]
    assert {pair.nodes: pair.delta_ms for pair in found.pairs if pair.nodes != ("d",)} == {
        ("a",): -1.0, ("b",): -2.0, ("c",): 0.0,
    }  # fmt: skip
