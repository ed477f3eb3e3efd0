"""Reduction of many calls for storage: nothing lost, nothing invented."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tuibench.stats.percentile import edges
from tuibench.stats.samples import read_samples
from tuibench.worker.recording import histogram, independent_n, keep_samples, percentiles, series

NS = st.lists(st.integers(1, 10**10), min_size=1, max_size=80).map(lambda v: np.array(v, dtype=np.int64))


@given(NS, st.integers(1, 256))
def test_every_call_is_counted_once_and_few_bins_cut_off_the_low_end(values: np.ndarray, most: int) -> None:
    stored = histogram(values, most)
    assert stored["under"] + sum(stored["counts"]) + stored["over"] == len(values)
    assert stored["under"] == (values < stored["low_ns"]).sum()
    assert stored["under"] == 0 or values.max() / values.min() > 1.01 ** (most - 1) * (1 - 1e-9)
    assert len(stored["counts"]) <= most
    assert edges(stored["low_ns"], stored["ratio"], 1)[1] / stored["low_ns"] <= 1.01 + 1e-9 or stored["low_ns"] < 100


def test_bins_cover_the_bulk_of_the_calls() -> None:
    """One call that was far too fast once took the bins of all others, which then counted as beyond them."""
    disturbed = np.array([2_345_046] + [11_600_000] * 8 + [24_000_000] * 36 + [43_000_000] * 9, dtype=np.int64)
    stored = histogram(disturbed, 150)
    assert (stored["under"], stored["over"]) == (1, 0)
    slow_half = np.array([2_000_000] * 46 + [90_000_000] * 54, dtype=np.int64)
    assert histogram(slow_half, 150)["over"] == 0 and histogram(slow_half, 150)["under"] == 46


def test_few_bins_of_a_steady_model_reach_its_slowest_calls() -> None:
    steady = np.linspace(1_000_000, 1_030_000, 2000).astype(np.int64)
    for most in (48, 150):
        stored = histogram(steady, most)
        assert (stored["under"], stored["over"]) == (0, 0) and np.count_nonzero(stored["counts"]) > 40
    outlier = np.append(steady, 1_900_000)
    assert histogram(outlier, 150)["ratio"] < 1.0007, "one slow call does not make the bins of all others wide"


def test_series_keeps_every_extreme_in_its_place() -> None:
    values = np.full(5000, 100, dtype=np.int64)
    values[3210], values[4999] = 9, 7000
    points = series(values, 64)
    assert len(points) == 64
    assert [i for i, p in enumerate(points) if p[0] == 9.0] == [41]
    assert points[-1] == (100.0, 100.0, 7000.0)
    assert series(values[:3], 64) == ((100.0, 100.0, 100.0),) * 3


def test_ties_of_a_coarse_clock_cause_no_dependence() -> None:
    draw = np.random.default_rng(1)
    coarse = (draw.exponential(100, 5000) // 40 * 40 + 1000).astype(np.int64)
    assert independent_n(coarse, 5000) > 4000
    assert independent_n(np.full(1000, 77, dtype=np.int64), 1000) == pytest.approx(1000)


def test_dependent_calls_reduce_the_effective_count() -> None:
    slow = np.repeat(np.random.default_rng(2).integers(1, 10**6, 100), 50).astype(np.int64)
    assert independent_n(slow, 5000) < 500


def test_percentile_with_too_few_calls_is_left_out() -> None:
    values = np.arange(1, 1001, dtype=np.int64)
    assert set(percentiles(values, 1000.0)) == {"25.0", "50.0", "75.0", "90.0", "95.0", "99.0"}
    assert set(percentiles(values, 20.0)) == {"25.0", "50.0", "75.0"}


@pytest.mark.parametrize(("keep_raw", "kept"), [(False, 65_536), (True, 100_000)])
def test_samples_are_thinned_unless_all_are_requested(tmp_path: Path, keep_raw: bool, kept: int) -> None:
    values = np.arange(1, 100_001, dtype=np.int64)
    samples = keep_samples(values, 200_000, str(tmp_path / "a.z"), keep_raw)
    assert (samples.kept, samples.total) == (kept, 200_000)
    assert samples.file is not None
    stored = read_samples(Path(samples.file))
    assert len(stored) == kept
    assert stored[0] == 1
    assert stored[-1] == 100_000
