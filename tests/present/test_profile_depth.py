"""Layers over the depth of a model show the values of table and bars."""

from __future__ import annotations

import math
import re
from dataclasses import replace

import pytest

from tests.present.profile.sample_data import make_costs, make_performance, untold
from tuibench.core.cell import Estimate
from tuibench.core.profile import LAYER, PERFORMANCE, PerformanceProfile, Profile
from tuibench.core.reason import legacy_text
from tuibench.present.plots.depth import Depth
from tuibench.present.profile.performance_view import PerformanceView
from tuibench.present.profile.summary import (
    BASELINE,
    BYTES,
    COST_TYPES,
    FLOPS,
    INT8_TIME,
    PARAMETERS,
    POTENTIAL,
    POTENTIAL_SHARE,
    PRUNED,
    SHARES,
    SUMMARY_TYPES,
    VALUES,
    summarize,
)
from tuibench.present.reason import reason_words


def depth(profile: PerformanceProfile, kind: str, display: str = VALUES) -> Depth:
    return PerformanceView(Profile(PERFORMANCE, make_costs(), profile)).depth(kind, display)


def share_of(profile: PerformanceProfile, kind: str, op: str) -> float:
    found = depth(profile, kind, SHARES)
    ops = {layer.key: layer.op for layer in profile.layers}
    return math.fsum(value or 0.0 for key, value in zip(found.keys, found.values, strict=True) if ops[key] == op)


@pytest.mark.parametrize("kind", [BASELINE, POTENTIAL, POTENTIAL_SHARE, FLOPS, BYTES, PARAMETERS])
def test_depth_shares_have_same_base_as_bar_shares(kind: str) -> None:
    profile = make_performance(what_if=False)
    bar = next(bar for bar in summarize(profile, kind, SHARES).bars if bar.label == "Conv")
    told = re.search(r"[\d.]+(?= %)", bar.text)
    assert told is not None, bar.text
    assert share_of(profile, kind, "Conv") == pytest.approx(float(told[0]), abs=0.6)


def test_layer_shares_exclude_runtime_share() -> None:
    profile = make_performance()
    found = depth(profile, BASELINE, SHARES)
    others = math.fsum(row.ms.value or 0.0 for row in profile.layers if row.kind != LAYER)
    assert math.fsum(value or 0.0 for value in found.values) == pytest.approx(100 * (1 - others / profile.ms.value))  # type: ignore[operator]
    assert found.texts[0] != "unknown"


@pytest.mark.parametrize("kind", [POTENTIAL, POTENTIAL_SHARE])
def test_large_unattributed_time_leaves_layer_potential_unbounded(kind: str) -> None:
    empty = depth(untold(make_performance(what_if=False)), kind)
    assert not any(value is not None for value in empty.values)
    assert empty.empty == "89 % of the time is in no layer, so there is no bound"
    measured = depth(untold(make_performance(), 0.4), kind)
    assert dict(zip(measured.keys, measured.texts, strict=True))["out1"] == "unknown"
    assert measured.values[0] is not None


def test_axis_numbers_match_text() -> None:
    found = depth(make_performance(), POTENTIAL_SHARE)
    for value, text in zip(found.values, found.texts, strict=True):
        assert value is not None and value == pytest.approx(float(text.removesuffix(" %")), rel=0.05, abs=0.05)
    assert "%" in found.title


@pytest.mark.parametrize("kind", [BASELINE, POTENTIAL, POTENTIAL_SHARE, INT8_TIME, PRUNED])
def test_below_resolution_layers_have_no_time_and_figure_says_why(kind: str) -> None:
    below = replace(make_performance(), below_resolution=True)
    found = depth(below, kind)
    assert set(found.values) == {None} and found.empty
    assert found.empty == " ".join(summarize(below, kind).words)


def test_unmeasured_values_show_reason_in_place_of_figure() -> None:
    assert depth(make_performance(what_if=False), INT8_TIME).empty == "INT8 was not measured (--what-if int8)"
    assert "zeros" in depth(replace(make_performance(), zero_effect=None), PRUNED).empty


@pytest.mark.parametrize("kind", SUMMARY_TYPES)
def test_present_values_show_no_missing_reason(kind: str) -> None:
    profile = make_performance()
    assert profile.zero_effect is not None
    found = depth(profile, kind)
    assert found.empty == (reason_words(profile.zero_effect.sentence) if kind == PRUNED else "")
    assert found.empty == "" or set(found.values) == {None}


@pytest.mark.parametrize("kind", COST_TYPES)
def test_uncountable_costs_are_unknown_for_every_layer(kind: str) -> None:
    without = {"macs": None, "element_flops": None, "bytes_moved": None, "parameters": None}
    profile = with_layers(make_performance(), **without)
    assert depth(profile, kind).empty == f"{kind} are known of no layer"
    assert depth(profile, BASELINE).empty == ""


@pytest.mark.parametrize("kind", [kind for kind in SUMMARY_TYPES if kind not in (INT8_TIME, PRUNED)])
def test_no_timed_layer_shows_no_depth_figure(kind: str) -> None:
    profile = make_performance()
    for one in (with_layers(profile, ms=Estimate(None, reason=legacy_text("not seen"))), replace(profile, layers=())):
        found = depth(one, kind)
        assert (found.keys, found.empty) == ((), "no layer was timed")


@pytest.mark.parametrize("kind", SUMMARY_TYPES)
def test_bar_construction_note_is_not_missing_reason(kind: str) -> None:
    profile = make_performance()
    told = summarize(profile, kind)
    for one in (with_layers(profile, macs=None, element_flops=None, bytes_moved=None), replace(profile, layers=())):
        assert not told.bars or not any(words in depth(one, kind).empty for words in told.words)


def with_layers(profile: PerformanceProfile, **changes: object) -> PerformanceProfile:
    """Return the profile with other values in each layer of the model."""
    layers = [replace(one, **changes) if one.kind == LAYER else one for one in profile.layers]  # type: ignore[arg-type]
    return replace(profile, layers=tuple(layers))
