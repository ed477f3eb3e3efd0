"""The sentence about optimization gains, in each of its cases."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.present.profile.sample_data import disturbed, make_performance, untold
from tuibench.core.cell import Estimate
from tuibench.core.profile import INT8, PerformanceProfile, WhatIf
from tuibench.present.profile.machine import zeros_sentence
from tuibench.present.profile.summary import cautions, help_sentence, sum_words


def with_ratio(ratio: Estimate, second: Estimate | None = None) -> PerformanceProfile:
    """Return the stock profile with an INT8 ratio for each convolution and another one for the second."""
    profile = make_performance()
    layers = list(profile.layers)
    for place in (place for place, layer in enumerate(layers) if layer.op == "Conv"):
        known = second if second is not None and place == 2 else ratio
        layers[place] = replace(layers[place], what_if=(WhatIf(INT8, known),))
    return replace(profile, layers=tuple(layers))


def test_sentence_names_time_int8_gain_and_the_unimprovable_rest() -> None:
    assert help_sentence(make_performance()) == (
        "79 % of the time is Conv; INT8 measured 2.1× on 4 of its 5 layers (the model 1.6×);"
        " 9.9 % in MaxPool, Transpose, LayerNormalization cannot be optimized"
    )


def test_estimate_without_a_measurement_is_marked_as_a_bound() -> None:
    assert "without it the model would be 4.8× as fast (Amdahl bound, not measured)" in help_sentence(
        make_performance(what_if=False)
    )


def test_slower_int8_is_reported() -> None:
    assert "; INT8 measured slower: 0.71×;" in help_sentence(with_ratio(Estimate(1.4, 1.3, 1.5, 5)))
    assert "; INT8 measured slower: 0.71×;" in help_sentence(with_ratio(Estimate(1.4))), "where it has no interval"
    some = with_ratio(Estimate(1.4, 1.3, 1.5, 5), Estimate(0.5, 0.49, 0.51, 5))
    assert "; INT8 measured slower: 0.87× (the model 1.1× with the faster layers only);" in help_sentence(some)


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
def test_small_clear_change_is_shown_with_enough_digits(ratio: Estimate, said: str) -> None:
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
def test_int8_without_effect_is_no_gain_and_no_loss(ratio: Estimate, said: str) -> None:
    assert f"; INT8 measured {said}: no clear difference;" in help_sentence(with_ratio(ratio))


@pytest.mark.parametrize(
    ("ratio", "said"),
    [
        (Estimate(0.9, 0.5, 1.3, 5), "1.1× (0.90× to 1.5×)"),
        (Estimate(1.1, 0.7, 1.5, 5), "0.91× (0.76× to 1.1×)"),
        (Estimate(1.0, 0.6, 1.4, 5), "1.000× (0.83× to 1.3×)"),
    ],
)
def test_int8_interval_around_zero_is_too_disturbed_to_judge(ratio: Estimate, said: str) -> None:
    """The interval is that of all layers together, beside the sentence about them."""
    assert f"; INT8 measured {said}: too disturbed to decide;" in help_sentence(with_ratio(ratio))


def test_clear_gain_of_one_layer_survives_an_unclear_total() -> None:
    unsure = help_sentence(with_ratio(Estimate(1.35, 1.05, 1.9, 5), Estimate(0.5, 0.49, 0.51, 5)))
    assert (
        "; INT8 measured 0.90× (0.74× to 1.02×): too disturbed to decide (the model 1.1× with the faster layers only);"
        in unsure
    )
    gain = help_sentence(with_ratio(Estimate(1.1, 1.09, 1.11, 5), Estimate(0.5, 0.49, 0.51, 5)))
    assert "; INT8 measured 1.07× (the model 1.1× with the faster layers only);" in gain


def test_errors_of_separately_measured_layers_do_not_all_add_up() -> None:
    # Each interval contains 1; the total would contain it too if all errors added up.
    assert "; INT8 measured 2.0× (the model 1.7×);" in help_sentence(with_ratio(Estimate(0.5, 0.1, 1.05, 5)))


def test_faster_layers_help_when_others_offset_them() -> None:
    mixed = with_ratio(Estimate(1.19, 1.18, 1.2, 5), Estimate(0.5, 0.49, 0.51, 5))
    said = "1.002× (0.997× to 1.01×): no clear difference (the model 1.1× with the faster layers only)"
    assert f"; INT8 measured {said};" in help_sentence(mixed)


def test_integer_models_and_transpose_models_have_their_sentences() -> None:
    profile = make_performance(what_if=False)
    integer = replace(profile, layers=tuple(replace(layer, integer=True) for layer in profile.layers))
    assert "its products are of integers already" in help_sentence(integer)
    shuffle = replace(profile, layers=tuple(layer for layer in profile.layers if layer.op == "Transpose"))
    assert help_sentence(shuffle) == (
        "100 % of the time is Transpose; no matrix operator: smaller number formats and zeros do not help there"
    )


def test_layers_of_unknown_products_are_not_called_unimprovable() -> None:
    profile = make_performance()
    longer = tuple(
        replace(layer, ms=Estimate(1.0)) if layer.op == "com.example.Rank" else layer for layer in profile.layers
    )
    assert "com.example" not in help_sentence(replace(profile, layers=longer))


def test_below_the_resolution_nothing_has_a_share() -> None:
    short = replace(make_performance(), below_resolution=True, ms=Estimate(0.0046))
    assert help_sentence(short).startswith("one batch takes 4.60 µs, which is too short for times per layer")
    many = help_sentence(replace(short, ms=Estimate(90.0)))
    assert many.startswith("one batch takes 90.0 ms in 12 layers, which are too small for times of their own: the")
    assert "%" not in help_sentence(short)
    assert cautions(short) == (), "no factor of times that are not shown"


NO_BOUND = "; 7.8 % of the time is in no layer, so there is no bound"


def test_large_unattributed_time_is_reported_and_never_the_answer() -> None:
    profile = make_performance(what_if=False)
    said = help_sentence(untold(profile, 0.4))
    assert said.startswith("73 % of the time is Conv") and said.endswith(NO_BOUND)
    assert help_sentence(untold(profile)) == "8.4 % of the time is Conv"
    alone = tuple(layer for layer in untold(profile).layers if layer.kind == "residual")
    assert help_sentence(replace(profile, layers=alone)) == "No layer takes any time that could be measured"


def test_profile_without_measurements_says_so() -> None:
    assert help_sentence(replace(make_performance(), layers=())) == "No layer takes any time that could be measured"


def test_disturbance_single_process_and_scaling_are_reported() -> None:
    said = cautions(disturbed(replace(make_performance(), processes=1)))
    assert said[0].startswith("grade D: waited 31 % of the time for a CPU")
    assert said[1].startswith("measured in one process")
    assert said[2].startswith("layer times × 1.012")
    assert cautions(replace(make_performance(), scale=1.0)) == cautions(replace(make_performance(), scale=1.0004)) == ()


def test_zero_times_raise_nothing() -> None:
    assert zeros_sentence(make_performance()).startswith("Zeros gain nothing")
    assert "not measured" in zeros_sentence(replace(make_performance(), zero_effect=None))


def test_sum_before_scaling_is_shown_with_its_share() -> None:
    profile = make_performance()
    value = profile.ms.value or 0.0
    assert (
        sum_words(replace(profile, sum_ms=0.9 * value))
        == "4.28 ms in sum before scaling, 90.0 % of the unprofiled time"
    )
    assert sum_words(replace(profile, below_resolution=True)) == ""
    assert sum_words(replace(profile, sum_ms=None)) == ""


def test_two_processes_report_no_interval_with_a_reason() -> None:
    said = [cautions(replace(make_performance(), processes=n)) for n in (1, 2, 3)]
    assert [any("interval" in line for line in lines) for lines in said] == [True, True, False]
    assert any("measured in 2 processes: no time has an interval" in line for line in said[1])
