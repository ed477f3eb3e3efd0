"""Layer rows: values, reasons for missing ones, sort orders, searches and cumulative columns."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.present.profile.sample_data import make_costs, make_performance, make_profile, untold
from tuibench.core.cell import Estimate
from tuibench.core.profile import LayerTime, NodeCost
from tuibench.core.reason import legacy_text
from tuibench.core.text import show, width_of
from tuibench.present.profile.costs import COST_COLUMNS, CostRow, cost_detail, cost_rows
from tuibench.present.profile.estimate import BOUND
from tuibench.present.profile.layers import BELOW_RESOLUTION, COLUMNS, LayerRow, fused_words, layer_rows
from tuibench.present.profile.performance_view import layer_detail
from tuibench.present.profile.view import summed
from tuibench.present.table import arranged, column_of

KEYS = [column.key for column in COLUMNS]


def arrange(rows: Sequence[LayerRow], sort: str = "ms", reverse: bool = False, text: str = "") -> list[LayerRow]:
    return summed(arranged(rows, COLUMNS, sort, reverse, text))


def rows_of(n: int = 12) -> tuple[LayerRow, ...]:
    return layer_rows(make_performance(n), make_costs(n))


def cell(row: LayerRow, key: str) -> str:
    column = column_of(COLUMNS, key)
    assert column is not None
    return column.text(row)


def row(op: str, rows: tuple[LayerRow, ...] | None = None) -> LayerRow:
    return next(each for each in rows or rows_of() if each.layer.op == op)


def test_rows_have_measured_and_derived_values() -> None:
    first = rows_of()[0]
    assert (first.number, first.name, first.ms) == (1, "/stage0/block0/Conv", 1.31)
    assert first.share == pytest.approx(1.31 / 4.76) and first.is_heavy
    assert first.gflops == pytest.approx((2 * 118_013_952 + 1_605_632) / 1.31 / 1e6)
    assert first.roof_share == pytest.approx(((2 * 118_013_952 + 1_605_632) / 400e6) / 1.31)
    assert first.int8_ms == pytest.approx(1.31 * 0.52)
    assert [cell(first, key) for key in KEYS[:8]] == [
        *("*1", "Conv", "stage0.block0.conv.weight", "1.31", "28", "–", "181", "45")
    ]
    assert cell(first, "shapes") == "1x64x56x56 64x3x7x7 > 1x64x112x112"


def test_unknown_values_are_marked_and_inapplicable_ones_are_not() -> None:
    unknown = row("com.example.Rank")
    assert (cell(unknown, "gflops"), cell(unknown, "flops"), cell(unknown, "bytes")) == ("unknown",) * 3
    layout = row("layout (runtime)")
    assert layout.number is None and layout.ms == 0.05
    assert [cell(layout, key) for key in ("number", "weight", "gflops", "flops", "roof")] == [
        *("–", "(runtime)", "–", "–", "–")
    ]
    assert cell(row("residual"), "weight") == "(not attributed)"
    folded = row("Shape")
    assert folded.ms is None and folded.reason == "done before the model runs" and folded.number == 13
    assert cell(folded, "ms") == "–" and cell(folded, "weight") == "(not in the run)"


def test_only_layers_are_marked_as_heavy() -> None:
    profile = make_performance()
    most = tuple(replace(layer, ms=Estimate(40.0)) if layer.kind == "residual" else layer for layer in profile.layers)
    rows = layer_rows(replace(profile, layers=most))
    assert not any(each.is_heavy for each in rows) and (row("residual", rows).share or 0.0) > 0.8


def test_layer_above_its_roof_is_at_about_all_of_it() -> None:
    profile = make_performance()
    fast = replace(profile.layers[0], roof_ms=4.0)
    assert cell(layer_rows(replace(profile, layers=(fast,)))[0], "roof") == "~100"


def test_layer_that_cannot_be_isolated_is_unknown_in_int8() -> None:
    depthwise = rows_of()[4]
    assert cell(depthwise, "int8") == "unknown" and cell(row("MaxPool"), "int8") == "–"
    assert ("INT8, measured alone", "– (its group count has no INT8 kernel)") in layer_detail(
        make_performance(), depthwise, make_costs()
    )


def test_rows_below_the_resolution_have_no_times_or_derived_values() -> None:
    profile = replace(make_performance(), below_resolution=True)
    for each in layer_rows(profile, make_costs()):
        assert {each.ms, each.share, each.gflops, each.roof_share, each.int8_ms} == {None}
        assert each.reason in (BELOW_RESOLUTION, "done before the model runs")
        assert cell(each, "half") == "–"


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_invalid_number_is_no_time(value: float) -> None:
    layer = replace(make_performance().layers[0], ms=Estimate(value))
    assert layer_rows(replace(make_performance(), layers=(layer,)))[0].ms is None


def test_cumulative_follows_the_shown_order_and_ends_at_the_total() -> None:
    for key in KEYS:
        for reverse in (False, True):
            shown = arrange(rows_of(), key, reverse)
            known = [each.cumulative for each in shown if each.cumulative is not None]
            assert known == sorted(known) and known[-1] == pytest.approx(1.0), key
            assert len(shown) == len(rows_of())
    heaviest = arrange(rows_of())
    assert heaviest[0].cumulative == heaviest[0].share
    assert heaviest[1].cumulative == pytest.approx((1.31 + 1.05) / 4.76)


def test_numbers_sort_descending_words_ascending_and_missing_last() -> None:
    assert [each.ms for each in arrange(rows_of())][:3] == [1.31, 1.05, 1.04]
    assert [each.ms for each in arrange(rows_of(), "ms", True)][:2] == [0.02, 0.02]
    assert arrange(rows_of(), "ms", True)[-1].ms is None
    assert [each.number for each in arrange(rows_of(), "#")][:3] == [1, 2, 3]
    assert arrange(rows_of(), "OP")[0].layer.op == "com.example.Rank"
    assert arrange(rows_of(), "op", True)[0].layer.op == "Transpose"
    assert [each.layer.key for each in arrange(rows_of(), "never")] == [each.layer.key for each in rows_of()]


@pytest.mark.parametrize(
    ("text", "ops"),
    [
        ("gemm", {"Gemm"}),
        ("block7.MATMUL", {"MatMul"}),
        ("out3_add", {"Conv"}),
        ("/stage0/block6/", {"Transpose"}),
        ("reorderinput", {"layout (runtime)"}),
        ("conv block5", {"Conv"}),
        ("fusedconv block1", set()),
        ("  ", None),
    ],
)
def test_search_covers_operator_weight_nodes_and_kernels(text: str, ops: set[str] | None) -> None:
    shown = arrange(rows_of(), text=text)
    assert len(shown) == 16 if ops is None else {each.layer.op for each in shown} == ops
    if text == "conv block5":
        assert shown[0].cumulative == shown[0].share, "cumulative over what is shown"


def test_five_thousand_layers_are_looked_up_once_each(monkeypatch: pytest.MonkeyPatch) -> None:
    """Work is linear in the number of layers: every id is requested a fixed number of times."""
    profile = make_profile(5000)
    assert profile.performance is not None
    asked = 0

    class Counted(str):
        __slots__ = ()

        def __hash__(self) -> int:
            nonlocal asked
            asked += 1
            return super().__hash__()

    layers = tuple(
        replace(layer, nodes=tuple(Counted(id_) for id_ in layer.nodes)) for layer in profile.performance.layers
    )
    rows = layer_rows(replace(profile.performance, layers=layers), profile.costs)
    assert len(rows) == 5004 and asked <= 4 * len(profile.costs.nodes)
    assert len(arrange(rows, "op", text="conv")) > 2000


def test_theory_has_a_row_for_each_node_of_the_file() -> None:
    costs = make_costs()
    rows = cost_rows(costs)
    assert [each.node.id for each in rows] == [node.id for node in costs.nodes]
    assert math.fsum(each.share or 0.0 for each in rows) == pytest.approx(1.0)
    heaviest = summed(arranged(rows, COST_COLUMNS, "flops"))
    assert heaviest[0].node.op == "Conv" and heaviest[-1].node.op == "com.example.Rank"
    assert heaviest[-1].share is None and text_of(heaviest[-1], "why") == "no rule for this operator"
    assert {each.node.op for each in arranged(rows, COST_COLUMNS, "", text="gemm")} == {"Gemm"}


def test_repeated_node_counts_each_run_and_unknown_repetition_once() -> None:
    node = make_costs().nodes[0]
    (thrice, endless) = cost_rows(
        replace(make_costs(), nodes=(replace(node, times=3), replace(node, id="b", times=None)))
    )
    assert thrice.macs == endless.macs == node.macs, "of all times that it runs, counted already"
    assert text_of(thrice, "macs") == "118 M" and text_of(endless, "macs") == "118 M+"
    assert "how often is not known" in text_of(endless, "why")
    assert ("runs", "3 times") in cost_detail(thrice)


def test_bytes_column_matches_operations_per_byte() -> None:
    node = NodeCost("a", 0, "MatMul", "", "w", macs=384, weight_bytes=64, activation_bytes=768, times=6)
    table = NodeCost("b", 1, "Gather", "", "t", weight_bytes=1 << 20, activation_bytes=64)
    done = NodeCost("c", 2, "Transpose", "", "w", weight_bytes=64, times=0)
    rows = cost_rows(replace(make_costs(), nodes=(node, table, done)))
    assert [row.bytes_moved for row in rows] == [768 + 6 * 64, 2 * 64, 0]
    assert rows[0].node.intensity == pytest.approx(768 / (768 + 6 * 64))


def text_of(row: CostRow, key: str) -> str:
    column = column_of(COST_COLUMNS, key)
    assert column is not None
    return column.text(row)


def test_bound_is_missing_with_much_unattributed_time_and_for_the_rest() -> None:
    much = untold(make_performance(), 0.4)
    told = dict(layer_detail(much, layer_rows(much, make_costs())[3], make_costs()))
    assert told[BOUND] == "– (7.8 % of the time is in no layer, so there is no bound)"
    assert BOUND not in dict(layer_detail(make_performance(), row("residual"), make_costs()))


def test_single_layer_names_every_fused_node() -> None:
    shown = layer_detail(make_performance(), rows_of()[3], make_costs())
    assert [value for label, value in shown if label == "made of"] == [
        *("Conv /stage0/block3/Conv", "Add /out3_add", "Relu /out3_relu")
    ]
    nodes = {node.id: node for node in make_costs().nodes}
    assert fused_words(rows_of()[3], nodes) == "Conv + Add + Relu"
    assert fused_words(rows_of()[3], {}) == "out3 + out3_add + out3_relu"
    assert ("Amdahl bound", "the model 1.28× as fast at most, if it took no time") in shown


def test_single_layer_lists_all_nodes_or_counts_the_hidden_ones() -> None:
    fused = replace(rows_of()[3].layer, nodes=tuple(f"n{i}" for i in range(176)))
    many = replace(rows_of()[3], layer=replace(fused, kernels=tuple(f"k{i}" for i in range(50))))
    shown = layer_detail(make_performance(), many)
    assert [value for label, value in shown if label == "made of"] == [f"n{i}" for i in range(176)]
    assert "k49)" in dict(shown)["kernel"]
    some = [value for label, value in layer_detail(make_performance(), many, most=40) if label == "made of"]
    assert len(some) == 41 and some[-1] == "136 more nodes: show --layer and CSV list all"


def test_row_name_and_cost_ignore_the_order_of_its_nodes() -> None:
    profile, costs = make_performance(), make_costs()
    turned = tuple(replace(layer, nodes=layer.nodes[::-1]) for layer in profile.layers)
    named = [[row.cost.op if row.cost else "" for row in layer_rows(one, costs)] for one in (
        profile, replace(profile, layers=turned)
    )]  # fmt: skip
    assert named[0] == named[1] and named[0][3] == "Conv"
    names = [[row.name for row in layer_rows(replace(profile, layers=one), costs)] for one in (profile.layers, turned)]
    assert names[0] == names[1] and names[0][3] == "/stage0/block3/Conv"


@given(st.text(max_size=60), st.text(max_size=60))
def test_names_reach_cells_escaped(name: str, other: str) -> None:
    bad = f"\x1b[2J{name}\n"
    layer = LayerTime(
        bad, "layer", bad, (bad, other), (bad,), bad, bad, Estimate(1.0, reason=legacy_text(bad)), roof=bad
    )
    cost = NodeCost(bad, 0, bad, bad, bad, why=legacy_text(bad))
    costs = replace(make_costs(), nodes=(cost,))
    profile = replace(make_performance(), layers=(layer,))
    (shown,) = layer_rows(profile, costs)
    (theory,) = cost_rows(costs)
    texts = [column.text(shown) for column in COLUMNS] + [column.text(theory) for column in COST_COLUMNS]
    texts += [value for _, value in (*layer_detail(profile, shown, costs), *cost_detail(theory))]
    # Python counts joiners and unusual spaces as not printable; they are shown unchanged.
    assert all(show(text, len(text)) == text and width_of(text) >= 0 for text in texts)


def test_columns_have_distinct_keys_and_titles() -> None:
    for columns in (COLUMNS, COST_COLUMNS):
        names = [name.casefold() for column in columns for name in {column.key.casefold(), column.title.casefold()}]
        assert len(names) == len(set(names))
    assert all(dataclasses.is_dataclass(column) for column in COLUMNS)
