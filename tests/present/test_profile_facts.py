"""Facts, cells and details of profiles as their pages show them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.present.profile.sample_data import make_costs, make_loss, make_performance, make_profile
from tuibench.core.cell import Estimate
from tuibench.core.profile import PERFORMANCE, CostProfile, LossProfile, Profile
from tuibench.core.reason import legacy_text
from tuibench.core.text import width_of
from tuibench.present.profile.loss import HARM
from tuibench.present.profile.page import ProfileHeading, heading_lines, view_of


def facts_of(profile: Profile | CostProfile | LossProfile) -> dict[str, str]:
    """Return the last fact of each label."""
    return {label: text for label, text, _ in view_of(profile).facts()}


def measured(**changes: object) -> Profile:
    performance = replace(make_performance(), **changes)  # type: ignore[arg-type]
    return replace(make_profile(), performance=performance)


def test_uncountable_model_costs_are_unknown_not_zero() -> None:
    nothing = replace(
        make_costs(), nodes=(), macs=0, element_flops=0, parameters=0, zeros=0, weight_bytes=0, activation_bytes=0,
        shapes_from=None, notes=(legacy_text("died by SIGSEGV"),),
    )  # fmt: skip
    facts = facts_of(nothing)
    assert facts["parameters"] == "unknown" and facts["at"].endswith("shapes from unknown")
    counted = facts_of(make_costs())
    assert "weights" in counted["parameters"] and "unknown" not in counted["at"]


def test_estimates_have_their_interval_and_small_values_show() -> None:
    said = [text for label, text, _ in view_of(make_profile()).facts() if label == "estimated"]
    assert said[0] == "2.79 ms/batch ±3.0 %, 1.71× (measured INT8)" and said[1].startswith("at best ")
    facts = facts_of(measured(processes=2, ms=Estimate(4.76, reason=legacy_text("2 of at least 3")), load_ms=5.0))
    assert facts["estimated"] == "at best 0.620 ms/batch, 7.68× (Amdahl bound)"
    assert facts["costs"] == "load 5.00 ms · peak 182 MB · at least 837 M FLOPs"


def test_below_resolution_attributes_no_time() -> None:
    assert "attributed" in facts_of(make_profile())["layers"]
    assert "attributed" not in facts_of(measured(below_resolution=True))["layers"]


@pytest.mark.parametrize("slower", [0.02, 0.005, 0.001])
def test_numbers_of_microseconds_fit_their_columns(slower: float) -> None:
    view = view_of(Profile(PERFORMANCE, make_costs(), make_performance(slower=slower)))
    for column in view.columns:
        if column.right:
            assert max(width_of(column.text(row)) for row in view.rows) <= column.width, column.key


def test_stopped_loss_profile_is_marked() -> None:
    assert ("stopped", "warn") in [(label, style) for label, _, style in view_of(stopped()).facts()]
    assert "stopped" not in facts_of(make_loss())


def stopped() -> LossProfile:
    return replace(make_loss(), complete=False)


def test_harm_comes_before_noise() -> None:
    loss = make_loss()
    first, *others = loss.layers
    gone = tuple(replace(each, sqnr_db=None, reason=legacy_text("became NaN"), harm=True) for each in first.points)
    view = view_of(replace(loss, layers=(replace(first, points=gone), *others)))
    assert f"leave unchanged first {first.weight} ({HARM} " in view.said("int8")[0]
    assert {label: text for label, text, _ in view.facts()}["int8"].startswith(f"{HARM} with 1 layer; average ")
    bars = view.summarize("int8", "values").bars
    assert bars[0].label == first.op and f"({HARM} with 1, 4 of 5 layers)" in bars[0].text, "MatMul has more noise"
    assert view.keys(view.sorts[0], False, "")[0] == first.id
    row = view.row(first.id)
    assert [column.text(row) for column in view.columns].count(HARM) == len(loss.levels) + 1, "the worst, too"
    depth = view.depth("int8", "% of total")
    assert depth.texts[0] == HARM and depth.values[0] is None and depth.title == "noise power at int8, % of total"


def test_unmeasured_layer_shows_no_invented_reason() -> None:
    loss = make_loss()
    view = view_of(replace(loss, complete=False, layers=(replace(loss.layers[0], points=()), *loss.layers[1:])))
    assert view.brief(view.row(loss.layers[0].id))[2][0].endswith("· not known")


def test_heading_leaves_unknown_parts_out_and_makes_foreign_text_safe() -> None:
    assert heading_lines(ProfileHeading()) == []
    assert heading_lines(ProfileHeading(id="k3f1")) == ["Profile: k3f1"]
    assert heading_lines(ProfileHeading("a\x1b[2J", model="m\n.onnx")) == ["Profile: a\\e[2J", "Model: m\\n.onnx"]
