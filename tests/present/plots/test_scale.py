from __future__ import annotations

import math
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tuibench.present.plots.drawing import Scale, round_ticks, tame, tick_labels

finite = st.floats(-1e250, 1e250)


@pytest.mark.parametrize(
    ("low", "high", "most", "ticks"),
    [
        (0, 588, 5, (0, 200, 400, 600)),
        (0, 290, 3, (0, 150, 300)),
        (0, 588, 4, (0, 200, 400, 600)),
        (0, 100, 5, (0, 25, 50, 75, 100)),
        (1.83, 2.09, 5, (1.8, 1.9, 2.0, 2.1)),
        (0, 0, 3, (0, 0.5, 1)),
        (3, 3, 2, (3, 6)),
    ],
)
def test_ticks_are_round_and_leave_little_empty(low: float, high: float, most: int, ticks: tuple[float, ...]) -> None:
    assert round_ticks(low, high, most) == pytest.approx(ticks)


@given(finite, finite, st.integers(1, 12))
def test_ticks_cover_the_span_and_are_even(one: float, two: float, most: int) -> None:
    low, high = sorted((tame(one), tame(two)))
    ticks = round_ticks(low, high, most)
    assert 2 <= len(ticks) <= max(most, 2)
    slack = (ticks[-1] - ticks[0]) * 1e-6
    assert ticks[0] <= low + slack and high - slack <= ticks[-1]
    steps = [b - a for a, b in pairwise(ticks)]
    assert all(math.isclose(step, steps[0], rel_tol=1e-6) for step in steps)
    assert len(tick_labels(ticks)) == len(ticks)


@pytest.mark.parametrize(
    ("ticks", "labels"),
    [
        ((0, 250, 500), ("0", "250", "500")),
        ((0, 2.5, 5), ("0", "2.5", "5.0")),
        ((1.8, 1.9, 2.0), ("1.8", "1.9", "2.0")),
        ((1.75, 2.0), ("1.75", "2.00")),
        ((0, 5000, 10000, 15000), ("0", "5k", "10k", "15k")),
        ((0, 2_500_000), ("0", "2.5M")),
        ((0, 0.0005, 0.001), ("0", "0.0005", "0.0010")),
        ((0, 2e-7), ("0", "2e-07")),
    ],
)
def test_labels_have_as_many_digits_as_they_need(ticks: tuple[float, ...], labels: tuple[str, ...]) -> None:
    assert tick_labels(ticks) == labels


def test_logarithmic_axis_gives_each_doubling_equal_room() -> None:
    scale = Scale(1, 16, 0, 80, log2=True)
    assert [scale.place(n) for n in (1, 2, 4, 8, 16)] == [0, 20, 40, 60, 80]
    assert scale.value(50) == pytest.approx(2**2.5)


def test_scale_may_run_down_and_is_invertible() -> None:
    scale = Scale(0, 100, 39, 0)
    assert (scale.place(0), scale.place(100), scale.place(50)) == (39, 0, 19)
    assert scale.value(0) == 100 and Scale(5, 5, 0, 10).place(5) == 5
