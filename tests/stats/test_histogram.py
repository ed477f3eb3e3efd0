from __future__ import annotations

import math
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tuibench.stats.percentile import MOST_BINS, as_part, bins, edges, merged_percentile
from tuibench.worker.recording import histogram

SPAN = st.integers(min_value=1, max_value=10**11)


@given(SPAN, SPAN)
def test_bins_are_few_and_narrow_and_cover_the_values(a: int, b: int) -> None:
    low, high = min(a, b), max(a, b)
    low_ns, ratio, count = bins(low, high)
    assert low_ns == low
    assert 1 <= count <= MOST_BINS
    assert 1 < ratio <= 1.01 + 1e-12
    assert high < edges(low_ns, ratio, count)[-1] or count == MOST_BINS


def test_bins_of_a_steady_model_are_fine_but_not_below_the_clock() -> None:
    assert bins(1e6, 1.01e6)[2] == pytest.approx(65, abs=1)
    low_ns, ratio, count = bins(3000, 3004)
    assert low_ns * ratio - low_ns == pytest.approx(1)
    assert count == 4


def test_percentiles_of_a_histogram_are_within_a_bin() -> None:
    rng = random.Random(4)
    values = [int(rng.lognormvariate(14, 0.2)) for _ in range(5000)]
    part = as_part(histogram(np.array(values), MOST_BINS))
    for q in (25, 50, 90, 99):
        assert merged_percentile([part], q) == pytest.approx(float(np.percentile(values, q)), rel=0.01)


def test_percentile_beyond_the_bins_is_infinite() -> None:
    part = as_part(histogram(np.array([100] * 90 + [10_000] * 10), 64))
    assert merged_percentile([part], 50) == pytest.approx(100, rel=0.01)
    assert merged_percentile([part], 95) == math.inf
