"""A loss profile assembled from its parts, and its selection of worst layers."""

from __future__ import annotations

from dataclasses import replace

from tests.present.profile.sample_data import make_costs
from tuibench.core.profile import ALREADY_INT8, NOT_RUN, LayerLoss, LossPoint, LossProfile
from tuibench.core.profile_facts import (
    APPROXIMATED,
    MEASURED,
    LossFacts,
    assemble_loss,
    count_points,
    describe_data,
    estimate_s,
    find_idle,
    first_points,
    worst_layers,
)
from tuibench.core.reason import LIGHTER_BRANCH, Reason, because, legacy_text
from tuibench.core.record import from_plain, to_plain
from tuibench.present.profile.loss import loss_columns, loss_rows, loss_sentences
from tuibench.present.table import column_of

TWO = ("pruned 0.5", "int8")


def layer(node: str, reason: Reason | None = None) -> LayerLoss:
    return LayerLoss(node, "Conv", "", f"{node}.weight", (2, 3), 6, 0, (0.0, 1.0), {"int8": 40.0}, reason=reason)


def point(level: str, db: float | None, reason: Reason | None = None, harm: bool = False) -> LossPoint:
    return LossPoint(level, db, 0.9, samples=2, reason=reason, harm=harm)


def test_profile_of_weights_alone_is_a_proxy() -> None:
    found = assemble_loss([layer("a"), layer("b")], None, LossFacts(notes=(legacy_text("one"),)))
    assert found.kind == APPROXIMATED and found.data == "" and found.complete and found.samples == 0
    assert [one.id for one in found.layers] == ["a", "b"] and not any(one.points for one in found.layers)
    assert found.notes == (Reason("from_weights_alone"), Reason("rounds_weights_only"), legacy_text("one"))


def test_points_are_added_to_layers_in_the_order_of_levels() -> None:
    points = [
        ("b", point("int8", 30)),
        ("a", point("int8", 20)),
        ("b", point("pruned 0.5", 5)),
        ("gone", point("x", 1)),
    ]
    facts = LossFacts("2 samples", TWO, samples=2, classes=True, float32_db=110.0)
    found = assemble_loss([layer("a"), layer("b")], points, facts)
    assert found.kind == MEASURED and found.classes and found.float32_db == 110 and found.data == "2 samples"
    assert [[p.level for p in one.points] for one in found.layers] == [["int8"], ["pruned 0.5", "int8"]]
    assert not found.complete, "a lacks a level"
    assert found.notes == (Reason("rounds_weights_only"),)
    whole = assemble_loss([layer("a"), layer("b")], [*points, ("a", point("pruned 0.5", 1))], facts)
    assert whole.complete
    assert from_plain(LossProfile, to_plain(whole)) == whole


def test_point_measured_twice_counts_once() -> None:
    found = assemble_loss([layer("a")], [("a", point("int8", 1)), ("a", point("int8", 2))], LossFacts(levels=("int8",)))
    assert [p.sqnr_db for p in found.layers[0].points] == [2]


def test_unchangeable_layers_do_not_block_completion() -> None:
    found = assemble_loss([layer("a", Reason("weights_packed"))], [], LossFacts(levels=TWO))
    assert found.complete and found.layers[0].reason


def test_budget_is_complete_with_all_levels_of_the_worst_layers() -> None:
    layers = [layer("a"), layer("b")]
    points = [("a", point("pruned 0.5", 3)), ("b", point("pruned 0.5", 9))]
    facts = LossFacts(levels=TWO, budget=True, worst=("a",))
    assert not assemble_loss(layers, points, facts).complete
    assert assemble_loss(layers, [*points, ("a", point("int8", 30))], facts).complete
    assert not assemble_loss(layers, points[:1], facts).complete


def test_worst_layers_have_the_most_noise() -> None:
    points = [
        ("good", point("pruned 0.5", 40)),
        ("bad", point("pruned 0.5", 3)),
        ("equal", point("pruned 0.5", None)),
        ("broken", point("pruned 0.5", None, because("output_not_finite", name="y"), harm=True)),
        ("unknown", point("pruned 0.5", None, Reason("no_float_output"))),
        ("quantized", point("int8", None, ALREADY_INT8)),
        ("good", point("int8", 2)),
    ]
    assert worst_layers(points) == ("broken", "good", "bad")
    assert worst_layers(points, 2) == ("broken", "good")
    assert worst_layers(points, 0) == worst_layers([], 3) == worst_layers(points, -1) == ()
    ties = [(name, point("int8", 1)) for name in "cab"]
    assert worst_layers(ties, 2) == ("c", "a"), "the order of the model decides between equals"


def test_budget_judges_int8_layers_by_the_next_level() -> None:
    points = [
        ("float", point("int8", 20)),
        ("held", point("int8", None, ALREADY_INT8)),
        ("unseen", point("int8", None, ALREADY_INT8)),
        ("held", point("pruned 0.5", 3)),
        ("float", point("pruned 0.5", 1)),
    ]
    levels = ("int8", "pruned 0.5", "pruned 0.9")
    assert [(node, one.sqnr_db) for node, one in first_points(points, levels)] == [("float", 20), ("held", 3)]
    facts = LossFacts(levels=levels, budget=True)
    layers = [layer("float"), layer("held")]
    assert assemble_loss(layers, points, facts).complete
    assert not assemble_loss(layers, points[:3], facts).complete, "of one nothing is known yet"


def test_data_is_named_and_synthetic_data_is_marked() -> None:
    assert describe_data(2, 7, "own\x1b.npz") == "2 samples from own\\e.npz"
    assert describe_data(1, 7).startswith("1 sample of synthetic data (seed 7)")


def test_points_and_time_are_known_before_the_run() -> None:
    assert count_points(54, 5) == 270
    assert count_points(54, 5, budget=True) == 54 + 4 * 10
    assert count_points(3, 5, budget=True) == 15 and count_points(3, 0, budget=True) == 0
    assert round(estimate_s(270, 2, 30.0), 6) == 24.3


def test_branch_not_taken_is_not_insensitive() -> None:
    costs = make_costs(4)
    node, other, guessed = (replace(costs.nodes[n], id=one) for n, one in enumerate("abc"))
    idle = replace(node, times=0, why=Reason("body_did_not_run"))
    costs = replace(costs, nodes=(idle, other, replace(guessed, times=0, why=Reason(LIGHTER_BRANCH))))
    assert find_idle(costs) == {"a"} and find_idle(None) == frozenset()
    points = [("a", point("int8", None)), ("b", point("int8", 20)), ("c", point("int8", None))]
    facts = LossFacts(levels=("int8",), idle=find_idle(costs))
    loss = assemble_loss([layer("a"), layer("b"), layer("c")], points, facts)
    assert loss.complete and [one.points[0].reason for one in loss.layers] == [NOT_RUN, None, None]
    column = column_of(loss_columns(loss), "int8")
    assert column is not None and [column.text(row) for row in loss_rows(loss)] == ["not run", "20.0", "same"]
    assert "average noise 5.0 %, greatest 10 % over 2 of 3 layers" in loss_sentences(loss)[0]
    ran_all_the_same = assemble_loss([layer("a")], [("a", point("int8", 30))], facts)
    assert not ran_all_the_same.layers[0].points[0].reason, "another node has the same weight, or other data took it"
    made = assemble_loss([layer("b")], [("b", point("int8", None, ALREADY_INT8))], facts)
    assert column.text(loss_rows(made)[0]) == "already int8"
