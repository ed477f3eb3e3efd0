from __future__ import annotations

import math
import sys
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.present import build
from tests.present.plots import data, golden
from tuibench.core.cell import Estimate
from tuibench.core.reason import legacy_text
from tuibench.present.plots import histogram as baseline
from tuibench.present.plots.drawing import text_of
from tuibench.present.plots.figure import draw
from tuibench.present.plots.histogram import Histogram, marks_of, merged_histogram, samples_figure
from tuibench.worker.recording import histogram as reduce_to_bins


def binned(low_ns: float, ratio: float, counts: list[int], **outside: int) -> dict[str, object]:
    return {"low_ns": low_ns, "ratio": ratio, "counts": counts, "under": 0, "over": 0, **outside}


def merged(*histograms: dict[str, object]) -> Histogram:
    found = merged_histogram(build.ok_cell(executions=tuple(build.execution(histogram=each) for each in histograms)))
    assert found is not None
    return found


def test_histograms_of_one_grid_are_summed() -> None:
    both = merged(binned(1e6, 2.0, [1, 2, 3], over=1), binned(1e6, 2.0, [0, 10, 20]))
    assert both.edges == pytest.approx((1, 2, 4, 8)) and both.counts == pytest.approx((1, 12, 23))
    assert (both.under, both.over, round(both.total, 9)) == (0, 1, 37)


def test_figure_ends_at_the_bins_of_an_execution_with_uncounted_calls() -> None:
    """46 of 54 calls lay beyond the bins of one execution; the bins of the other may or may not contain them."""
    both = merged(binned(1e6, 2.0, [3, 5], over=46), binned(1e6, 2.0, [0, 1, 20, 25], over=1))
    assert both.edges == pytest.approx((1, 2, 4)) and both.counts == pytest.approx((3, 6))
    assert both.over == pytest.approx(46 + 45 + 1) and (both.perhaps_over, round(both.total, 9)) == (0, 101)
    low = merged(binned(1e6, 2.0, [1, 2, 3]), binned(2e6, 2.0, [10, 20], under=4))
    assert low.edges == pytest.approx((2, 4, 8)) and low.under == pytest.approx(5) and low.perhaps_under == 0


def test_few_uncounted_calls_do_not_shorten_the_figure() -> None:
    both = merged(binned(1e6, 2.0, [100, 299], over=1), binned(1e6, 2.0, [0, 0, 400]))
    assert both.edges[-1] == pytest.approx(8) and (both.over, both.perhaps_over) == (0, 1)


def test_bins_without_a_shared_span_are_shown_with_unknown_calls() -> None:
    both = merged(binned(1e6, 2.0, [1, 2], over=9), binned(3.2e7, 2.0, [4, 5], under=1))
    assert both.total == pytest.approx(22) and math.fsum(both.counts) > 0
    assert both.perhaps_over + both.perhaps_under > 0


@given(st.lists(st.lists(st.integers(10**6, 10**8), min_size=1, max_size=40), min_size=1, max_size=5))
def test_calls_counted_as_outside_are_outside(executions: list[list[int]]) -> None:
    both = merged(*(reduce_to_bins(np.array(calls), 48) for calls in executions))
    every, total = [call for calls in executions for call in calls], both.total
    assert total == pytest.approx(len(every))
    high, low = both.edges[-1] * 1e6, both.edges[0] * 1e6
    # A bin across the last edge may have its calls on either side.
    assert both.over <= sum(call >= high / 1.0101 for call in every) + 1e-6
    assert both.over + both.perhaps_over >= sum(call > high * 1.0101 for call in every) - 1e-6
    assert both.under <= sum(call <= low * 1.0101 for call in every) + 1e-6
    assert both.under + both.perhaps_under >= sum(call < low / 1.0101 for call in every) - 1e-6


edges = st.integers(1, 12)
several = st.lists(st.tuples(edges, edges, *[st.integers(0, 40)] * 3), min_size=1, max_size=8)


@given(several)
def test_span_is_the_widest_with_the_fewest_uncounted_calls(found: list[tuple[int, ...]]) -> None:
    """Compare with the best of all spans."""
    kept = [baseline._Kept(low, 1.0, (n + 1.0,) * size, under, over) for low, size, n, under, over in found]
    few = 0.005 * sum(each.under + each.over + sum(each.counts) for each in kept)

    def rank(low: float, high: float) -> tuple[float, float]:
        untold = sum(each.under * (each.low > low) + each.over * (each.high < high) for each in kept)
        return max(untold - few, 0.0), low - high

    lows, highs = [each.low for each in kept], [each.high for each in kept]
    spans = [(low, high) for low in lows for high in highs if low < high and low <= min(highs) and high >= max(lows)]
    assert rank(*baseline._known_span(kept)) == pytest.approx(min(rank(*span) for span in spans))


def test_merging_takes_linear_work_in_the_number_of_executions() -> None:
    def count_calls(executions: int) -> int:
        kept = [baseline._Kept(13 + n / 1e4, 0.01, (5.0,) * 90, 1.0, 2.0) for n in range(executions)]
        counted = 0

        def count(_frame: object, event: str, _what: object) -> None:
            nonlocal counted
            counted += event in ("call", "c_call")

        before = sys.getprofile()
        sys.setprofile(count)
        try:
            baseline._known_span(kept)
        finally:
            sys.setprofile(before)
        return counted

    assert count_calls(400) < 3 * count_calls(200)


def test_counts_of_different_grids_are_shared_out_without_loss() -> None:
    executions = (
        build.execution(histogram=binned(1e6, 4.0, [8])),
        build.execution(histogram=binned(1e6, 2.0, [0, 6])),
        build.execution(histogram=binned(1.7e6, 1.01, [5] * 100)),
    )
    merged = merged_histogram(build.ok_cell(executions=executions))
    assert merged is not None and sum(merged.counts) == pytest.approx(514) and len(merged.counts) <= 512
    half = sum(count for left, count in zip(merged.edges, merged.counts, strict=False) if left < 1.69)
    assert half == pytest.approx(8 * 0.38, rel=0.05), "of the coarse bin what lies below 1.7: log2(1.7) / 2 of it"


def test_missing_histogram_or_series_gives_no_figure() -> None:
    assert merged_histogram(build.failed_cell()) is None and samples_figure(build.failed_cell()) is None
    bare = build.ok_cell(executions=(build.execution(histogram={}, series=()),))
    assert merged_histogram(bare) is None and samples_figure(bare) is None
    for odd in (binned(0.0, 1.0, [1]), binned(1e6, 1.0 + 2**-52, [1])):
        assert merged_histogram(build.ok_cell(executions=(build.execution(histogram=odd),))) is None


def test_samples_figure_runs_through_all_executions_in_turn() -> None:
    figure = samples_figure(data.spread_cell())
    assert figure is not None and figure.x_ticks == ((0.5, "1"), (1.5, "2"), (2.5, "3"))
    (series,) = figure.series
    assert series.breaks == (20, 40) and len(series.points) == 60
    first = series.points[0]
    assert (first.y, first.low, first.high) == pytest.approx((1.92, 1.92 * 0.98, 1.92 * 1.2))
    assert [point.x for point in series.points] == sorted(point.x for point in series.points)
    golden.check("samples-80x14", text_of(draw(figure, 80, 14)))
    golden.check("samples-60x10-ascii", text_of(draw(figure, 60, 10, ascii_only=True)))


def test_long_series_are_thinned_without_losing_a_peak() -> None:
    series = tuple((1e6 - i, 2e6, 9e6 if i == 777 else 3e6) for i in range(2000))
    cell = build.ok_cell(executions=(build.execution(series=series),) * 3)
    figure = samples_figure(cell)
    assert figure is not None
    points = figure.series[0].points
    assert len(points) <= 1024 and len(figure.series[0].breaks) == 2
    assert sum(point.high == 9.0 for point in points) == 3 and min(p.low or 0.0 for p in points) == pytest.approx(
        0.998001
    )


def test_only_known_percentiles_are_marked() -> None:
    cell = build.ok_cell(p50=2.0)
    cell = replace(cell, latency_ms={**cell.latency_ms, "p99_9": Estimate(None, reason=legacy_text("too few"))})
    assert [name for name, _ in marks_of(cell)] == ["p50", "p90", "p99"] and marks_of(cell)[0][1] == 2.0
