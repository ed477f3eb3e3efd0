"""Comparison of outputs, on numbers that can be worked out by hand."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from tuibench.core.reason import Reason, because
from tuibench.model.loss import similarity
from tuibench.model.loss.similarity import ONLY_ZEROS, Similarity, floats

NONE: frozenset[str] = frozenset()


def f32(*values: Any) -> Any:
    return np.array(values, np.float32)


def test_noise_is_in_decibels_and_the_angle_is_its_cosine() -> None:
    found = Similarity(NONE)
    found.add({"y": f32(3, 4)}, {"y": f32(3, 3.5)})
    point = found.point("int8")
    assert point.level == "int8" and point.samples == 1 and not point.reason
    assert point.sqnr_db == pytest.approx(20)
    assert point.cosine == pytest.approx((9 + 14) / (5 * math.hypot(3, 3.5)))
    assert point.kl is None and point.top1 is None


def test_equal_outputs_have_no_noise() -> None:
    found = Similarity(frozenset({"y"}))
    found.add({"y": f32([1, 2])}, {"y": f32([1, 2])})
    point = found.point("")
    assert point.sqnr_db is None and point.cosine == pytest.approx(1) and point.kl == 0 and point.top1 == 1


def test_samples_are_summed_and_outputs_count_equally() -> None:
    found = Similarity(NONE)
    found.add({"a": f32(1000), "b": f32(1)}, {"a": f32(1000), "b": f32(1.5)})
    found.add({"a": f32(1000), "b": f32(1)}, {"a": f32(1000), "b": f32(1)})
    # An eighth of b is noise, nothing of a: half of that together.
    assert found.point("").sqnr_db == pytest.approx(10 * math.log10(16))
    assert found.point("").samples == 2


def test_classes_are_compared_by_divergence_and_top_choice() -> None:
    found = Similarity(frozenset({"y"}))
    found.add({"y": f32([0, 0], [0, math.log(3)])}, {"y": f32([0, 0], [math.log(3), 0])})
    point = found.point("")
    assert point.kl == pytest.approx((0.75 - 0.25) * math.log(3) / 2)
    assert point.top1 == 0.5


def test_probabilities_are_not_treated_as_logits() -> None:
    found = Similarity(frozenset({"y"}), frozenset({"y"}))
    found.add({"y": f32([0.5, 0.5, 0])}, {"y": f32([0.25, 0.75, 0])})
    assert found.point("").kl == pytest.approx(0.5 * math.log(2) + 0.5 * math.log(2 / 3))


def test_trailing_axes_of_one_are_no_classes() -> None:
    found = Similarity(frozenset({"y"}))
    found.add({"y": f32([1, 2, 3]).reshape(1, 3, 1, 1)}, {"y": f32([3, 2, 1]).reshape(1, 3, 1, 1)})
    assert found.point("").top1 == 0


def test_large_outputs_are_compared_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    left, right = rng.random((50, 7), np.float32), rng.random((50, 7), np.float32)

    def measure() -> Any:
        found = Similarity(frozenset({"y"}))
        found.add({"y": left}, {"y": right})
        return found.point("")

    whole = measure()
    monkeypatch.setattr(similarity, "_PIECE", 16)
    assert measure().sqnr_db == pytest.approx(whole.sqnr_db) and measure().kl == pytest.approx(whole.kl)
    assert measure().top1 == whole.top1


WOKEN = because("output_was_zeros", name="y")


@pytest.mark.parametrize(
    ("unchanged", "changed", "reason", "harm"),
    [
        (f32(1, 2), f32(1, math.nan), because("output_not_finite", name="y"), True),
        (f32(1, 2), f32(1, math.inf), because("output_not_finite", name="y"), True),
        (f32(math.nan), f32(1), because("unchanged_not_finite", name="y"), False),
        (f32(0, 0), f32(0, 0), ONLY_ZEROS, False),
        (f32(0, 0), f32(0, 1e-9), WOKEN, True),
        (f32(1, 2), f32(1, 2, 3), because("output_reshaped", name="y"), True),
        (np.array([1e200]), np.array([2e200]), Reason("outputs_too_large"), False),
        (np.array([1e100]), np.array([2e200]), Reason("outputs_too_large"), True),
    ],
)
def test_incomparable_outputs_have_a_reason_and_harm_if_changed(
    unchanged: Any, changed: Any, reason: Reason, harm: bool
) -> None:
    found = Similarity(frozenset({"y"}))
    found.add({"y": unchanged}, {"y": changed})
    point = found.point("int8")
    assert point.reason == reason and point.sqnr_db is None and point.cosine is None and point.kl is None
    assert point.harm is harm


def test_output_of_zeros_that_becomes_nonzero_is_harm() -> None:
    found = Similarity(NONE)
    found.add({"dead": f32(0, 0), "y": f32(3, 4)}, {"dead": f32(0, 1), "y": f32(3, 4)})
    point = found.point("int8")
    assert point.harm and point.reason == because("output_was_zeros", name="dead") and point.sqnr_db is None
    asleep = Similarity(NONE)
    asleep.add({"dead": f32(0, 0), "y": f32(3, 4)}, {"dead": f32(0, 0), "y": f32(3, 3.5)})
    assert asleep.point("int8").sqnr_db == pytest.approx(20) and not asleep.point("int8").harm


def test_reason_from_the_change_precedes_one_without_it() -> None:
    found = Similarity(NONE)
    found.add({"a": f32(math.nan), "y": f32(1)}, {"a": f32(1), "y": f32(math.nan)})
    assert found.point("").harm and found.point("").reason == because("output_not_finite", name="y")


def test_infinite_values_of_the_unchanged_model_are_skipped(monkeypatch: pytest.MonkeyPatch) -> None:
    # A mask: the first two pieces have nothing else.
    monkeypatch.setattr(similarity, "_PIECE", 2)
    found = Similarity(NONE)
    found.add({"y": f32(*[-math.inf] * 4, 3, 4)}, {"y": f32(*[-math.inf] * 3, 7, 3, 3.5)})
    assert found.point("").sqnr_db == pytest.approx(20)


def test_only_whole_float_tensors_are_compared() -> None:
    outputs = {
        "f": f32(1),
        "h": np.ones(1, np.float16),
        "i": np.array([1]),
        "s": np.array(["a"]),
        "o": np.array(["a"], object),
        "l": [f32(1)],
        "m": {1: 2.0},
        "e": np.empty(0, np.float32),
        "n": None,
    }
    assert set(floats(outputs)) == {"f", "h"}
