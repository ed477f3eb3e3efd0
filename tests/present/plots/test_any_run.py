"""Figures, sentences and choices exist for any run; screens request them at every key."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tests.present import build
from tests.present.plots.test_figure import check_rows
from tuibench.core.cell import CellResult, Estimate
from tuibench.core.reason import legacy_text
from tuibench.present.plots.figure import draw
from tuibench.present.plots.scaling import figure_of, scaling, together
from tuibench.present.plots.selection import Selection
from tuibench.present.plots.sentences import point_words

amounts = st.just(0.0) | st.floats(1e-9, 1e12)


def estimate(numbers: tuple[float, float, float], kind: str) -> Estimate:
    low, value, high = sorted(numbers)
    if kind == "none":
        return Estimate(None, reason=legacy_text("not measured"))
    return Estimate(value, n=1) if kind == "bare" else Estimate(value, low, high, 5)


estimates = st.builds(estimate, st.tuples(amounts, amounts, amounts), st.sampled_from(["none", "bare", "whole"]))
requests = st.fixed_dictionaries(
    {
        "cores": st.integers(1, 8),
        "batch": st.none() | st.integers(0, 8),
        "dims": st.dictionaries(st.sampled_from(["seq", "h", "cores"]), st.integers(-1, 4)),
        "engine": st.sampled_from(["a", "b", "c", "d"]),
        "scenario": st.sampled_from(["sync", "async"]),
    }
)


def cell(status: str, asks: dict[str, Any], time: Estimate, rate: Estimate, items: int) -> CellResult:
    if status == "failed":
        return build.failed_cell(asks)
    if status == "skipped":
        return build.skipped_cell(**asks)
    made = build.ok_cell(latency_ms={"p50": time, "mean": time, "floor": rate}, items_per_sec=rate, items=items)
    return replace(made, asked=build.asked(**asks), key=build.asked(**asks).key)


statuses = st.sampled_from(["ok", "ok", "ok", "failed", "skipped"])
cells = st.lists(st.builds(cell, statuses, requests, estimates, estimates, st.integers(0, 5)), max_size=12)
selections = st.builds(
    Selection,
    st.sampled_from(["", "cores", "batch", "shape", "sideways"]),
    st.just(()),
    st.dictionaries(st.sampled_from(["cores", "batch", "dim seq", "dim gone"]), st.integers(0, 5)),
    st.sampled_from(["latency", "throughput", "batch-time", "efficiency", "beauty"]),
    st.sampled_from(["", "p50", "mean", "floor", "mode"]),
    st.sampled_from(["", "seq", "h", "gone"]),
)


@given(cells, cells, selections)
def test_every_page_of_every_run_can_be_made(one: list[CellResult], two: list[CellResult], chosen: Selection) -> None:
    old, new = build.run(*one), build.run(*two)
    for shown in (scaling(old, chosen), together(old, new, chosen), together(new, old)):
        check_rows(draw(figure_of(shown), 60, 12), 60, 12)
        for line in shown.lines:
            assert all(point_words(point, shown.selection.metric) for point in line.points)
        now, choices = shown.selection, shown.choices
        steps = (now.next_metric(), now.next_statistic(choices), now.next_sides(choices), now.next_dim(choices))
        for step in (*steps, *(now.next_fixed(choices, key) for key in choices.fixed)):
            scaling(old, step)


@given(cells, selections)
def test_settled_selection_is_stable(found: list[CellResult], chosen: Selection) -> None:
    run = build.run(*found)
    once = scaling(run, chosen)
    assert scaling(run, once.selection).selection == once.selection
