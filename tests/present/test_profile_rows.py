"""Layers selected for a page, a table or a file: filtered, reversed, or one layer with all details."""

from __future__ import annotations

import csv
import io
from dataclasses import replace

import pytest

from tests.present.profile.sample_data import make_costs, make_loss, make_performance, make_profile
from tests.refusal import refused
from tuibench.core.profile import LOSS
from tuibench.core.text import width_of
from tuibench.present.error.words import hint_words
from tuibench.present.profile.export import profile_csv, profile_markdown
from tuibench.present.profile.page import ProfileHeading, profile_lines, view_of
from tuibench.present.profile.shown import Shown
from tuibench.present.profile.view import UnknownLayer

HEADING = ProfileHeading("baseline")
WHOLE = Shown(top=None)


def test_layer_is_found_by_number_node_and_weight() -> None:
    view, costs = view_of(make_profile()), make_costs()
    fused = next(row for row in view.rows if len(row.layer.nodes) > 1 and row.layer.weight)
    names = [str(fused.number), fused.layer.weight, fused.layer.weight.upper(), *fused.layer.nodes]
    names += [node.name for node in costs.nodes if node.id in fused.layer.nodes]
    for name in names:
        found = view.selected(Shown(layer=name))
        assert fused.layer.key in [row.layer.key for row in found], name
    assert len(view.selected(Shown(layer=str(fused.number)))) == 1


def test_all_layers_of_a_shared_weight_are_shown() -> None:
    loss = make_loss()
    twice = replace(loss.layers[1], id="again", weight=loss.layers[0].weight)
    shared = replace(loss, layers=(loss.layers[0], twice, *loss.layers[2:]))
    found = view_of(shared).selected(Shown(layer=loss.layers[0].weight))
    assert {row.layer.id for row in found} == {loss.layers[0].id, "again"}
    lines = profile_lines(view_of(shared), HEADING, Shown(layer=loss.layers[0].weight, top=1))
    assert lines[-1] == "1 more rows (--top N)"


def test_unknown_layer_is_refused_with_similar_names() -> None:
    view = view_of(make_profile())
    weight = next(row.weight for row in view.rows if row.weight)
    with refused(UnknownLayer, "unknown_layer", given=weight[:-1]) as caught:
        view.selected(Shown(layer=weight[:-1]))
    assert weight in caught.value.reason.fields["similar"]
    with refused(UnknownLayer, "unknown_layer", given="999", similar=[]) as caught:
        view_of(make_costs()).selected(Shown(layer="999"))
    assert "give its number" in hint_words(caught.value)
    with refused(UnknownLayer, "unknown_layer", given="None"):
        view.selected(Shown(layer="None"))


@pytest.mark.parametrize("width", [40, 80, 160])
def test_one_selected_layer_replaces_the_page_with_its_details(width: int) -> None:
    weight = make_loss().layers[0].weight
    shown = Shown(width, ascii_only=True, layer=weight)
    for lines, words in (
        (profile_lines(view_of(make_profile()), HEADING, shown), ("time", "Amdahl bound", "made of")),
        (profile_lines(view_of(make_costs()), HEADING, shown), ("MACs", "activations")),
        (profile_lines(view_of(make_loss()), HEADING, shown), ("pruned 0.5", "INT8")),
    ):
        text = "\n".join(lines)
        assert weight in text and all(f"\n  {word}" in text for word in words)
        assert "Layer results" not in text and text.isascii()
        assert width < 80 or max(map(width_of, lines)) <= width


def test_bars_show_the_selection_or_a_reason() -> None:
    profile = make_profile()
    assert "FLOPs by operator:" in profile_lines(view_of(profile), HEADING, Shown(summary="FLOPs"))
    unmeasured = replace(profile, performance=make_performance(what_if=False))
    lines = profile_lines(view_of(unmeasured), HEADING, Shown(summary="INT8 ms"))
    assert lines[lines.index("INT8 ms by operator:") + 1] == "INT8 was not measured (--what-if int8)"
    plain, shares = (
        profile_lines(view_of(make_costs()), HEADING, Shown(display=one)) for one in ("values", "% of total")
    )
    assert [line for line in plain if line not in shares] and any(line.endswith(" %") for line in shares)
    assert "Params by operator:" in profile_lines(view_of(make_loss()), HEADING, Shown(summary="params"))


def parsed(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_files_hold_the_selection() -> None:
    profile, costs, loss = make_profile(), make_costs(), make_loss()
    rows = parsed(profile_csv(view_of(profile), Shown(top=2, sort="ms", text="conv")))
    assert [row["op"] for row in rows] == ["Conv", "Conv"] and float(rows[0]["ms"]) >= float(rows[1]["ms"])
    turned = parsed(profile_csv(view_of(profile), Shown(top=None, sort="#", reverse=True)))
    numbers = [int(row["number"]) for row in turned if row["number"]]
    assert numbers == sorted(numbers, reverse=True) and len(turned) == len(parsed(profile_csv(view_of(profile))))
    assert {row["weight"] for row in parsed(profile_csv(view_of(loss), replace(WHOLE, layer="1")))} == {
        loss.layers[0].weight
    }
    assert len(parsed(profile_csv(view_of(costs), Shown(top=3)))) == 3
    whole = profile_markdown(view_of(profile), HEADING)
    one = profile_markdown(view_of(profile), HEADING, replace(WHOLE, layer="1"))
    assert "## Layer 1: " in one and "## Layer results" not in one and "## Layer results" in whole
    assert "| operator | layers | FLOPs by operator |\n" in profile_markdown(
        view_of(profile), HEADING, replace(WHOLE, summary="FLOPs", display="values")
    )
    assert "## Layer 1: " in profile_markdown(view_of(costs), HEADING, replace(WHOLE, layer="1"))
    assert "## Layer 1: " in profile_markdown(view_of(loss), HEADING, replace(WHOLE, layer="1"))


def test_approximated_profile_is_named_in_every_format() -> None:
    loss = make_loss(measured=False)
    rows = parsed(profile_csv(view_of(loss)))
    assert len(rows) == len(loss.layers) * len(loss.levels)
    assert any(row["weight_sqnr_db_proxy"] for row in rows) and {row["sqnr_db"] for row in rows} == {""}
    assert profile_markdown(view_of(loss), HEADING).startswith(
        "# Loss profile (approximated: a proxy, nothing was run)"
    )
    assert profile_csv(view_of(make_profile(kind=LOSS))) == profile_csv(view_of(make_loss()))


def test_table_title_names_the_filter() -> None:
    for lines in (
        profile_lines(view_of(make_profile()), HEADING, Shown(text="conv")),
        profile_lines(view_of(make_loss()), HEADING, Shown(text="conv")),
    ):
        assert "Layer results with 'conv'" in lines
    assert "Layer results (theoretical) with 'conv'" in profile_lines(
        view_of(make_costs()), HEADING, Shown(text="conv")
    )
