from __future__ import annotations

import math
import random

import pytest

from tuibench.core.cell import Estimate
from tuibench.core.reason import Reason, because
from tuibench.stats.interval import half_width, log_interval


def test_interval_matches_hand_calculation() -> None:
    estimate = log_interval([math.exp(v) for v in (1.0, 1.1, 1.2)], scale=1e-6)
    half = 4.30265273 * 0.1 / math.sqrt(3)
    assert estimate.value == pytest.approx(math.exp(1.1) * 1e-6)
    assert estimate.low == pytest.approx(math.exp(1.1 - half) * 1e-6)
    assert estimate.high == pytest.approx(math.exp(1.1 + half) * 1e-6)
    assert (estimate.n, estimate.reason) == (3, None)
    assert estimate.half_width == pytest.approx(half)


@pytest.mark.parametrize("count", [1, 2])
def test_fewer_than_three_executions_give_a_value_and_no_interval(count: int) -> None:
    estimate = log_interval([2.0, 8.0][:count])
    assert estimate.value == pytest.approx([2.0, 4.0][count - 1])
    assert (estimate.low, estimate.high, estimate.n) == (None, None, count)
    assert estimate.reason == because("too_few_executions", count=count, least=3)
    assert estimate.half_width is None


def test_value_of_zero_has_no_interval() -> None:
    assert log_interval([0.0, 0.0, 3.0]) == Estimate(1.0, n=3, reason=Reason("zero_value"))


def test_no_values_give_no_estimate() -> None:
    assert log_interval([]) == Estimate(None, reason=Reason("no_value"))


def test_half_width_covers_the_truth_19_times_of_20() -> None:
    rng = random.Random(5)
    hits = 0
    for _ in range(4000):
        logs = [rng.gauss(0.3, 0.1) for _ in range(4)]
        hits += abs(sum(logs) / 4 - 0.3) <= half_width(logs)
    assert 0.94 <= hits / 4000 <= 0.96
