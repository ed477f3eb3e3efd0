"""Bounds and measured gains: only measured gains are promised."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from tests.present.profile.sample_data import make_performance
from tuibench.core.cell import Estimate
from tuibench.core.profile import INT8, RESIDUAL, RUNTIME, UNMAPPED, LayerTime, PerformanceProfile, WhatIf
from tuibench.core.profile_facts import total_ms, untold_words, work_of
from tuibench.core.reason import Reason, legacy_text
from tuibench.present.profile.estimate import BOUND, MEASURED_INT8, amdahl, layer_gains, model_estimates, operator_gains


def with_layers(*layers: LayerTime) -> PerformanceProfile:
    total = math.fsum(layer.ms.value or 0.0 for layer in layers)
    return replace(make_performance(), layers=layers, ms=Estimate(total, total, total, 3))


def layer(
    key: str, ms: float | None, ratio: Estimate | None = None, macs: int | None = 1000, op: str = "Conv"
) -> LayerTime:
    forms = (WhatIf(INT8, ratio),) if ratio is not None else ()
    return LayerTime(key, "layer", op, (key,), (key,), op, "w", Estimate(ms), macs, what_if=forms)


def test_bound_is_the_time_left_if_the_part_took_none() -> None:
    gains = layer_gains(with_layers(layer("a", 3.0), layer("b", 1.0)))
    assert gains["a"].share == 0.75 and gains["a"].bound == 4.0
    assert gains["b"].bound == pytest.approx(4 / 3)
    assert gains["a"].method == BOUND and gains["a"].int8_ms is None
    assert amdahl(1.0) is None


def test_measured_ratio_is_applied_to_the_time_in_the_model() -> None:
    profile = with_layers(layer("a", 3.0, Estimate(0.5, 0.4, 0.6, 5)), layer("b", 1.0))
    gains = operator_gains(profile)
    assert list(gains) == ["Conv"]
    gain = gains["Conv"]
    assert gain.method == MEASURED_INT8 and (gain.measured, gain.layers) == (1, 2)
    assert gain.int8_ms == pytest.approx(2.5) and gain.saved_ms == pytest.approx(1.5)
    assert gain.int8_speedup == pytest.approx(2.0), "of the layer that was measured, not diluted by the other"
    assert gain.speedup == pytest.approx(4 / 2.5)


def test_layer_slower_in_int8_keeps_its_time_in_every_estimate() -> None:
    profile = with_layers(layer("a", 3.0, Estimate(2.0, 1.9, 2.1, 5)), layer("b", 1.0, Estimate(0.5, 0.5, 0.5, 5)))
    int8 = model_estimates(profile)[0]
    assert int8.ms.value == pytest.approx(3.5)
    gain = layer_gains(profile)["a"]
    assert gain.int8_ms == pytest.approx(6.0) and gain.saved_ms == 0.0 and gain.speedup == 1.0


def test_both_estimates_name_their_method_and_unmeasured_parts() -> None:
    int8, bound = model_estimates(make_performance())
    assert (int8.method, bound.method) == (MEASURED_INT8, BOUND)
    # 1.31, 1.05, 1.04, 0.13 and 0.31 ms at their ratios, of 4.76 ms.
    saved = 1.31 * 0.48 + 1.05 * 0.55 + 1.04 * 0.54 + 0.13 * 0.4 + 0.31 * 0.5
    assert int8.ms.value == pytest.approx(4.76 - saved)
    assert int8.speedup.value == pytest.approx(4.76 / (4.76 - saved))
    assert int8.ms.low is not None and int8.ms.high is not None
    assert int8.ms.low < (int8.ms.value or 0.0) < int8.ms.high
    assert "81 % of the time, the other 19 % as it is" in int8.words
    assert bound.ms.half_width is None and bound.ms.reason == Reason("bound")
    # Layers of unknown operators may multiply too, so the bound includes them.
    assert bound.ms.value == pytest.approx(4.76 - 3.77 - 0.31 - 0.04 - 0.02) and "1 unknown layer" in bound.words
    assert "with what turns its inputs and outputs into integers" in int8.words


def test_profile_without_measurements_has_only_a_bound() -> None:
    assert [each.method for each in model_estimates(make_performance(what_if=False))] == [BOUND]


def test_large_unattributed_time_gives_no_bound_for_layers() -> None:
    """The missing time may belong to these layers, so they could save more than their own time."""
    rest = replace(layer("rest", 0.4, macs=0, op="residual"), kind=RESIDUAL)
    for left in (rest, replace(rest, kind=RUNTIME, op=UNMAPPED)):
        profile = with_layers(layer("a", 3.0, Estimate(0.5, 0.4, 0.6, 5)), layer("b", 1.0, op="MatMul"), left)
        assert [each.method for each in model_estimates(profile)] == [MEASURED_INT8]
        gains = layer_gains(profile)
        assert all(gain.bound is None for gain in gains.values())
        assert gains["a"].potential_ms == pytest.approx(1.5) and gains["b"].potential_ms is None
        assert "9.1 % of the time is in no layer" in untold_words(profile)
    little = with_layers(layer("a", 3.0), replace(rest, ms=Estimate(0.02)))
    assert [each.method for each in model_estimates(little)] == [BOUND] and not untold_words(little)
    assert layer_gains(little)["rest"].potential_ms is None, "what is left over can be made no faster"


def test_ratio_without_an_interval_gives_an_estimate_without_one() -> None:
    int8 = model_estimates(with_layers(layer("a", 3.0, Estimate(0.5)), layer("b", 1.0)))[0]
    assert int8.ms.value == pytest.approx(2.5) and int8.ms.half_width is None and int8.ms.reason


def test_time_without_an_interval_gives_an_estimate_without_one() -> None:
    profile = with_layers(layer("a", 3.0, Estimate(0.5, 0.4, 0.6, 5)), layer("b", 1.0))
    int8 = model_estimates(replace(profile, ms=Estimate(4.0, reason=legacy_text("2 of at least 3"))))[0]
    assert int8.ms == Estimate(2.5, n=5, reason=Reason("time_without_interval"))
    assert int8.speedup.low == pytest.approx(4 / 2.8) and int8.speedup.high == pytest.approx(4 / 2.2)


def test_nothing_below_the_resolution_is_estimated() -> None:
    assert model_estimates(replace(make_performance(), below_resolution=True)) == ()


@pytest.mark.parametrize("value", [math.nan, math.inf, -1.0, None])
def test_invalid_times_count_for_nothing(value: float | None) -> None:
    profile = with_layers(layer("a", 2.0), layer("b", value))
    assert total_ms(profile) == 2.0
    assert layer_gains(profile)["a"].share == 1.0 and layer_gains(profile)["a"].bound is None


def test_model_without_any_time_causes_no_division_by_zero() -> None:
    profile = with_layers(layer("a", 0.0, Estimate(0.5)))
    assert layer_gains(profile)["a"].share == 0.0 and model_estimates(profile) == ()


def test_work_ratio_leaves_out_rows_without_a_roof() -> None:
    profile = with_layers(replace(layer("a", 2.0), roof_ms=1.0), layer("b", 2.0, macs=None))
    work = work_of(profile)
    assert work.roof_share == 0.5 and work.flops == 2000 and work.unknown == 1
    assert work.gflops == pytest.approx(2000 / 4.0 / 1e6)
