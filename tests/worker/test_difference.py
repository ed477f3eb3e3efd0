"""Difference of outputs: the documented formula, and infinity with a reason if comparison is impossible."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from tuibench.core.reason import Reason, because
from tuibench.worker.bundle import SUBSET_ELEMENTS, Subset, compare, differs, pick

F32 = np.float32


def value(reference: Any, actual: Any) -> float:
    return compare({"y": reference}, {"y": actual}).value


def test_difference_is_relative_to_the_range_or_largest_value() -> None:
    assert value(np.array([-1.0, 1.0]), np.array([-1.0, 1.5])) == pytest.approx(0.25)
    assert value(np.array([10.0, 11.0]), np.array([10.0, 12.1])) == pytest.approx(0.1)
    assert value(np.zeros(3), np.full(3, 1e-12)) == pytest.approx(1.0)
    assert value(np.zeros(3), np.zeros(3)) == 0


def test_only_finite_reference_values_count_and_others_must_match() -> None:
    reference = np.array([np.nan, np.inf, -np.inf, 2.0])
    assert value(reference, np.array([np.nan, np.inf, -np.inf, 1.0])) == pytest.approx(0.5)
    for place, other in ((0, 1.0), (1, -np.inf), (2, np.nan), (3, np.nan), (3, np.inf)):
        actual = reference.copy()
        actual[place] = other
        assert math.isinf(value(reference, actual)), (place, other)
    assert value(np.full(2, np.nan), np.full(2, np.nan)) == 0


@pytest.mark.parametrize(
    ("reference", "actual"),
    [
        (np.array([1, 2, 3, 4]), np.array([1, 2, 3, 9])),
        (np.array([True, True, False, True]), np.array([True, True, True, True])),
        (np.array(["a", "b", "c", "d"], dtype=object), np.array(["a", "b", "c", "longer"])),
    ],
)
def test_difference_of_non_floats_is_the_share_of_unequal_values(reference: Any, actual: Any) -> None:
    assert value(reference, actual) == 0.25
    assert value(reference, reference.copy()) == 0


def test_containers_are_compared_element_by_element() -> None:
    left = [{"a": 1.0, "b": 0.0}, {"a": 0.5, "b": 0.5}]
    assert value(left, [dict(m) for m in left]) == 0
    assert value(left, [{"a": 1.0, "b": 0.1}, {"a": 0.5, "b": 0.5}]) == pytest.approx(0.1)
    assert value([np.ones(2)], [np.array([1.0, 1.5])]) == pytest.approx(0.5)
    assert value({1: np.ones(2)}, {1: np.array([1.0, 1.25])}) == pytest.approx(0.25)


@pytest.mark.parametrize(
    ("reference", "actual", "why"),
    [
        (np.ones((2, 3)), np.ones((3, 2)), because("other_shape", shape=[3, 2], expected=[2, 3])),
        (np.ones(2, F32), np.ones(2), because("other_type", type="float64", expected="float32")),
        ([np.ones(2)], [np.ones(2)] * 2, because("other_count", items=2, expected=1)),
        ({"a": 1.0}, {"b": 1.0}, Reason("other_keys")),
        (None, np.ones(2), Reason("value_missing")),
        ([np.ones(2)], np.ones(2), Reason("sequence_missing")),
    ],
)
def test_incomparable_outputs_are_infinitely_different_with_a_reason(reference: Any, actual: Any, why: Reason) -> None:
    found = compare({"y": reference}, {"y": actual})
    assert math.isinf(found.value) and found.reason == because("output_not_comparable", name="y", why=why)


def test_outputs_must_have_the_same_names() -> None:
    assert compare({"y": np.ones(1)}, {}).reason == because("output_missing", name="y")
    assert compare({}, {"z": np.ones(1)}).reason == because("output_not_in_reference", name="z")


def test_worst_output_counts() -> None:
    found = compare({"a": np.ones(1), "b": np.ones(1)}, {"a": np.array([1.5]), "b": np.array([1.25])})
    assert found.value == pytest.approx(0.5)


def test_stored_subset_is_compared_with_the_same_elements() -> None:
    whole = np.arange(SUBSET_ELEMENTS * 2, dtype=F32).reshape(2, -1)
    subset = Subset(pick(whole), whole.shape)
    assert value(subset, whole) == 0
    assert value(subset, whole[:, ::-1]) > 0.1
    assert math.isinf(value(subset, whole.reshape(-1)))


def test_raw_bits_are_compared_as_floats_of_their_type() -> None:
    one, near = np.array([0x3F80, 0xBF80], np.uint16), np.array([0x3F81, 0xBF80], np.uint16)
    assert compare({"y": one}, {"y": near}, {"y": "bfloat16"}).value == pytest.approx(2**-7 / 2)
    assert compare({"y": one}, {"y": near}).value == 0.5, "without a type they are integers"
    half = np.array([0x3C], np.uint8)
    assert compare({"y": half}, {"y": half + np.uint8(4)}, {"y": "float8e5m2"}).value == pytest.approx(1.0)


def test_float16_does_not_overflow_while_comparing() -> None:
    assert value(np.array([-60000, 60000], np.float16), np.array([60000, 60000], np.float16)) == pytest.approx(1.0)


def test_tolerance_grows_with_the_difference_of_the_reference() -> None:
    assert not differs(1e-3, 1e-3, 0.0)
    assert differs(1.1e-3, 1e-3, 0.0)
    assert not differs(3.9e-3, 1e-3, 1e-3)
    assert differs(4.1e-3, 1e-3, 1e-3)
    assert differs(math.inf, 1e-3, 1.0) and differs(math.nan, 1e-3, 0.0)
