from __future__ import annotations

from dataclasses import replace

import pytest

from tests.present import build
from tests.present.plots import data, golden
from tuibench.core.cell import Check, Grade
from tuibench.core.result import RunResult
from tuibench.present.plots.drawing import text_of
from tuibench.present.plots.figure import draw
from tuibench.present.plots.scaling import Scaling, axes_of, figure_of, scaling
from tuibench.present.plots.selection import Selection
from tuibench.present.plots.sentences import best_of


def values(shown: Scaling, line: int = 0) -> list[float | None]:
    return [point.estimate.value for point in shown.lines[line].points]


def efficiencies(shown: Scaling) -> list[float | None]:
    return [point.efficiency for point in shown.lines[0].points]


def at(run: RunResult, metric: str, **fixed: int) -> Scaling:
    return scaling(run, Selection(metric=metric, fixed=fixed))


def test_efficiency_over_cores_is_the_share_of_perfect_scaling() -> None:
    shown = at(data.cores_run(), "efficiency", batch=32)
    # 132.9 / (2 × 67.6), 256 / (4 × 67.6), 471 / (8 × 67.6), 588 / (16 × 67.6)
    assert efficiencies(shown) == pytest.approx([1, 0.98299, 0.94675, 0.87093, 0.54364], abs=1e-5)
    assert values(shown) == pytest.approx([100, 98.299, 94.675, 87.093, 54.364], abs=1e-3)
    first, last = shown.lines[0].points[0].estimate, shown.lines[0].points[-1].estimate
    assert first.low is None, "the base is not unsure of itself"
    assert last.half_width == pytest.approx((0.011**2 + 0.019**2) ** 0.5, rel=0.01)


def test_efficiency_starts_at_the_smallest_value_measured() -> None:
    run = data.cores_run(build.failed_cell({"cores": 1, "batch": 2}), *(
        data.rated_cell(rate, cores=n, batch=2) for n, rate in ((2, 100.0), (4, 150.0))
    ))  # fmt: skip
    assert efficiencies(at(run, "throughput", batch=2)) == [None, 1, pytest.approx(0.75)]


def test_efficiency_over_batches_is_the_gain_of_batching() -> None:
    shown = scaling(data.batches_run(), Selection(metric="efficiency"))
    # 4 ms for one item: 32 items in 95 ms are 4 / (95 / 32) times as fast.
    assert efficiencies(shown) == pytest.approx([1, 8 / 7, 16 / 12.8, 32 / 24, 128 / 95])


def test_efficiency_over_a_dim_compares_with_proportional_time() -> None:
    shown = scaling(data.shapes_run(), Selection(metric="efficiency"))
    assert efficiencies(shown) == pytest.approx([1, 20 / 22, 40 / 60]) and shown.axis_name == "seq"


@pytest.mark.parametrize(
    ("metric", "unit", "found"),
    [
        ("latency", "ms/item", [4.0, 3.5, 3.2, 3.0, 95 / 32]),
        ("batch-time", "ms/batch", [4.0, 7.0, 12.8, 24.0, 95.0]),
        ("throughput", "items/s", [250.0, 2000 / 7, 4000 / 12.8, 8000 / 24, 32000 / 95]),
    ],
)
def test_metrics_have_their_unit_and_default_statistic(metric: str, unit: str, found: list[float]) -> None:
    shown = scaling(data.batches_run(), Selection(metric=metric))
    assert shown.unit == unit and values(shown) == pytest.approx(found)
    assert shown.selection.statistic == "p50"


def test_unsupported_statistic_is_replaced_by_the_default() -> None:
    cells = [data.timed_cell(2.0, scenario="async", cores=n, streams=n) for n in (1, 2)]
    shown = scaling(build.run(*cells), Selection(metric="throughput", statistic="floor"))
    assert (shown.selection.statistic, shown.choices.statistics) == ("mean", ("mean",))
    latency = scaling(build.run(*cells), replace(shown.selection, metric="latency", statistic="floor"))
    assert values(latency) == pytest.approx([1.96, 1.96]) and latency.choices.statistics == ("p50", "mean", "floor")


def test_choices_are_those_in_the_run() -> None:
    shown = scaling(data.two_engines())
    assert shown.choices.axes == axes_of(data.two_engines()) == ("cores", "batch")
    assert shown.choices.fixed == {"batch": (1, 32)} and [side.label for side in shown.choices.sides][1] == "openvino"
    over_batch = scaling(data.two_engines(), Selection("batch"))
    assert over_batch.choices.fixed == {"cores": (1, 2, 4, 8, 16)} and over_batch.axis_name == "batch"


def test_cell_without_a_value_keeps_its_place_and_reason() -> None:
    run = data.cores_run(build.failed_cell({"cores": 32, "batch": 32}), build.skipped_cell(cores=64, batch=32))
    points = at(run, "throughput", batch=32).lines[0].points
    assert [(p.value, p.estimate.value, p.status) for p in points[-2:]] == [(32, None, "failed"), (64, None, "skipped")]
    assert points[-2].note.startswith("died by SIGSEGV in load") and points[-1].note == "skipped: --max-time reached"
    figure = figure_of(at(run, "throughput", batch=32))
    assert figure.series[0].missing == (32.0, 64.0) and len(figure.series[0].points) == 5
    assert figure.x_ticks is not None and [label for _, label in figure.x_ticks][-2:] == ["32", "64"]


def test_disturbed_skipped_and_differing_points_have_a_note() -> None:
    run = build.sweep_run()
    points = {p.value: p for p in scaling(run, Selection("batch", fixed={"cores": 2})).lines[0].points}
    assert points[16].note == "grade D: another process took 40 % of the CPUs" and not points[16].is_clean
    assert points[512].status == "skipped" and points[1].note == "" and points[1].is_clean
    wrong = scaling(build.run(data.timed_cell(1.0)), None).lines[0].points[0]
    assert wrong.is_clean
    differs = replace(data.timed_cell(1.0), check=Check("differs", 0.2, 1e-3))
    assert scaling(build.run(differs)).lines[0].points[0].note == "outputs differ"


def test_wrong_point_is_best_only_if_all_are_wrong() -> None:
    wrong = replace(data.timed_cell(1.0), check=Check("differs", 0.2, 1e-3))
    disturbed = replace(data.timed_cell(9.0, batch=2), grade=Grade("D", None, 0.4, 0.0, False))
    (line,) = scaling(build.run(wrong, disturbed), Selection("batch")).lines
    best = best_of(line, "throughput")
    assert best is not None and best.value == 2
    (line,) = scaling(build.run(wrong, replace(disturbed, check=wrong.check)), Selection("batch")).lines
    best = best_of(line, "throughput")
    assert best is not None and best.value == 1


def test_measured_cell_is_preferred_to_a_failed_duplicate() -> None:
    ok = data.timed_cell(2.0)
    for cells in ((build.failed_cell(), ok), (ok, build.failed_cell())):
        assert values(scaling(build.run(*cells), Selection(metric="batch-time"))) == [2.0]


def test_axis_is_logarithmic_if_its_values_spread() -> None:
    assert figure_of(at(data.cores_run(), "throughput")).log2_x
    assert not figure_of(at(data.cores_run(rates={6: 1.0, 8: 2.0, 12: 3.0}), "throughput")).log2_x


def test_ideal_line_extends_the_smallest_value() -> None:
    def ideal(run: RunResult, metric: str) -> tuple[float, str]:
        figure = figure_of(scaling(run, Selection(metric=metric)))
        return round(figure.ideal[-1].y / figure.ideal[0].y, 9), figure.ideal_name

    assert ideal(data.cores_run(), "throughput") == (16, "ideal")
    assert ideal(data.cores_run(), "latency") == (0.0625, "ideal")
    assert ideal(data.cores_run(), "efficiency") == (1, "ideal")
    assert ideal(data.batches_run(), "throughput") == (1, "as at batch 1")
    assert ideal(data.batches_run(), "batch-time") == (32, "as at batch 1")
    assert ideal(data.shapes_run(), "latency") == (4, "in proportion to seq")
    assert figure_of(scaling(build.run(data.timed_cell(1.0)))).ideal == ()


def test_run_without_measurements_makes_an_empty_page() -> None:
    for run in (build.run(), build.run(build.failed_cell()), build.hostile_run(), build.sweep_run()):
        for axis in ("", "cores", "batch", "shape"):
            text = text_of(draw(figure_of(scaling(run, Selection(axis))), 60, 10))
            assert "\x1b" not in text and "\u202e" not in text
    assert scaling(build.run()).lines == () and scaling(build.run()).sentences == ()


@pytest.mark.parametrize("axis", ["cores", "batch", "shape"])
def test_scaling_page_matches_kept_text(axis: str) -> None:
    run = {"cores": data.two_engines(), "batch": data.batches_run(), "shape": data.shapes_run()}[axis]
    shown = scaling(run, Selection(axis, fixed={"batch": 32}))
    lines = [text_of(draw(figure_of(shown), 80, 14)), *(f"{s.kind:8} {s.text}" for s in shown.sentences)]
    golden.check(f"page-{axis}", "\n".join(lines))


def test_dim_of_zero_has_no_efficiency_and_no_ideal_line() -> None:
    """The past of a decoder starts at length 0, so no time can be in proportion to it."""
    run = build.run(*(data.timed_cell(5.0 + n, cores=1, dims={"past": n}) for n in (0, 64, 128)))
    shown = scaling(run, Selection(metric="latency"))
    assert values(shown) == [5.0, 69.0, 133.0] and efficiencies(shown) == [None] * 3
    assert figure_of(shown).ideal == () and "growth" not in {sentence.kind for sentence in shown.sentences}
    assert values(scaling(run, Selection(metric="efficiency"))) == [None] * 3


def test_documentation_of_figures_matches_the_drawn_page() -> None:
    page = (golden.GOLDENS.parents[2] / "docs" / "figures.md").read_text(encoding="utf-8")
    drawn = (golden.GOLDENS / "page-cores.txt").read_text(encoding="utf-8").splitlines()[:14]
    assert "\n".join(drawn) in page
