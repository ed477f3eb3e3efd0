from __future__ import annotations

from dataclasses import replace

import pytest

from tests.present import build
from tests.tui.sample_data import failed_sweep, make, rich_pair, sweep, sweep_cell
from tuibench.core.result import RunResult
from tuibench.present.plots.figure import Figure, draw
from tuibench.runs.comparison import compare_results
from tuibench.tui.screens.comparison.pair import pairs_of_run, pairs_of_sides
from tuibench.tui.screens.comparison.view import ComparisonData, figures_of, has_metric, make_figure


def stored(old: RunResult, new: RunResult) -> ComparisonData:
    side = compare_results(old, new)
    return ComparisonData(old, new, pairs_of_sides(side), side)


def inside() -> ComparisonData:
    """Return a sweep over cores of two interleaved engines."""
    cells = [sweep_cell(c, 1, engine) for engine in ("onnxruntime", "openvino") for c in (1, 2, 4)]
    comparisons = tuple(
        build.comparison(old.key, new.key, "p50 latency", 0.92, 0.9, 0.94, 5, True, "faster", None, "faster")
        for old, new in zip(cells[:3], cells[3:], strict=True)
    )
    run = make(1, 1.0, *cells, comparisons=comparisons)
    return ComparisonData(run, run, pairs_of_run(run))


def values(figure: Figure) -> list[list[float]]:
    return [[round(point.y, 1) for point in series.points] for series in figure.series]


def test_figure_over_axis_compares_both_operands_at_selected_pair() -> None:
    material = stored(sweep(1, 7200.0), sweep(2, 3600.0, faster=2.0))
    pair = next(pair for pair in material.pairs if "batch 8" in pair.name)
    first, second = values(make_figure(material, "over cores", pair, "batch-time"))
    assert first[0] == pytest.approx(2 * second[0], abs=0.11) and len(first) == len(second) == 5
    # 16.2 ms × 8 × (0.93 + 0.07 / 8) on one core.
    assert first[0] == 121.7


def test_figure_with_too_many_ratios_shows_selected_pair() -> None:
    runs = [make(n, 1.0, *(sweep_cell(c, b) for b in (1, 2, 4, 8) for c in (1, 2))) for n in (1, 2)]
    material = stored(*runs)
    pair = next(pair for pair in material.pairs if "batch 8" in pair.name)
    for seen in (pair, pair.turned()):
        assert make_figure(material, "ratio over cores", seen, "latency").series[0].name == "batch 8"


def test_figure_of_one_benchmark_draws_one_line_per_engine() -> None:
    material = inside()
    assert [figure.split()[-1] for figure in figures_of(material)] == ["cores", "samples"]
    figure = make_figure(material, "over cores", material.pairs[0], "throughput")
    assert [series.name.partition(" ")[0] for series in figure.series] == ["onnxruntime", "openvino"]
    first, second = values(figure)
    assert all(new == pytest.approx(old / 0.92, rel=0.01) for old, new in zip(first, second, strict=True))


def test_every_figure_of_every_result_can_be_drawn() -> None:
    single = replace(make(5, 1.0, sweep_cell(1, 1)), comparisons=())
    materials = (
        stored(sweep(1, 7200.0), failed_sweep(2, 1.0)), stored(single, sweep(1, 1.0)), inside(),
        ComparisonData(rich_pair(), rich_pair(), pairs_of_run(rich_pair())), ComparisonData(single, single, ()),
    )  # fmt: skip
    for material in materials:
        for name in figures_of(material):
            for pair in (*material.pairs[::4], *material.pairs[-1:], None):
                for metric in ("throughput", "latency", "nonsense"):
                    assert len(draw(make_figure(material, name, pair, metric), 60, 9)) == 9


def test_only_axis_figures_have_metric_choice() -> None:
    material = stored(sweep(1, 7200.0), sweep(2, 3600.0))
    assert [has_metric(name) for name in figures_of(material)] == [True, True, False, False, False]
