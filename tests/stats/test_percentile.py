from __future__ import annotations

import math
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tuibench.stats.percentile import (
    Part,
    effective_n,
    median,
    merged_percentile,
    needed_samples,
    percentile,
    rank_autocorrelation,
)

VALUES = st.lists(st.integers(min_value=1, max_value=10**6), min_size=1, max_size=40)
RANK = st.floats(min_value=0, max_value=100)


@given(VALUES, RANK)
def test_percentile_matches_numpy(values: list[int], q: float) -> None:
    assert percentile(sorted(values), q) == pytest.approx(float(np.percentile(values, q)), rel=1e-12)


def test_median_of_an_unsorted_even_count_is_the_mean_of_the_middle() -> None:
    assert median([9.0, 1.0, 4.0, 2.0]) == 3.0


@given(st.lists(st.tuples(VALUES, st.integers(1, 3)), min_size=1, max_size=4), RANK)
def test_merged_percentile_is_that_of_every_value_repeated(parts: list[tuple[list[int], int]], q: float) -> None:
    whole = [value for values, weight in parts for value in values for _ in range(weight)]
    merged = merged_percentile([Part(sorted(values), weight) for values, weight in parts], q)
    assert merged == pytest.approx(float(np.percentile(whole, q)), rel=1e-9)


def test_execution_that_kept_a_tenth_counts_ten_times() -> None:
    slow, fast = Part([200.0] * 10, 10.0), Part([100.0] * 10)
    assert merged_percentile([slow, fast], 50) == 200.0
    assert merged_percentile([slow, fast], 5) == 100.0


def test_bins_count_their_values() -> None:
    assert merged_percentile([Part([1.0, 2.0, 3.0], 1.0, [98, 99, 100])], 50) == 1.0
    assert merged_percentile([Part([1.0, 2.0, 3.0], 1.0, [98, 99, 100])], 100) == 3.0


def test_open_ended_bins_give_infinite_percentiles() -> None:
    part = Part([-math.inf, 5.0, 6.0, math.inf], 1.0, [1, 50, 99, 100])
    assert merged_percentile([part], 0) == -math.inf
    assert merged_percentile([part], 25) == 5.0
    assert merged_percentile([part], 75) == 6.0
    assert merged_percentile([part], 100) == math.inf


def test_percentile_of_no_values_is_an_error() -> None:
    with pytest.raises(ValueError, match="no values"):
        merged_percentile([Part([])], 50)


def test_needed_samples_match_known_values() -> None:
    assert [needed_samples(q) for q in (50, 90, 95, 99, 99.9)] == [1, 46, 93, 473, 4742]


def test_needed_samples_make_two_exceedances_95_percent_sure() -> None:
    for q in (90, 95, 99, 99.9):
        n, p = needed_samples(q), 1 - q / 100
        fewer_than_two = (1 - p) ** n + n * p * (1 - p) ** (n - 1)
        one_less = (1 - p) ** (n - 1) + (n - 1) * p * (1 - p) ** (n - 2)
        assert fewer_than_two <= 0.05 < one_less


def test_rank_autocorrelation_matches_a_known_process() -> None:
    rng = random.Random(1)
    x, series = 0.0, []
    for _ in range(20_000):
        x = 0.6 * x + rng.gauss(0, 1)
        series.append(math.exp(x))
    # A Gaussian series of correlation r has the rank correlation 6/pi asin(r/2).
    assert rank_autocorrelation(series) == pytest.approx(6 / math.pi * math.asin(0.3), abs=0.03)


def test_rank_autocorrelation_of_independent_or_short_series_is_zero() -> None:
    rng = random.Random(2)
    assert abs(rank_autocorrelation([rng.random() for _ in range(5000)])) < 0.05
    assert rank_autocorrelation([7.0] * 100) == 0.0
    assert rank_autocorrelation([1.0, 2.0]) == 0.0


def test_effective_n_never_exceeds_the_count() -> None:
    assert effective_n(1000, 0.5) == pytest.approx(1000 / 3)
    assert effective_n(1000, -0.5) == 1000
    assert 0 < effective_n(1000, 1.0) < 1
