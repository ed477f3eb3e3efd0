"""What is stored of many calls: nothing lost, nothing invented."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tuibench.measure.reduction import histogram, independent_n, keep_samples, percentiles, series
from tuibench.stats.histogram import edges
from tuibench.stats.sample_file import read_samples

NS = st.lists(st.integers(1, 10**10), min_size=1, max_size=80).map(lambda v: np.array(v, dtype=np.int64))


@given(NS, st.integers(1, 256))
def test_every_call_is_counted_once_and_nothing_lies_below_the_bins(values: np.ndarray, most: int) -> None:
    stored = histogram(values, most)
    assert stored["under"] + sum(stored["counts"]) + stored["over"] == len(values)
    assert stored["under"] == 0
    assert len(stored["counts"]) <= most
    assert edges(stored["low_ns"], stored["ratio"], 1)[1] / stored["low_ns"] <= 1.01 + 1e-9 or stored["low_ns"] < 100


def test_the_series_keeps_every_extreme_in_its_place() -> None:
    values = np.full(5000, 100, dtype=np.int64)
    values[3210], values[4999] = 9, 7000
    points = series(values, 64)
    assert len(points) == 64
    assert [i for i, p in enumerate(points) if p[0] == 9.0] == [41]
    assert points[-1] == (100.0, 100.0, 7000.0)
    assert series(values[:3], 64) == ((100.0, 100.0, 100.0),) * 3


def test_ties_of_a_coarse_clock_make_no_dependence() -> None:
    draw = np.random.default_rng(1)
    coarse = (draw.exponential(100, 5000) // 40 * 40 + 1000).astype(np.int64)
    assert independent_n(coarse, 5000) > 4000
    assert independent_n(np.full(1000, 77, dtype=np.int64), 1000) == pytest.approx(1000)


def test_dependent_calls_are_worth_fewer() -> None:
    slow = np.repeat(np.random.default_rng(2).integers(1, 10**6, 100), 50).astype(np.int64)
    assert independent_n(slow, 5000) < 500


def test_a_percentile_that_so_few_calls_cannot_tell_is_left_out() -> None:
    values = np.arange(1, 1001, dtype=np.int64)
    assert set(percentiles(values, 1000.0)) == {"25.0", "50.0", "75.0", "90.0", "95.0", "99.0"}
    assert set(percentiles(values, 20.0)) == {"25.0", "50.0", "75.0"}


@pytest.mark.parametrize(("keep_raw", "kept"), [(False, 65_536), (True, 100_000)])
def test_samples_are_thinned_unless_all_are_asked_for(tmp_path: Path, keep_raw: bool, kept: int) -> None:
    values = np.arange(1, 100_001, dtype=np.int64)
    samples = keep_samples(values, 200_000, str(tmp_path / "a.z"), keep_raw)
    assert (samples.kept, samples.total) == (kept, 200_000)
    assert samples.file is not None
    stored = read_samples(Path(samples.file))
    assert len(stored) == kept
    assert stored[0] == 1
    assert stored[-1] == 100_000
