"""Times with zeros that the engine pretended: bars, lines and names of summary types."""

from __future__ import annotations

from dataclasses import replace

from tests.present.profile.sample_data import make_performance, make_profile
from tuibench.core.cell import Estimate
from tuibench.core.profile import HANDED, PERFORMANCE, Profile, PrunedPoint
from tuibench.core.reason import Reason
from tuibench.core.record import from_plain, to_plain
from tuibench.present.profile.layers import layer_rows
from tuibench.present.profile.page import settle
from tuibench.present.profile.performance_view import PerformanceView
from tuibench.present.profile.pruned import part_words, pruned_words
from tuibench.present.profile.shown import Shown
from tuibench.present.profile.summary import PRUNED_TYPES, summarize

DENSE = PrunedPoint(0.0, Estimate(4.0), {"Conv": 3.0, "Relu": 1.0}, 100.0)
HALF = PrunedPoint(0.5, Estimate(None, reason=Reason("one_process")))
MOST = PrunedPoint(0.9, Estimate(1.0), {"Conv": 0.25, "Relu": 0.75}, 2500.0)


def view() -> PerformanceView:
    profile = make_profile()
    measured = replace(make_performance(), pruned=(DENSE, HALF, MOST))
    return PerformanceView(Profile(PERFORMANCE, profile.costs, performance=measured))


def test_each_share_has_its_time_and_speedup() -> None:
    lines = pruned_words(view().profile)
    assert lines[0] == "dense: 4.00 ms, compiled in 0.1 s"
    assert lines[1] == "50 % zeros: unknown: measured in one process"
    assert lines[2] == "90 % zeros: 1.00 ms, 4.0× as fast, compiled in 2.5 s"
    assert f"Pruned: {lines[2]}" in list(view().model_lines())


def test_types_are_those_that_were_measured() -> None:
    kinds = [kind for kind in view().kinds if kind in PRUNED_TYPES]
    assert kinds == ["pruned 0.00 ms", "pruned 0.50 ms", "pruned 0.90 ms"]
    assert not set(PRUNED_TYPES) & set(PerformanceView(make_profile()).kinds)


def test_bars_of_a_share_are_its_operators() -> None:
    found = view().summarize("pruned 0.90 ms", "values")
    assert [(bar.label, bar.text) for bar in found.bars] == [("Relu", "0.750 ms"), ("Conv", "0.250 ms")]
    missing = summarize(view().profile, "pruned 0.95 ms")
    assert not missing.bars and missing.words
    assert view().depth("pruned 0.90 ms", "values").empty.startswith("known by operator only")


def test_short_names_of_a_share_are_accepted() -> None:
    for typed in ("0.9", "pruned 0.9", "Pruned 0.90 ms", "pruned-0.90-ms"):
        assert settle(PERFORMANCE, Shown(summary=typed)).summary == "pruned 0.90 ms"


def part(zeros: float, ms: float | None, operator: str = "", layer: str = "") -> PrunedPoint:
    return PrunedPoint(zeros, Estimate(ms, reason=Reason("one_process")), operator=operator, layer=layer, part_ms=ms)


def test_zeros_in_a_part_have_a_line_of_their_own() -> None:
    shown = view().profile
    layer = next(layer for layer in shown.layers if layer.nodes and layer.weight)
    node, name = layer.nodes[0], f"{layer.op} {layer.weight}"
    points = [part(0.0, 3.0, "Conv"), part(0.5, 4.0, "Conv"), part(0.9, 1.5, "Conv"), part(0.0, 2.0, layer=node)]
    profile = replace(shown, pruned=(*shown.pruned, *points, part(0.9, None, layer=node)))
    lines = list(PerformanceView(Profile(PERFORMANCE, make_profile().costs, performance=profile)).model_lines())
    assert "Pruned, only Conv: dense 3.00 ms; with zeros: 50 % 4.00 ms, 90 % 1.50 ms; at best 2.0× as fast" in lines
    assert f"Pruned, only {name}: dense 2.00 ms; with zeros: 90 % – (measured in one process)" in lines
    assert pruned_words(profile) == pruned_words(shown)
    assert [one for one, _ in part_words(profile, layer)] == [name]


def test_points_survive_json() -> None:
    profile = view().profile
    assert from_plain(type(profile), to_plain(profile)).pruned == (DENSE, HALF, MOST)


def test_layer_left_to_the_engine_inside_is_marked() -> None:
    profile = view().profile
    first = profile.layers[0]
    handed = replace(profile, layers=(replace(first, kernel_op=HANDED), *profile.layers[1:]))
    assert [row.op for row in layer_rows(handed)][:2] == [f"{first.op} ORT", profile.layers[1].op]
