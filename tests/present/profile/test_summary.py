"""Bars per operator: amounts, order, and the reasons for missing bars."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from tests.present.profile.sample_data import NO_GAIN, make_costs, make_loss, make_performance, untold
from tuibench.core.cell import Estimate
from tuibench.core.profile import LEVELS
from tuibench.core.reason import legacy_text
from tuibench.present.profile.loss import default_level, loss_types, summarize_loss
from tuibench.present.profile.summary import (
    BASELINE,
    BYTES,
    COST_TYPES,
    DISPLAYS,
    FLOPS,
    INT8_TIME,
    LOG,
    PARAMETERS,
    POTENTIAL,
    POTENTIAL_SHARE,
    PRUNED,
    SHARES,
    SUMMARY_TYPES,
    VALUES,
    Amount,
    Bar,
    Summary,
    make_bars,
    summarize,
    summarize_costs,
)
from tuibench.present.reason import reason_words


def amounts(shown: Summary) -> dict[str, float | None]:
    return {bar.label: bar.amount for bar in shown.bars}


def bar_of(shown: Summary, label: str) -> Bar:
    return next(bar for bar in shown.bars if bar.label == label)


def test_baseline_bars_add_up_to_the_model_time_heaviest_first() -> None:
    profile = make_performance()
    shown = summarize(profile)
    assert math.fsum(bar.amount or 0.0 for bar in shown.bars) == pytest.approx(profile.ms.value)
    assert [bar.label for bar in shown.bars[:3]] == ["Conv", "MatMul", "MaxPool"]
    assert bar_of(shown, "layout (runtime)").layers == 2 and bar_of(shown, "residual").text == "20.0 µs"
    assert "Shape" not in amounts(shown), "what runs beforehand takes no time"


def test_layers_beyond_the_whole_are_reported() -> None:
    profile = make_performance()
    assert not any("add up" in words for words in summarize(profile, POTENTIAL).words)
    less = replace(profile, ms=Estimate((profile.ms.value or 0) / 1.25))
    told = [words for words in summarize(less).words if words.startswith("the layers add up to")]
    assert told == ["the layers add up to 125 % of a batch's time: shares are of their sum"]


@pytest.mark.parametrize("kind", [BASELINE, POTENTIAL, POTENTIAL_SHARE, INT8_TIME, PRUNED])
def test_layers_beyond_the_whole_have_shares_of_the_shown_sum(kind: str) -> None:
    """Bars with times other than those of the layers use the sum of the bars."""
    profile = make_performance()
    gains = replace(NO_GAIN, exploits=True, ratio=Estimate(0.5, 0.49, 0.51, 5))
    less = replace(profile, ms=Estimate((profile.ms.value or 0) / 1.25), zero_effect=gains)
    shown = summarize(less, kind, SHARES)
    told = next(words for words in shown.words if words.startswith("the layers add up to 125 %"))
    shares = math.fsum(float(bar.text.removeprefix("≤ ").partition(" %")[0]) for bar in shown.bars)
    own = kind in (INT8_TIME, PRUNED)
    assert told.endswith("shares are of the sum of these bars" if own else "shares are of their sum")
    assert shares == pytest.approx(100, abs=2) or kind in (POTENTIAL, POTENTIAL_SHARE)


def test_missing_int8_data_has_a_reason() -> None:
    profile = make_performance(what_if=False)
    integer = replace(profile, layers=tuple(replace(layer, integer=True) for layer in profile.layers))
    others = replace(profile, layers=tuple(replace(layer, macs=0) for layer in profile.layers))
    said = [summarize(one, INT8_TIME).words for one in (profile, integer, others)]
    assert said == [
        ("INT8 was not measured (--what-if int8)",),
        ("all products are of integers already: there is nothing to make INT8",),
        ("no layer multiplies matrices: INT8 would change none",),
    ]


def test_shares_add_up_to_the_whole() -> None:
    texts = [bar.text for bar in summarize(make_performance(), BASELINE, SHARES).bars]
    assert sum(float(text.removesuffix(" %")) for text in texts) == pytest.approx(100, abs=2)


def test_potential_is_measured_where_possible_else_a_bound() -> None:
    shown = summarize(make_performance(), POTENTIAL)
    assert bar_of(shown, "MatMul").text == "0.155 ms (INT8, 1 of 1 layer)"
    assert bar_of(shown, "Conv").text.endswith("(INT8, 4 of 5 layers)")
    assert bar_of(shown, "Transpose").text == "≤ 0.200 ms (bound)"
    assert any("Amdahl bound" in words for words in shown.words) and any("measured INT8" in w for w in shown.words)


@pytest.mark.parametrize("kind", [POTENTIAL, POTENTIAL_SHARE])
def test_potential_leaves_out_the_rest_and_unknown_bounds(kind: str) -> None:
    profile = make_performance()
    assert "residual" not in amounts(summarize(profile, kind))
    much = untold(profile)
    shown = summarize(much, kind)
    assert "residual" not in amounts(shown) and "INT8" in bar_of(shown, "Conv").text
    assert bar_of(shown, "MaxPool").text == "unknown"
    assert "89 % of the time is in no layer, so there is no bound" in shown.words
    nothing = summarize(untold(make_performance(what_if=False)), kind)
    assert not nothing.bars and nothing.words == shown.words[1:]


def test_potential_shares_are_of_the_model_time() -> None:
    part = summarize(make_performance(), POTENTIAL_SHARE)
    assert amounts(part)["MatMul"] == pytest.approx(0.155 / 4.76)
    of_all = summarize(make_performance(), POTENTIAL, SHARES)
    assert bar_of(of_all, "MatMul").text.startswith("3.3 %") and bar_of(part, "MatMul").text.startswith("3.3 %")


def test_int8_bars_keep_unmeasured_parts_unchanged() -> None:
    shown = summarize(make_performance(), INT8_TIME)
    assert bar_of(shown, "MatMul").amount == pytest.approx(0.155)
    assert bar_of(shown, "MaxPool").text == "0.210 ms (as it is)"
    none = summarize(make_performance(what_if=False), INT8_TIME)
    assert none.bars == () and "--what-if int8" in none.words[0]


def test_engine_without_gain_from_zeros_shows_its_result_as_text() -> None:
    shown = summarize(make_performance(), PRUNED)
    assert shown.bars == () and shown.words == (reason_words(NO_GAIN.sentence),)
    unmeasured = summarize(replace(make_performance(), zero_effect=None), PRUNED)
    assert unmeasured.bars == () and "not measured" in unmeasured.words[0]


def test_engine_with_gain_from_zeros_shows_estimate_bars() -> None:
    effect = replace(NO_GAIN, ratio=Estimate(0.5, 0.48, 0.52, 5), exploits=True, sentence=legacy_text("it gains"))
    shown = summarize(replace(make_performance(), zero_effect=effect), PRUNED)
    assert amounts(shown)["MatMul"] == pytest.approx(0.155) and amounts(shown)["MaxPool"] == 0.21
    assert "estimate" in shown.words[0] and shown.words[1] == "it gains"


@pytest.mark.parametrize("kind", [BASELINE, POTENTIAL, POTENTIAL_SHARE, INT8_TIME, PRUNED])
def test_times_below_the_resolution_are_not_drawn(kind: str) -> None:
    shown = summarize(replace(make_performance(), below_resolution=True), kind)
    assert shown.bars == () and "too small" in shown.words[0]


def test_counts_are_of_the_models_nodes_and_unknown_is_shown() -> None:
    shown = summarize(make_performance(), FLOPS)
    assert "layout (runtime)" not in amounts(shown)
    assert bar_of(shown, "com.example.Rank").text == "unknown" and amounts(shown)["com.example.Rank"] is None
    assert amounts(shown)["MatMul"] == 2 * 51_380_224
    assert any("2 × MACs" in words for words in shown.words)
    assert amounts(summarize(make_performance(), PARAMETERS))["Gemm"] == 256_000
    assert bar_of(summarize(make_performance(), BYTES), "MaxPool").text == "4.01 MB"


def test_theory_is_named_and_counts_nothing_twice() -> None:
    costs = make_costs()
    assert all(summarize_costs(costs, kind).title.endswith("(theoretical)") for kind in COST_TYPES)
    looped = replace(costs, nodes=tuple(replace(node, times=3) for node in costs.nodes))
    for kind in (FLOPS, PARAMETERS):
        assert amounts(summarize_costs(looped, kind)) == amounts(summarize_costs(costs, kind)), "counted already"
    once, thrice = (amounts(summarize_costs(one, BYTES))["Gemm"] or 0 for one in (costs, looped))
    gemm = next(node for node in costs.nodes if node.op == "Gemm")
    assert thrice - once == 2 * gemm.weight_bytes > 0, "weights are read with every turn"
    endless = replace(costs, nodes=tuple(replace(node, times=None) for node in costs.nodes))
    assert bar_of(summarize_costs(endless), "Gemm").text == "≥ 513 k (1 counted once)"
    mixed = replace(costs, nodes=(*costs.nodes, replace(costs.nodes[0], id="more", macs=None)))
    assert bar_of(summarize_costs(mixed), "Conv").text.endswith("(1 unknown)")
    assert bar_of(summarize_costs(mixed), "Conv").text.startswith("≥ ")


def test_every_type_has_equally_ordered_bars_in_every_display() -> None:
    for kind in SUMMARY_TYPES:
        orders = {tuple(bar.label for bar in summarize(make_performance(), kind, display).bars) for display in DISPLAYS}
        assert len(orders) == 1, kind


def test_logarithmic_bars_give_the_smallest_a_decade_and_drop_none() -> None:
    bars = make_bars([Amount("a", 1000.0, 1), Amount("b", 1.0, 1), Amount("c", 0.0, 1)], LOG, str)
    assert [bar.length for bar in bars] == pytest.approx([4.0, 1.0, 0.0])
    assert [bar.text for bar in bars] == ["1000.0", "1.0", "0.0"], "lengths are logarithms, words are values"
    far = make_bars([Amount("a", 1.0, 1), Amount("b", 1e-9, 1)], LOG, str)
    assert far[1].length == 0.0


def test_loss_bars_are_means_over_the_layers_of_an_operator() -> None:
    loss = make_loss()
    assert loss_types(loss) == (*LEVELS, "params")
    shown = summarize_loss(loss, "pruned 0.5", VALUES)
    assert bar_of(shown, "MatMul").amount == pytest.approx(10 ** (-35 / 20))
    convs = [10 ** (-db / 20) for db in (50, 47, 44, 41, 38)]
    assert bar_of(shown, "Conv").amount == pytest.approx(math.fsum(convs) / 5)
    assert "outputs" in shown.words[0] and "proxy" not in shown.words[0]
    assert "proxy" in summarize_loss(make_loss(measured=False), "int8").words[0]
    assert bar_of(summarize_loss(loss, "params"), "Gemm").amount == 256_000
    assert bar_of(summarize_loss(loss, "never measured"), "Gemm").text == "unknown"


def test_noise_shares_are_of_noise_power() -> None:
    shown = summarize_loss(make_loss(), "pruned 0.5", SHARES)
    powers = {"MatMul": 10**-3.5, "Conv": math.fsum(10 ** (-db / 10) for db in (50, 47, 44, 41, 38)), "Gemm": 1e-5}
    assert {bar.label for bar in shown.bars} == set(powers)
    for bar in shown.bars:
        assert bar.amount == pytest.approx(powers[bar.label])
    assert math.fsum(float(bar.text.removesuffix(" %")) for bar in shown.bars) == pytest.approx(100, abs=1)
    assert "power" in shown.words[0] and "power" not in summarize_loss(make_loss(), "pruned 0.5", VALUES).words[0]


def test_operator_with_harmful_layers_comes_first_and_is_marked() -> None:
    loss = make_loss()
    gemm = loss.layers[-1]
    points = tuple(replace(point, sqnr_db=None, reason=legacy_text("nan"), harm=True) for point in gemm.points)
    shown = summarize_loss(replace(loss, layers=(*loss.layers[:-1], replace(gemm, points=points))), "int8")
    assert gemm.op == "Gemm" and shown.bars[0].label == "Gemm" and shown.bars[0].text == "harm with 1"
    assert all(bar.amount is None or bar.amount < 1 for bar in shown.bars)


def test_page_shows_int8_unless_it_is_unknown() -> None:
    loss = make_loss()
    held = tuple(
        replace(layer, points=tuple(point for point in layer.points if point.level != "int8")) for layer in loss.layers
    )
    assert default_level(loss) == "int8" and default_level(replace(loss, layers=held)) == LEVELS[0]
    assert default_level(replace(loss, layers=())) == "int8" and default_level(replace(loss, levels=())) == ""
