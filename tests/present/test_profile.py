"""Profiles as text, Markdown and CSV: the selection, complete rows, and safe names."""

from __future__ import annotations

import csv
import io
import os
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.present.profile.sample_data import disturbed, make_costs, make_loss, make_performance, make_profile
from tests.refusal import refused
from tuibench.core.cell import Estimate
from tuibench.core.errors import UsageError
from tuibench.core.profile import INT8, LOSS, LayerLoss, LayerTime, LossPoint, LossProfile, NodeCost, Profile
from tuibench.core.reason import Reason, because, legacy_text
from tuibench.core.text import show, width_of
from tuibench.present.error.words import hint_words, message_words
from tuibench.present.plots.selection import scaled
from tuibench.present.profile.costs import cost_rows
from tuibench.present.profile.export import profile_csv, profile_markdown
from tuibench.present.profile.layers import COLUMNS, layer_rows
from tuibench.present.profile.page import ProfileHeading, check_sort, profile_lines, view_of
from tuibench.present.profile.pairs import profile_comparison_lines
from tuibench.present.profile.performance_view import PerformanceView, layer_detail
from tuibench.present.profile.shown import Shown
from tuibench.present.profile.view import UnknownLayer

GOLDENS = Path(__file__).resolve().parent.parent / "goldens" / "profiles"
HEADING = ProfileHeading("baseline", "k3f1", "cnn.onnx", "2026-11-18T21:00:00+00:00", "before the change")
OTHER = ProfileHeading("after", "m9q2", "cnn.onnx", "2026-11-19T09:00:00+00:00")


def faster() -> Profile:
    """Return the same model with its convolutions in half the time."""
    profile = make_performance()
    layers = tuple(
        replace(layer, ms=scaled(layer.ms, 0.5)) if layer.op == "Conv" else layer for layer in profile.layers
    )
    return replace(make_profile(), performance=replace(profile, layers=layers, ms=Estimate(2.875, 2.85, 2.9, 3)))


def below() -> Profile:
    return replace(make_profile(), performance=replace(make_performance(), below_resolution=True, ms=Estimate(0.0046)))


PAGES = {
    "performance": lambda: profile_lines(view_of(make_profile()), HEADING),
    "performance-ascii": lambda: profile_lines(
        view_of(make_profile()), HEADING, Shown(ascii_only=True, sort="%", top=5)
    ),
    "performance-wide": lambda: profile_lines(view_of(make_profile()), HEADING, Shown(160, sort="op", text="conv")),
    "performance-disturbed": lambda: profile_lines(
        view_of(replace(make_profile(), performance=disturbed(make_performance(what_if=False)))), HEADING, Shown(top=3)
    ),
    "performance-below": lambda: profile_lines(view_of(below()), HEADING, Shown(top=3)),
    "costs": lambda: profile_lines(view_of(make_costs()), HEADING),
    "loss": lambda: profile_lines(view_of(make_loss()), HEADING),
    "approximated": lambda: profile_lines(view_of(make_loss(measured=False)), HEADING, Shown(top=3)),
    "comparison": lambda: profile_comparison_lines(make_profile(), faster(), (HEADING, OTHER), top=8),
    "comparison-loss": lambda: profile_comparison_lines(
        make_profile(kind=LOSS), make_profile(24, LOSS), (HEADING, OTHER), top=9
    ),
    "markdown": lambda: profile_markdown(view_of(make_profile()), HEADING).splitlines(),
    "markdown-loss": lambda: profile_markdown(view_of(make_profile(kind=LOSS)), HEADING).splitlines(),
}


@pytest.mark.parametrize("name", PAGES)
def test_pages_show_the_selected_view(name: str) -> None:
    lines = PAGES[name]()
    seen, path = "\n".join(lines) + "\n", GOLDENS / f"{name}.txt"
    if os.environ.get("UPDATE_GOLDENS") == "1":
        assert not os.environ.get("CI"), "pages are kept by somebody who has looked at them"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(seen, encoding="utf-8")
    assert seen == path.read_text(encoding="utf-8")
    width = 160 if name.endswith("wide") else 80
    assert name.startswith("markdown") or max(map(width_of, lines)) <= width


def test_each_text_states_its_convention_and_names_its_methods() -> None:
    for lines in (PAGES["performance"](), PAGES["costs"](), PAGES["markdown"]()):
        assert "FLOPs = 2 × MACs" in " ".join("\n".join(lines).split())
    text = "\n".join(PAGES["performance"]())
    assert "Estimate by measured INT8" in text and "Estimate by Amdahl bound" in text
    assert "theoretical" in PAGES["costs"]()[0] and "proxy" in PAGES["approximated"]()[0]
    proxy = Profile(LOSS, make_costs(), loss=make_loss(measured=False))
    legend = profile_markdown(view_of(proxy), HEADING).partition("## Layer results")[2]
    assert "dB: SQNR of the weights against themselves changed (proxy)" in legend
    assert "weight_sqnr_db_proxy" in profile_csv(view_of(proxy))


def test_tables_count_their_hidden_rows() -> None:
    assert "11 more rows (--top N)" in profile_lines(view_of(make_profile()), HEADING, Shown(top=5))
    assert not any("more rows" in line for line in profile_lines(view_of(make_profile()), HEADING, Shown(top=None)))
    assert "No layer matches that text" in profile_lines(view_of(make_profile()), HEADING, Shown(text="nowhere"))
    assert "- 4804 more rows (CSV has all)" in profile_markdown(view_of(make_profile(5000)), HEADING)


def test_profile_without_measurements_says_so() -> None:
    empty = Profile("performance", make_costs())
    assert profile_lines(view_of(empty), HEADING) == profile_lines(view_of(empty.costs), HEADING)
    assert profile_markdown(view_of(empty), HEADING) == profile_markdown(view_of(empty.costs), HEADING)
    mixed = profile_comparison_lines(make_profile(), make_profile(kind=LOSS), (HEADING, OTHER))
    assert mixed[-1].startswith("One is a performance profile")


def parsed(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def compared(old: Profile, new: Profile) -> list[str]:
    return profile_comparison_lines(old, new, (HEADING, OTHER), top=None)


def test_uncounted_model_shows_no_parameters_or_shapes() -> None:
    nothing = replace(
        make_costs(), nodes=(), parameters=0, weight_bytes=0, shapes_from=None, notes=(legacy_text("died"),)
    )
    told = list(view_of(nothing).model_lines())
    assert "Parameters: unknown" in told and "Shapes from: unknown" in told
    bare = list(view_of(replace(nothing, shapes_from=Reason("traced"))).model_lines())
    assert "Parameters: 0 (shared ones once), 0 B" in bare and "Shapes from: one run without optimization" in bare


def test_difference_without_an_interval_is_not_clear() -> None:
    profile = make_performance()
    alone = tuple(replace(layer, ms=Estimate(layer.ms.value, reason=layer.ms.reason)) for layer in profile.layers)
    lines = compared(replace(make_profile(), performance=replace(profile, layers=alone)), faster())
    rows = [line for line in lines if " 0.500" in line or (" 1.000" in line and not line.startswith("residual"))]
    assert len(rows) > 10 and all(line.endswith("?") for line in rows)
    assert not next(line for line in lines if line.startswith("Shape")).endswith("?"), "it takes no time on either side"
    assert "overlap; ? no interval" in " ".join(" ".join(lines).split())
    assert not any(line.endswith("?") for line in lines if line.startswith("residual")), "what is left never has one"
    assert "?" not in " ".join(compared(make_profile(), faster()))


def budgeted(loss: LossProfile, worst: int) -> Profile:
    """Return a profile with INT8 first, whose other levels are known only for the worst layers."""
    levels = (INT8, *(level for level in loss.levels if level != INT8))
    layers = tuple(
        layer if place < worst else replace(layer, points=tuple(one for one in layer.points if one.level == INT8))
        for place, layer in enumerate(loss.layers)
    )
    return Profile(LOSS, make_costs(), loss=replace(loss, levels=levels, layers=layers))


def test_level_known_for_all_layers_is_shown_and_others_are_named() -> None:
    profile = budgeted(make_loss(), 2)
    lines = compared(profile, profile)
    head = next(line for line in lines if line.startswith("op "))
    assert head.split()[2:] == ["INT8", "old", "new", "0.9", "old", "new", "0.95", "old", "new"]
    assert lines[-1] == "Levels not shown: 0.5, 0.8"
    assert profile.loss is not None
    known = replace(profile.loss.layers[3], points=make_loss().layers[3].points[:1] + profile.loss.layers[3].points)
    more = replace(profile.loss, layers=(*profile.loss.layers[:3], known, *profile.loss.layers[4:]))
    lines = compared(replace(profile, loss=more), replace(profile, loss=more))
    assert "INT8 old" in " ".join(lines) and " 0.5 old" in " ".join(lines), "it is known of three layers"
    few = replace(profile.loss, levels=(INT8, "pruned 0.5"))
    assert not any("not shown" in line for line in compared(replace(profile, loss=few), replace(profile, loss=few)))


def test_csv_has_every_row_with_the_profile_numbers() -> None:
    rows = parsed(profile_csv(view_of(make_profile())))
    assert len(rows) == 16 and tuple(rows[0]) == PerformanceView.csv_columns
    for row, layer in zip(rows, layer_rows(make_performance(), make_costs()), strict=True):
        assert row["ms"] == ("" if layer.ms is None else f"{layer.ms:.4f}") or float(row["ms"]) == layer.ms
        assert row["macs"] == ("" if layer.layer.macs is None else str(layer.layer.macs))
        assert row["nodes"].split() == list(layer.layer.nodes)
    assert float(rows[0]["gflop_per_s"]) == pytest.approx(181.4, rel=1e-3)
    assert rows[4]["int8_reason"] == "its group count has no INT8 kernel" and rows[4]["int8_ms"] == ""
    assert rows[11]["flops"] == "" and rows[14]["reason"] == "done before the model runs"
    assert {row[key] for row in parsed(profile_csv(view_of(below()))) for key in ("ms", "ms_low", "ms_high")} == {""}


F64 = "its numbers are f64, in which no peak was measured"


def test_layer_above_its_roof_reaches_it_in_every_format() -> None:
    measured = make_performance()
    first, second, *others = measured.layers
    beating = replace(first, roof_ms=3.1 * (first.ms.value or 0.0))
    unknown = replace(second, roof_ms=None, roof="", roof_reason=because("no_peak_of_precision", precision="f64"))
    profile = replace(make_profile(), performance=replace(measured, layers=(beating, unknown, *others)))
    rows = parsed(profile_csv(view_of(profile)))
    assert float(rows[0]["roof_share"]) == 1.0
    assert (rows[1]["roof_share"], rows[1]["roof_reason"]) == ("", F64)
    assert profile.performance is not None
    reached, missing = layer_rows(profile.performance, profile.costs)[:2]
    assert next(column.text(reached) for column in COLUMNS if column.key == "roof") == "~100"
    assert dict(layer_detail(profile.performance, missing, profile.costs))["roof"] == f"– ({F64})"


def test_csv_has_all_nodes_of_a_row_with_long_names() -> None:
    nodes = tuple(f"/features/features.{i}/conv/onnx::Conv_{i}_DequantizeLinear" for i in range(373))
    performance = make_performance()
    layers = (replace(performance.layers[0], nodes=nodes, kernels=nodes), *performance.layers[1:])
    row = parsed(profile_csv(view_of(replace(make_profile(), performance=replace(performance, layers=layers)))))[0]
    assert tuple(row["nodes"].split()) == nodes == tuple(row["kernels"].split())


def test_csv_of_theory_and_losses_has_their_columns() -> None:
    rows = parsed(profile_csv(view_of(make_costs())))
    assert [row["id"] for row in rows] == [row.node.id for row in cost_rows(make_costs())]
    assert rows[0]["flop_per_byte"] and rows[-2]["unknown_because"] == "no rule for this operator"
    losses = parsed(profile_csv(view_of(make_profile(kind=LOSS))))
    assert len(losses) == 7 * 5 and losses[0]["sqnr_db"] == "50.0000" and losses[0]["weight_sqnr_db_proxy"] == "40.0000"
    curve = [float(text) for name, text in losses[0].items() if name.startswith("weight_quantile_")]
    assert curve == [i / 20 for i in range(21)] and losses[0]["weight_quantile_95"].startswith("0.95")
    assert {row["level"] for row in losses} == set(make_loss().levels)


HOSTILE = st.text(max_size=30) | st.sampled_from(
    ["=cmd|' /C calc'!A0", "\x1b]0;owned\x07", "| a | b |", "<script>", "[x](http://e)", "\u202egnp.exe", "+1", "a\nb"]
)


@settings(max_examples=40)
@given(HOSTILE, HOSTILE, st.sampled_from([40, 80, 160]), st.booleans())
def test_names_are_safe_in_terminal_spreadsheet_and_markup(name: str, other: str, width: int, ascii_only: bool) -> None:
    layer = LayerTime(name, "layer", name, (name, other), (other,), other, name, Estimate(1.0, 0.9, 1.1, 3), roof=other)
    cost = NodeCost(name, 0, name, other, name, why=legacy_text(other))
    costs = replace(
        make_costs(), nodes=(cost,), notes=(legacy_text(name),), shapes_from=legacy_text(other), dims={name: 3}
    )
    measured = replace(
        make_performance(),
        layers=(layer,),
        engine=name,
        isa=(other,),
        notes=(legacy_text(name),),
        dims={other: 1},
        precision=name,
    )
    points = (LossPoint(name, None, None, reason=legacy_text(other)),)
    changed = LayerLoss(name, name, other, name, (1,), 1, 0, points=points)
    loss = replace(make_loss(), layers=(changed,), data=name, levels=(name,), notes=(legacy_text(other),))
    heading = ProfileHeading(name, other, name, other, name)
    one, two = Profile("performance", costs, measured), Profile("loss", costs, loss=loss)
    lines, page = [], Shown(width, ascii_only)
    for shown in (page, replace(page, text=other), replace(page, layer=name)):
        lines += profile_lines(view_of(one), heading, shown)
        lines += profile_lines(view_of(costs), heading, shown)
        lines += profile_lines(view_of(loss), heading, shown)
        lines += [
            title for kind in (one, two) for title in profile_markdown(view_of(kind), heading, shown).splitlines()
        ]
    with pytest.raises(UnknownLayer) as caught:
        profile_lines(view_of(costs), heading, Shown(layer=f"{name} {other} nowhere"))
    lines += [message_words(caught.value), hint_words(caught.value)]
    for profile in (one, two):
        lines += profile_comparison_lines(profile, profile, (heading, heading), ascii_only=ascii_only, width=width)
        markdown = profile_markdown(view_of(profile), heading)
        lines += markdown.splitlines()
        assert "<script" not in markdown and "[x](" not in markdown
        for row in csv.reader(io.StringIO(profile_csv(view_of(profile)))):
            assert not any(cell.lstrip().startswith(("=", "+", "@")) for cell in row)
            assert not any(cell.startswith("-") and not cell[1:2].isdigit() for cell in row)
    assert [show(line, 10_000) for line in lines] == lines
    assert not ascii_only or all(
        line.isascii() for line in profile_lines(view_of(one), heading, Shown(ascii_only=True))
    )


@pytest.mark.parametrize("column", ["worst", "pruned 0.5", "int8", "cosine int8", "kl pruned 0.9", "params"])
def test_loss_profile_sorts_by_each_of_its_columns(column: str) -> None:
    check_sort("loss", column)
    with refused(UsageError, "unknown_column", given="sqnr"):
        check_sort("loss", "sqnr")
