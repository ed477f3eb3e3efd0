from __future__ import annotations

from dataclasses import replace

import pytest

from tests.plots import data, golden
from tests.report import build
from tuibench.core.cell import Estimate
from tuibench.plots.baseline import marks_of, merged_histogram, samples_figure
from tuibench.plots.figure import draw
from tuibench.plots.styled import text_of


def binned(low_ns: float, ratio: float, counts: list[int], **outside: int) -> dict[str, object]:
    return {"low_ns": low_ns, "ratio": ratio, "counts": counts, "under": 0, "over": 0, **outside}


def test_histograms_of_one_grid_add_up() -> None:
    executions = (
        build.execution(histogram=binned(1e6, 2.0, [1, 2, 3], over=1)),
        build.execution(histogram=binned(2e6, 2.0, [10, 20], under=4)),
    )
    merged = merged_histogram(build.ok_cell(executions=executions))
    assert merged is not None
    assert merged.edges == pytest.approx((1, 2, 4, 8)) and merged.counts == pytest.approx((1, 12, 23))
    assert (merged.under, merged.over, round(merged.total, 9)) == (4, 1, 41)


def test_counts_of_different_grids_are_shared_out_and_none_is_lost() -> None:
    executions = (
        build.execution(histogram=binned(1e6, 4.0, [8])),
        build.execution(histogram=binned(1e6, 2.0, [0, 6])),
        build.execution(histogram=binned(1.7e6, 1.01, [5] * 100)),
    )
    merged = merged_histogram(build.ok_cell(executions=executions))
    assert merged is not None and sum(merged.counts) == pytest.approx(514) and len(merged.counts) <= 512
    half = sum(count for left, count in zip(merged.edges, merged.counts, strict=False) if left < 1.69)
    assert half == pytest.approx(8 * 0.38, rel=0.05), "of the coarse bin what lies below 1.7: log2(1.7) / 2 of it"


def test_what_was_not_kept_is_not_made_up() -> None:
    assert merged_histogram(build.failed_cell()) is None and samples_figure(build.failed_cell()) is None
    bare = build.ok_cell(executions=(build.execution(histogram={}, series=()),))
    assert merged_histogram(bare) is None and samples_figure(bare) is None
    odd = build.ok_cell(executions=(build.execution(histogram=binned(0.0, 1.0, [1])),))
    assert merged_histogram(odd) is None


def test_samples_go_through_all_executions_in_turn() -> None:
    figure = samples_figure(data.spread_cell())
    assert figure is not None and figure.x_ticks == ((0.5, "1"), (1.5, "2"), (2.5, "3"))
    (series,) = figure.series
    assert series.breaks == (20, 40) and len(series.points) == 60
    first = series.points[0]
    assert (first.y, first.low, first.high) == pytest.approx((1.92, 1.92 * 0.98, 1.92 * 1.2))
    assert [point.x for point in series.points] == sorted(point.x for point in series.points)
    golden.check("samples-80x14", text_of(draw(figure, 80, 14)))
    golden.check("samples-60x10-ascii", text_of(draw(figure, 60, 10, ascii_only=True)))


def test_long_series_are_thinned_but_no_peak_is_lost() -> None:
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
    cell = replace(cell, latency_ms={**cell.latency_ms, "p99_9": Estimate(None, reason="too few")})
    assert [name for name, _ in marks_of(cell)] == ["p50", "p90", "p99"] and marks_of(cell)[0][1] == 2.0
