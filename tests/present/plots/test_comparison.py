from __future__ import annotations

from dataclasses import replace

import pytest

from tests.present import build
from tests.present.plots import data
from tests.store.data import make_id
from tuibench.core.cell import Estimate
from tuibench.core.label import CellName
from tuibench.core.result import CellPair, Figure, RunResult, SideBySide
from tuibench.present.plots.drawing import text_of
from tuibench.present.plots.figure import draw
from tuibench.present.plots.scaling import figure_of, ratio_figure, samples_comparison, together
from tuibench.present.plots.selection import Selection

OLD = replace(data.cores_run(), id=make_id(1))
NEW = replace(data.cores_run(rates={1: 70.0, 2: 140.0, 4: 280.0}), id=make_id(2))


def pair(old: RunResult, cores: int, batch: int, ratio: float | None) -> CellPair:
    key = next(c.key for c in old.cells if (c.asked.cores, c.asked.batch) == (cores, batch))
    side = Figure(key, Estimate(1.0), "A", "ok")
    sentence = build.comparison(key, key, "p50", ratio or 0, 0.9, 1.1, 5, False, None, "stored", "") if ratio else None
    name = CellName(old.cells[0].asked, (), "", None)
    return CellPair(name, (), "ms", side, side, sentence)


def test_two_results_share_an_axis_and_are_named_by_id() -> None:
    figure = figure_of(together(OLD, NEW, Selection("cores", fixed={"batch": 32})))
    assert [series.name for series in figure.series] == ["0001 onnxruntime", "0002 onnxruntime"]
    assert [point.y for point in figure.series[1].points] == pytest.approx([70, 140, 280])
    assert figure.x_ticks is not None and [x for x, _ in figure.x_ticks] == [1, 2, 4, 8, 16]


def test_matching_cells_may_have_different_engines() -> None:
    new = replace(data.two_engines(), id=make_id(3))
    keys = [side.key for side in together(new, new).choices.sides]
    both = together(OLD, new, Selection("cores", fixed={"batch": 32}, sides=(keys[1],)))
    assert [line.side.label for line in both.lines] == ["0001 onnxruntime", "0003 openvino"]
    assert together(OLD, build.run()).lines[0].side.label == "0001 onnxruntime"


def test_fixed_values_are_the_same_for_both_results() -> None:
    # Chosen alone, the new result would be fixed at the value with most of its measurements.
    more = [data.rated_cell(1.0, cores=n, batch=32) for n in (32, 64)]
    both = together(OLD, replace(data.cores_run(*more), id=make_id(2)))
    assert both.selection.fixed == {"batch": 1} and len(both.lines[1].points) == 5
    assert [line.points[-1].estimate.value for line in both.lines] == pytest.approx([588 * 0.9] * 2)
    assert {s.kind: s.text for s in both.sentences}["ratio"].startswith("16 cores: 0002 onnxruntime 529 items/s")


def test_result_not_measured_at_the_fixed_values_has_no_line() -> None:
    cells = [data.rated_cell(100.0 * n, cores=n, batch=8) for n in (1, 2)]
    both = together(OLD, build.run(*cells, id=make_id(2)))
    assert len(both.lines) == 1 and both.sentences[-1].text == "0002: not measured at batch 1"


@pytest.mark.parametrize("dims", [{"sequence": 64}, {}], ids=["another dim", "no dim"])
def test_lines_over_different_dims_are_not_compared(dims: dict[str, int]) -> None:
    """Two exports of one model may name the same length differently; the comparison cannot know that they are the
    same.
    """
    old = build.run(*(data.timed_cell(5.0 * s, dims={"seq": s}) for s in (64, 128)), id=make_id(1))
    others = [{name: size * n for name, size in dims.items()} for n in (1, 2)] if dims else [{}]
    new = build.run(*(data.timed_cell(5.0, dims=each) for each in others), id=make_id(2))
    both = together(old, new, Selection("shape"))
    assert [line.side.label for line in both.lines] == ["0001 onnxruntime"]
    assert both.sentences[-1].text == "0002: not measured over seq"
    assert "ratio" not in {sentence.kind for sentence in both.sentences}


def test_calls_and_streams_are_compared_by_the_mean() -> None:
    cells = [data.timed_cell(3.0, scenario="async", cores=n, streams=n) for n in (1, 2)]
    both = together(OLD, build.run(*cells, id=make_id(2)), Selection(statistic="floor"))
    assert both.selection.statistic == "mean"
    assert both.lines[0].points[0].estimate == OLD.cells[5].items_per_sec


def test_ratios_have_one_line_for_each_remaining_combination() -> None:
    pairs = [pair(OLD, 4, 32, 0.9), pair(OLD, 1, 32, 1.0), pair(OLD, 1, 1, 1.2), pair(OLD, 2, 32, None)]
    figure = ratio_figure(OLD, SideBySide("a", "b", tuple(pairs), (), (), ()), "cores")
    assert [(s.name, [(p.x, p.y) for p in s.points]) for s in figure.series] == [
        ("batch 32", [(1, 1.0), (4, 0.9)]), ("batch 1", [(1, 1.2)]),
    ]  # fmt: skip
    assert {point.y for point in figure.ideal} == {1.0}
    nothing = ratio_figure(OLD, SideBySide("a", "b", (), (), (), ()), "cores")
    assert "no pair has a ratio" in text_of(draw(nothing, 60, 5))


def test_line_of_the_pair_under_the_cursor_is_drawn_first() -> None:
    old = build.run(*(data.rated_cell(1.0, cores=n, batch=b) for b in (1, 2, 4, 8, 16) for n in (1, 2)))
    side = SideBySide("a", "b", tuple(pair(old, n, b, 1.1) for b in (1, 2, 4, 8, 16) for n in (1, 2)), (), (), ())
    key = next(c.key for c in old.cells if (c.asked.cores, c.asked.batch) == (2, 16))
    for near, names in ((key, ["batch 16", "batch 1", "batch 2"]), ("", ["batch 1", "batch 2", "batch 4"])):
        figure = ratio_figure(old, side, "cores", (near, near))
        assert [series.name for series in figure.series[:3]] == names and len(figure.series) == 5
    few = ratio_figure(old, replace(side, pairs=side.pairs[4:]), "cores", (key, key))
    assert [series.name for series in few.series] == ["batch 4", "batch 8", "batch 16"], "all can be seen as they are"


def test_inverted_ratios_have_inverted_intervals() -> None:
    pairs = (pair(OLD, 1, 32, 0.8), pair(OLD, 2, 32, 1.25))
    side = SideBySide("a", "b", pairs, (), (), ())
    (plain,), (turned,) = (ratio_figure(OLD, side, "cores", turned=way).series for way in (False, True))
    assert [point.y for point in turned.points] == [1.25, 0.8]
    for one, other in zip(plain.points, turned.points, strict=True):
        assert one.low is not None and one.high is not None
        assert (other.low, other.high) == (1 / one.high, 1 / one.low)
    assert ratio_figure(OLD, side, "cores", turned=True).y_name == "old / new in time"


def test_samples_of_two_cells_are_drawn_in_parallel() -> None:
    figure = samples_comparison(data.spread_cell(), build.ok_cell(executions=(data.spread_execution(3e6),)))
    assert [(s.name, len(s.points), s.breaks) for s in figure.series] == [("old", 60, (20, 40)), ("new", 20, ())]
    assert figure.x_ticks is not None and len(figure.x_ticks) == 3
    assert samples_comparison(build.failed_cell(), build.failed_cell()).series == ()


def test_fixed_dim_of_one_result_may_vary_in_the_other() -> None:
    """A result of one shape is comparable with the same shape of a result of several, and with no other shape."""
    one = [data.timed_cell(5.0, cores=n, dims={"seq": 128, "mask": 128}) for n in (1, 2)]
    several = [data.timed_cell(5.0 * s, cores=n, dims={"seq": s, "mask": s}) for n in (1, 2) for s in (64, 128)]
    old, new = build.run(*several, id=make_id(1)), build.run(*one, id=make_id(2))
    assert len(together(old, new, Selection("cores", fixed={"dim seq": 128})).lines) == 2
    assert len(together(old, new, Selection("cores", fixed={"dim seq": 64})).lines) == 1
    assert len(together(new, old, Selection("cores")).lines) == 2, "the one with a choice follows"
    shapes = together(old, new, Selection("shape"))
    assert [[p.value for p in line.points] for line in shapes.lines] == [[64, 128], [128]]
