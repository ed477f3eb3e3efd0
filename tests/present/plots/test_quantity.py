from __future__ import annotations

import math
from dataclasses import replace

import pytest

from tests.present import build
from tests.present.plots import data
from tuibench.core.cell import Estimate
from tuibench.present.amount import amount
from tuibench.present.plots.selection import UNITS, overlap, quantity, relative, statistics_of

CELL = replace(data.timed_cell(8.0, 0.25, batch=4), items_per_sec=build.estimate(476.0, 0.25))
"""8 ms/batch of 4 items at the median, 8.4 at the mean, 7.84 at the floor."""


@pytest.mark.parametrize(
    ("metric", "statistic", "value"),
    [
        ("batch-time", "p50", 8.0), ("batch-time", "mean", 8.4), ("batch-time", "floor", 7.84),
        ("latency", "p50", 2.0), ("latency", "mean", 2.1),
        ("throughput", "p50", 500.0), ("throughput", "floor", 4000 / 7.84), ("throughput", "mean", 476.0),
    ],
)  # fmt: skip
def test_each_metric_has_its_unit(metric: str, statistic: str, value: float) -> None:
    assert quantity(CELL, metric, statistic).value == pytest.approx(value)


def test_intervals_follow_the_value_and_swap_with_an_inverse() -> None:
    time, rate = quantity(CELL, "latency", "p50"), quantity(CELL, "throughput", "p50")
    assert (time.low, time.high) == pytest.approx((1.5, 2.5))
    assert (rate.low, rate.high) == pytest.approx((1000 / 2.5, 1000 / 1.5)) and rate.n == 5


def test_quantity_of_a_failed_cell_has_no_value() -> None:
    failed = build.failed_cell()
    assert all(quantity(failed, m, "p50").value is None for m in ("latency", "throughput", "batch-time"))


def test_streams_have_no_median_of_items_per_second() -> None:
    assert statistics_of("throughput", {"sync"}) == ("p50", "mean", "floor")
    assert statistics_of("throughput", {"sync", "async"}) == statistics_of("efficiency", {"async"}) == ("mean",)
    assert statistics_of("latency", {"async"}) == ("p50", "mean", "floor")


def test_ratio_interval_combines_both_intervals() -> None:
    a = Estimate(10.0, 10 / math.e**0.03, 10 * math.e**0.03, 5)
    b = Estimate(20.0, 20 / math.e**0.04, 20 * math.e**0.04, 3)
    ratio = relative(b, a, 0.5)
    assert ratio.value == pytest.approx(1.0) and ratio.half_width == pytest.approx(0.05) and ratio.n == 3
    assert relative(b, Estimate(10.0)).value == 2.0 and relative(b, Estimate(10.0)).low is None
    assert relative(b, Estimate(None)).value is None and relative(b, Estimate(0.0)).value is None


def test_only_shared_values_overlap() -> None:
    assert overlap(Estimate(1.0, 0.9, 1.1), Estimate(1.2, 1.1, 1.3))
    assert not overlap(Estimate(1.0, 0.9, 1.1), Estimate(1.3, 1.2, 1.4))
    assert not overlap(Estimate(1.0), Estimate(1.0))


def test_amounts_are_shown_with_their_unit() -> None:
    assert amount(Estimate(1.92, 1.9, 1.94), UNITS["latency"]) == "1.92 ms/item ±1.0 %"
    assert amount(Estimate(0.05), UNITS["batch-time"]) == "50.0 µs/batch"
    assert amount(Estimate(588.0), UNITS["throughput"]) == "588 items/s"
    assert amount(Estimate(54.4), UNITS["efficiency"]) == "54.4 %"
    assert amount(Estimate(None), UNITS["latency"]) == "-"
