from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.model.profile.graphs import GRAPHS
from tests.model.profile.trace import Made, lines
from tuibench.core.profile import RUNTIME, UNMAPPED
from tuibench.model.profile.calibration import Bias, KernelTime, count_inner, match, middle_mean, sum_up
from tuibench.model.profile.events import Flat, read_events, split_runs
from tuibench.model.profile.layers import graph_of_names, kernel_rows
from tuibench.model.profile.session import MOST_EVENTS, ProfileLimits, runs_for

NONE = Bias(0.0, 0.0)


def times_of(*runs: list[Made]) -> dict[tuple[str, ...], KernelTime]:
    return sum_up(list(split_runs(read_events(lines(runs)))))


def test_one_disturbed_run_does_not_move_a_layer() -> None:
    quiet = [[Made("a", 10), Made("b", 20)]] * 8
    assert times_of(*quiet, [Made("a", 5000), Made("b", 20)])["a",].raw_us == 10


def test_kernel_of_few_runs_counts_little() -> None:
    found = times_of(*[[Made("a", 10)]] * 7, [Made("a", 10), Made("rare", 90)])
    assert found["rare",].raw_us == 0 and found["rare",].calls == 0 and found["a",].calls == 1


@given(st.lists(st.floats(0, 1e6), min_size=1))
def test_middle_mean_lies_between_the_extremes(values: list[float]) -> None:
    assert min(values) <= middle_mean(values) * (1 + 1e-9) and middle_mean(values) <= max(values) * (1 + 1e-9)


def test_branches_with_equal_names_are_matched_by_the_one_that_ran() -> None:
    optimized = Flat(GRAPHS["branches"].graph)
    inside = (Made("mm", 5, "MatMul"), Made("s", 7, "Sqrt"))
    found = match(times_of([Made("exp", 3, "Exp"), Made("if", 2, "If", inside)]), optimized)
    assert {optimized.nodes[number].id for number in found.values()} >= {"e", "i"}
    assert len(found) == 4


def test_unnamed_kernels_are_matched_in_order() -> None:
    optimized = Flat(GRAPHS["loops"].graph)
    body = (Made("a", 1, "Identity"), Made("b", 9, "MatMul"), Made("Relu_2", 4, "Relu"))
    times = times_of([Made("Loop_0", 2, "Loop", body * 5), Made("Loop_1", 2, "Loop", body * 5), Made("Relu_2", 3)])
    found = {path: optimized.nodes[number].id for path, number in match(times, optimized).items()}
    assert found["Loop_0",] == "first" and found["Loop_1", "b"] == "second/body/t" and found["Relu_2",] == "y"
    assert found["Loop_1", "Relu_2"] == "second/body/so" and times["Loop_1", "b"].calls == 5


def test_profiler_cost_is_subtracted_for_each_call_of_a_kernel() -> None:
    original = Flat(GRAPHS["loops"].graph)
    body = (Made("a", 1, "Identity"), Made("b", 9, "MatMul"))
    times = times_of([Made("Loop_0", 40, "Loop", body * 5), Made("Relu_2", 3)])
    all_of = kernel_rows(original, original, times, Bias(1.0, 0.5))
    found = {name: row for row in all_of.rows for name in row.nodes}
    assert found["first/body/t"].raw_us == 45 and found["first/body/t"].us == pytest.approx(45 - 5 * 1.5)
    assert found["first/body/go_on"].us == 0 and found["second/body/t"].raw_us == 0
    assert all_of.calls == 12 and all_of.shares_us == pytest.approx(5 * 1.0 + 5 * 1.5 + 1.5 + 1.0)


def test_profiler_cost_between_kernels_is_subtracted_from_their_loop() -> None:
    original = Flat(GRAPHS["loops"].graph)
    body = (Made("a", 1, "Identity"), Made("b", 9, "MatMul"))
    times = times_of([Made("Loop_0", 40, "Loop", body * 5), Made("Relu_2", 3)])
    assert count_inner(times)["Loop_0",] == 10
    all_of = kernel_rows(original, original, times, Bias(0.0, 0.0, 2.5))
    found = {name: row for row in all_of.rows for name in row.nodes}
    assert found["first"].us == pytest.approx(40 - 10 * 2.5) and found["first/body/t"].us == 45
    assert all_of.shares_us == 25 and all_of.calls == 12


def test_only_direct_children_of_a_kernel_are_counted() -> None:
    inner = Made("if", 4, "If", (Made("x", 10), Made("y", 20)))
    found = count_inner(times_of([Made("loop", 3, "Loop", (inner, inner)), Made("after", 8)]))
    assert found["loop",] == 2 and found["loop", "if"] == 4 and ("after",) not in found


def test_time_of_unmatched_kernels_is_kept() -> None:
    original = Flat(GRAPHS["loops"].graph)
    times = times_of([Made("strange", 50, "Strange"), Made("Loop_0", 5, "Loop", (Made("alien", 8, "Alien"),))])
    rows = kernel_rows(original, original, times, NONE).rows
    assert sum(row.us for row in rows) == 63
    (stranger,) = [row for row in rows if row.kind == RUNTIME]
    assert stranger.op == UNMAPPED and stranger.us == 50
    assert next(row for row in rows if "first" in row.nodes).us == 13


def test_names_alone_match_most_kernels() -> None:
    original = Flat(GRAPHS["convolutions"].graph)
    times = times_of(
        [Made("r1_nchwc", 70, "Conv"), Made("c2_nchwc", 80, "Conv"), Made("ReorderOutput", 5, "ReorderOutput")]
    )
    rows = kernel_rows(original, Flat(graph_of_names(times)), times, NONE).rows
    found = {name: row for row in rows for name in row.nodes}
    assert found["c1"].us == 70 and found["c2"].us == 80 and sum(row.us for row in rows) == 155
    assert sorted(found) == sorted(one.id for one in original.nodes)


def test_runs_are_bounded_by_time_and_by_events() -> None:
    assert runs_for(ProfileLimits(10, 60.0, 100), 30_000_000) == 10
    assert runs_for(ProfileLimits(30, 9.0, 100), 1_000_000_000) == 3
    assert runs_for(ProfileLimits(10, 1.0, 100), 10**12) == 1
    assert runs_for(ProfileLimits(10, 60.0, 24_000), 100_000_000) == MOST_EVENTS // 24_002
    assert runs_for(ProfileLimits(10, 60.0, None), 90_000_000) == 1, (
        "loops repeat kernels as often as there is time for"
    )
