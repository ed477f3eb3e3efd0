"""The sentence whether optimizing will help, in every case that makes it another."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.insight.stock import disturbed, make_performance, untold
from tuibench.core.cell import Estimate
from tuibench.core.profile import INT8, PerformanceProfile, WhatIf
from tuibench.insight.sentence import cautions, help_sentence, sum_words, zeros_sentence


def with_ratio(ratio: Estimate, second: Estimate | None = None) -> PerformanceProfile:
    """The stock profile with what was measured of each convolution in INT8, and of the second one something else."""
    profile = make_performance()
    layers = list(profile.layers)
    for place in (place for place, layer in enumerate(layers) if layer.op == "Conv"):
        known = second if second is not None and place == 2 else ratio
        layers[place] = replace(layers[place], what_if=(WhatIf(INT8, known),))
    return replace(profile, layers=tuple(layers))


def test_where_time_goes_what_int8_brings_and_what_nothing_can_be_done_about() -> None:
    assert help_sentence(make_performance()) == (
        "79 % of the time is Conv; INT8 measured 2.1× on 4 of its 5 layers (the model 1.6×);"
        " 9.9 % in MaxPool, Transpose, LayerNormalization cannot be optimized"
    )


def test_without_a_measurement_it_is_a_bound_and_says_so() -> None:
    assert "if it took none, the model would be 4.8× as fast (Amdahl bound, nothing measured)" in help_sentence(
        make_performance(what_if=False)
    )


def test_int8_that_is_slower_is_said_to_be() -> None:
    assert "; INT8 measured slower: 0.71×;" in help_sentence(with_ratio(Estimate(1.4, 1.3, 1.5, 5)))
    assert "; INT8 measured slower: 0.71×;" in help_sentence(with_ratio(Estimate(1.4))), "where it has no interval"
    some = with_ratio(Estimate(1.4, 1.3, 1.5, 5), Estimate(0.5, 0.49, 0.51, 5))
    assert "; INT8 measured slower: 0.87× (the model 1.1× by those that are faster);" in help_sentence(some)


@pytest.mark.parametrize(
    ("ratio", "said"),
    [
        (Estimate(0.954, 0.951, 0.957, 5), "1.05× (the model 1.04×)"),
        (Estimate(0.97, 0.969, 0.971, 5), "1.03× (the model 1.02×)"),
        (Estimate(0.997, 0.996, 0.998, 5), "1.003× (the model 1.002×)"),
        (Estimate(1.002, 1.001, 1.003, 5), "slower: 0.998×"),
        (Estimate(1.04, 1.03, 1.05, 5), "slower: 0.96×"),
    ],
)
def test_a_small_gain_or_loss_that_is_clear_is_told_with_the_digits_that_it_takes(ratio: Estimate, said: str) -> None:
    assert f"; INT8 measured {said};" in help_sentence(with_ratio(ratio))


@pytest.mark.parametrize(
    ("ratio", "said"),
    [
        (Estimate(0.99, 0.97, 1.02, 5), "1.01× (0.99× to 1.02×)"),
        (Estimate(1.01, 0.985, 1.03, 5), "0.99× (0.98× to 1.003×)"),
        (Estimate(1.0001, 1.00005, 1.0002, 5), "1.000× (1.000× to 1.000×)"),
        (Estimate(0.97), "1.03× (no interval)"),
        (Estimate(1.0), "1.000× (no interval)"),
    ],
)
def test_int8_that_brings_nothing_is_no_gain_and_no_loss(ratio: Estimate, said: str) -> None:
    assert f"; INT8 measured {said}: no clear difference;" in help_sentence(with_ratio(ratio))


@pytest.mark.parametrize(
    ("ratio", "said"),
    [
        (Estimate(0.9, 0.5, 1.3, 5), "1.1× (0.90× to 1.5×)"),
        (Estimate(1.1, 0.7, 1.5, 5), "0.91× (0.76× to 1.1×)"),
        (Estimate(1.0, 0.6, 1.4, 5), "1.000× (0.83× to 1.3×)"),
    ],
)
def test_int8_that_may_bring_nothing_is_too_disturbed_to_tell(ratio: Estimate, said: str) -> None:
    """The interval is that of all layers together, beside the words that speak of it."""
    assert f"; INT8 measured {said}: too disturbed to tell;" in help_sentence(with_ratio(ratio))


def test_a_clear_gain_of_one_layer_is_not_lost_in_the_doubt_about_all() -> None:
    unsure = help_sentence(with_ratio(Estimate(1.35, 1.05, 1.9, 5), Estimate(0.5, 0.49, 0.51, 5)))
    assert (
        "; INT8 measured 0.90× (0.74× to 1.02×): too disturbed to tell (the model 1.1× by those that are faster);"
        in unsure
    )
    gain = help_sentence(with_ratio(Estimate(1.1, 1.09, 1.11, 5), Estimate(0.5, 0.49, 0.51, 5)))
    assert "; INT8 measured 1.07× (the model 1.1× by those that are faster);" in gain


def test_errors_of_layers_that_were_measured_alone_do_not_all_add_up() -> None:
    # Each interval holds 1, and all of them at their ends would.
    assert "; INT8 measured 2.0× (the model 1.7×);" in help_sentence(with_ratio(Estimate(0.5, 0.1, 1.05, 5)))


def test_of_layers_that_make_up_for_each_other_the_faster_ones_help_the_model() -> None:
    mixed = with_ratio(Estimate(1.19, 1.18, 1.2, 5), Estimate(0.5, 0.49, 0.51, 5))
    said = "1.002× (0.997× to 1.01×): no clear difference (the model 1.1× by those that are faster)"
    assert f"; INT8 measured {said};" in help_sentence(mixed)


def test_a_model_of_integers_and_one_of_transposes() -> None:
    profile = make_performance(what_if=False)
    integer = replace(profile, layers=tuple(replace(layer, integer=True) for layer in profile.layers))
    assert "its products are of integers already" in help_sentence(integer)
    shuffle = replace(profile, layers=tuple(layer for layer in profile.layers if layer.op == "Transpose"))
    assert help_sentence(shuffle) == (
        "100 % of the time is Transpose; no matrix operator: smaller number formats and zeros do not help there"
    )


def test_what_nobody_knows_the_products_of_is_not_said_to_be_beyond_help() -> None:
    profile = make_performance()
    longer = tuple(
        replace(layer, ms=Estimate(1.0)) if layer.op == "com.example.Rank" else layer for layer in profile.layers
    )
    assert "com.example" not in help_sentence(replace(profile, layers=longer))


def test_below_the_resolution_there_is_no_share_of_anything() -> None:
    short = replace(make_performance(), below_resolution=True, ms=Estimate(0.0046))
    assert help_sentence(short).startswith("one batch takes 4.60 µs, which is too short for times per layer")
    many = help_sentence(replace(short, ms=Estimate(90.0)))
    assert many.startswith("one batch takes 90.0 ms in 12 layers, which are too small for times of their own: the")
    assert "%" not in help_sentence(short)
    assert cautions(short) == (), "no factor of times that are not shown"


NO_BOUND = "; 7.8 % was not told apart: it may be any layer's, so there is no bound"


def test_what_is_in_no_layer_is_never_the_answer_and_said_where_it_is_much() -> None:
    profile = make_performance(what_if=False)
    said = help_sentence(untold(profile, 0.4))
    assert said.startswith("73 % of the time is Conv") and said.endswith(NO_BOUND)
    assert help_sentence(untold(profile)) == "8.4 % of the time is Conv"
    alone = tuple(layer for layer in untold(profile).layers if layer.kind == "residual")
    assert help_sentence(replace(profile, layers=alone)) == "No layer takes any time that could be measured"


def test_nothing_measured_is_said() -> None:
    assert help_sentence(replace(make_performance(), layers=())) == "No layer takes any time that could be measured"


def test_a_disturbed_machine_one_process_and_scaling_are_said() -> None:
    said = cautions(disturbed(replace(make_performance(), processes=1)))
    assert said[0].startswith("grade D: waited 31 % of the time for a CPU")
    assert said[1].startswith("measured in one process")
    assert said[2].startswith("layer times × 1.012")
    assert cautions(replace(make_performance(), scale=1.0)) == cautions(replace(make_performance(), scale=1.0004)) == ()


def test_zeros() -> None:
    assert zeros_sentence(make_performance()).startswith("Zeros gain nothing")
    assert "not measured" in zeros_sentence(replace(make_performance(), zero_effect=None))


def test_the_sum_before_scaling_is_told_with_its_share_of_the_whole() -> None:
    profile = make_performance()
    value = profile.ms.value or 0.0
    assert (
        sum_words(replace(profile, sum_ms=0.9 * value))
        == "4.28 ms in sum before scaling, 90.0 % of the unprofiled time"
    )
    assert sum_words(replace(profile, below_resolution=True)) == ""
    assert sum_words(replace(profile, sum_ms=None)) == ""


def test_two_processes_are_too_few_for_an_interval_which_is_said() -> None:
    said = [cautions(replace(make_performance(), processes=n)) for n in (1, 2, 3)]
    assert [any("interval" in line for line in lines) for lines in said] == [True, True, False]
    assert any("measured in 2 processes: no time has an interval" in line for line in said[1])
