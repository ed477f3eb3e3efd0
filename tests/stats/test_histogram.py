from __future__ import annotations

import json
import math
import random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tuibench.stats.histogram import MOST_BINS, as_part, bins, edges, histogram, thin
from tuibench.stats.percentile import merged_percentile

SPAN = st.integers(min_value=1, max_value=10**11)


@given(SPAN, SPAN)
def test_bins_are_few_and_narrow_and_cover_what_they_can(a: int, b: int) -> None:
    low, high = min(a, b), max(a, b)
    low_ns, ratio, count = bins(low, high)
    assert low_ns == low
    assert 1 <= count <= MOST_BINS
    assert 1 < ratio <= 1.01 + 1e-12
    assert high < edges(low_ns, ratio, count)[-1] or count == MOST_BINS


def test_bins_of_a_steady_model_are_fine_but_never_below_the_clock() -> None:
    assert bins(1e6, 1.01e6)[2] == pytest.approx(65, abs=1)
    low_ns, ratio, count = bins(3000, 3004)
    assert low_ns * ratio - low_ns == pytest.approx(1)
    assert count == 4


@given(st.lists(SPAN, min_size=1, max_size=60))
def test_every_value_is_counted_once(values: list[int]) -> None:
    stored = histogram(values)
    assert stored["under"] + sum(stored["counts"]) + stored["over"] == len(values)
    assert stored["under"] == 0
    reach = edges(stored["low_ns"], stored["ratio"], len(stored["counts"]))[-1]
    assert stored["over"] == sum(value >= reach for value in values)


def test_values_below_a_given_start_are_counted_under_it() -> None:
    stored = histogram([1, 2, 100, 101], low=100, high=101)
    assert stored["under"] == 2
    assert sum(stored["counts"]) == 2


def test_a_counter_of_arrays_may_be_handed_in() -> None:
    def count(values: Any, low_ns: float, ratio: float, bin_count: int) -> list[int]:
        where = np.searchsorted(edges(low_ns, ratio, bin_count), values, side="right")
        return [int(c) for c in np.bincount(where, minlength=bin_count + 2)]

    rng = random.Random(3)
    values = [int(rng.lognormvariate(12, 0.8)) for _ in range(3000)]
    stored = histogram(np.array(values), counter=count)
    assert stored == histogram(values)
    assert stored["over"] > 0
    assert json.loads(json.dumps(stored)) == stored


def test_percentiles_of_a_histogram_are_within_a_bin() -> None:
    rng = random.Random(4)
    values = [int(rng.lognormvariate(14, 0.2)) for _ in range(5000)]
    part = as_part(histogram(values))
    for q in (25, 50, 90, 99):
        assert merged_percentile([part], q) == pytest.approx(float(np.percentile(values, q)), rel=0.01)


def test_what_lies_over_the_bins_is_not_made_up() -> None:
    part = as_part(histogram([100] * 90 + [10_000] * 10))
    assert merged_percentile([part], 50) == pytest.approx(100, rel=0.01)
    assert merged_percentile([part], 95) == math.inf


def test_thinning_keeps_every_extreme_in_its_place() -> None:
    values = [100.0] * 5000
    values[3210] = 9.0
    values[4999] = 7000.0
    points = thin(values, 64)
    assert len(points) == 64
    assert [i for i, p in enumerate(points) if p[0] == 9.0] == [3210 * 64 // 5000]
    assert points[-1] == (100.0, 100.0, 7000.0)


def test_a_short_series_is_kept_whole() -> None:
    assert thin([3, 1, 2]) == ((3.0, 3.0, 3.0), (1.0, 1.0, 1.0), (2.0, 2.0, 2.0))
    assert thin([]) == ()
    assert len(thin(range(1, 100_000))) == 512
