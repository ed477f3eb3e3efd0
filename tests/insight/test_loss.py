"""Sensitivities: what noise is, which layers make most of it, and that a proxy is called one."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from tests.insight.stock import make_loss
from tuibench.core.profile import ALREADY_INT8, LEVELS, LayerLoss, LossPoint, LossProfile
from tuibench.insight.column import column_of
from tuibench.insight.detail import loss_detail
from tuibench.insight.loss import (
    LossRow,
    arrange_losses,
    loss_columns,
    loss_rows,
    loss_sentences,
    narrow_of,
    noise_of,
    sensitivities,
)
from tuibench.insight.loss_comparison import compare_loss


def layer(name: str, *points: LossPoint, **proxy: float | None) -> LayerLoss:
    weights = {level.replace("_", " "): db for level, db in proxy.items()}
    return LayerLoss(name, "Conv", name, name, (2, 2), 4, 1, weight_sqnr_db=weights, points=points)


def measured(*layers: LayerLoss) -> LossProfile:
    return replace(make_loss(), layers=layers, levels=("int8",))


def text(loss: LossProfile, row: LossRow, key: str) -> str:
    column = column_of(loss_columns(loss), key)
    assert column is not None
    return column.text(row)


def test_noise_is_that_of_the_outputs_where_they_were_measured_and_of_the_weights_else() -> None:
    one = layer("a", LossPoint("int8", 20.0, 0.9), int8=40.0)
    assert noise_of(measured(one), one, "int8") == pytest.approx(0.1)
    assert noise_of(replace(measured(one), kind="approximated"), one, "int8") == pytest.approx(0.01)


def test_equal_outputs_have_no_noise_and_what_failed_has_no_number() -> None:
    same, failed, absent = layer("a", LossPoint("int8", None, 1.0)), layer("b", LossPoint("int8", None, None,
                                 reason="cannot be fed")), layer("c")  # fmt: skip
    loss = measured(same, failed, absent)
    rows = loss_rows(loss)
    assert [row.worst for row in rows] == [0.0, None, None]
    assert [text(loss, row, "int8") for row in rows] == ["same", "–", "–"]
    assert text(loss, rows[1], "reason") == "cannot be fed" and text(loss, rows[2], "reason") == "unknown"
    said = "INT8: average noise 0.0 % over 1 layer: it changes nothing; no outputs to compare with b changed"
    assert loss_sentences(loss)[0].startswith(said)


def test_the_fewest_layers_that_make_half_of_the_noise_are_to_be_left_alone() -> None:
    loud, others = layer("loud", LossPoint("int8", 10.0, 0.9)), [
        layer(f"quiet{i}", LossPoint("int8", 40.0, 1.0)) for i in range(5)
    ]  # fmt: skip
    (found,) = sensitivities(measured(*others, loud))
    assert found.spared == ("loud",) and found.layers == 6
    assert found.spared_share == pytest.approx(0.1 / (0.1 + 5e-4))
    assert found.average == pytest.approx((math.sqrt(0.1) + 5 * 0.01) / 6)
    assert "leave alone loud: 100 % of all noise" in loss_sentences(measured(*others, loud))[0]


def test_where_all_are_alike_none_stands_out() -> None:
    (found,) = sensitivities(measured(*(layer(str(i), LossPoint("int8", 20.0, 0.9)) for i in range(12))))
    assert found.spared == () and found.spared_share is None
    assert "no few layers stand out" in loss_sentences(measured(*(layer(str(i), LossPoint("int8", 20.0, 0.9))
                                                                  for i in range(12))))[0]  # fmt: skip


def test_a_proxy_is_called_a_proxy_everywhere() -> None:
    loss = make_loss(measured=False)
    assert all("proxy" in sentence for sentence in loss_sentences(loss))
    assert not any("proxy" in sentence for sentence in loss_sentences(make_loss()))
    assert all("proxy" in column.hint for column in loss_columns(loss) if column.key in loss.levels)
    keys = {column.key for column in loss_columns(loss)}
    assert "cosine int8" not in keys and "cosine int8" in {column.key for column in loss_columns(make_loss())}
    shown = dict(loss_detail(loss, loss_rows(loss)[0]))
    assert shown["INT8"] == "weights 44.0 dB (proxy)"


def test_what_was_stopped_says_what_is_missing() -> None:
    assert "stopped before all layers" in loss_sentences(replace(make_loss(), complete=False))[-1]


def test_kl_and_top1_only_where_outputs_look_like_classes() -> None:
    keys = {column.key for column in loss_columns(replace(make_loss(), classes=False))}
    assert not any(key.startswith(("kl", "top1")) for key in keys)
    assert text(make_loss(), loss_rows(make_loss())[0], "kl int8") == "0.0000158"


def test_rows_sort_by_any_level_and_are_found_by_text() -> None:
    loss = make_loss()
    columns = loss_columns(loss)
    worst = arrange_losses(loss_rows(loss), columns)
    assert worst[0].layer.op == "MatMul" and worst[0].worst == pytest.approx(10 ** (-11 / 20))
    assert text(loss, worst[0], "pruned 0.95") == "11.0"
    assert arrange_losses(loss_rows(loss), columns, "INT8")[0].layer.op == "MatMul"
    assert [row.number for row in arrange_losses(loss_rows(loss), columns, "#", True)] == [7, 6, 5, 4, 3, 2, 1]
    assert {row.layer.op for row in arrange_losses(loss_rows(loss), columns, text="gemm")} == {"Gemm"}
    assert narrow_of(loss) == 9


def test_two_loss_profiles_are_matched_by_node_and_sorted_by_what_changed_most() -> None:
    old, new = make_loss(), make_loss()
    changed = replace(new.layers[2], points=tuple(replace(point, sqnr_db=3.0) for point in new.layers[2].points))
    new = replace(new, layers=(*new.layers[:2], changed, *new.layers[3:]), samples=8)
    found = compare_loss(old, new, ("kernel differs",))
    assert found.pairs[0].id == changed.id and found.words == ("samples 2 / 8", "kernel differs")
    assert found.pairs[0].delta == pytest.approx(10 ** (-3 / 20) - 10 ** (-44 / 20))
    assert [pair.id for pair in found.pairs[1:]] == [each.id for each in old.layers if each.id != changed.id]
    back = compare_loss(new, replace(old, samples=8))
    assert back.pairs[0].id == changed.id and back.pairs[0].delta == -(found.pairs[0].delta or 0.0)
    other = compare_loss(old, make_loss(24))
    assert len(other.pairs) == 14 and other.pairs[-1].old is None and other.pairs[-1].delta is None
    assert other.words == ("models: 7 of 14 layers with weights are in both",)
    proxy = compare_loss(old, make_loss(measured=False))
    assert proxy.words[0] == "kind measured / approximated"


def test_what_left_no_outputs_is_named_before_all_noise_and_what_has_no_number_is_no_quiet_layer() -> None:
    loss = make_loss()
    first, second, *others = loss.layers
    gone = tuple(replace(point, sqnr_db=None, reason="outputs became NaN or infinite") for point in first.points)
    done = tuple(replace(point, sqnr_db=None, reason=ALREADY_INT8) for point in second.points)
    layers = (replace(first, points=gone), replace(second, points=done), *others)
    for words in loss_sentences(replace(loss, layers=layers))[: len(LEVELS)]:
        assert f"no outputs to compare with {first.weight} changed: leave those alone first" in words
    proxy = make_loss(measured=False)
    strange = replace(proxy.layers[0], weight_sqnr_db=dict.fromkeys(LEVELS), reason="its weights are no numbers")
    row, *_ = loss_rows(replace(proxy, layers=(strange, *proxy.layers[1:])))
    assert set(row.noise.values()) == {None} and row.worst is None
