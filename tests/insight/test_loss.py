"""Sensitivities: what noise is, which layers make most of it, and that a proxy is called one."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

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
    assert loss_sentences(loss)[0] == "INT8: average noise 0.0 % over 1 of 3 layers; that changes nothing"


def test_harm_that_no_decibels_tell_comes_first_and_is_in_no_average() -> None:
    gone = layer("gone", LossPoint("int8", None, None, reason="became NaN", harm=True))
    loss = measured(layer("a", LossPoint("int8", 20.0, 0.9)), gone, layer("b", LossPoint("int8", 40.0, 0.9)))
    rows = arrange_losses(loss_rows(loss), loss_columns(loss))
    assert [row.layer.id for row in rows] == ["gone", "a", "b"]
    assert (text(loss, rows[0], "int8"), text(loss, rows[0], "worst")) == ("harm", "harm")
    assert dict(loss_detail(loss, rows[0]))["INT8"] == "outputs harm (became NaN)"
    (found,) = sensitivities(loss)
    assert found.broken == ("gone",) and found.average == pytest.approx(0.055) and found.greatest == pytest.approx(0.1)
    said = "INT8: leave alone first gone (harm that no dB tells); average noise 5.5 %, greatest 10 % over 2 of 3 layers"
    assert loss_sentences(loss)[0].startswith(said)


def test_a_level_of_which_nothing_is_known_says_why_and_blames_no_layer() -> None:
    why = "no output holds floats"
    points = (LossPoint("int8", None, None, reason=why),)
    unknown = measured(layer("a", *points), layer("b", *points))
    assert loss_sentences(unknown) == (f"INT8: not known of any layer ({why})",)
    assert {row.worst for row in loss_rows(unknown)} == {None}
    mixed = measured(layer("a", *points), layer("b", replace(points[0], reason="another")))
    assert loss_sentences(mixed) == (f"INT8: not known of any layer ({why}, and 1 more reason)",)
    assert loss_sentences(measured(layer("a"))) == ("INT8: not known of any layer (not measured)",)


def test_weights_that_are_int8_already_are_no_quiet_layers_of_a_proxy() -> None:
    held = layer("held", LossPoint("int8", None, None, reason=ALREADY_INT8), pruned_0=20.0)
    loss = replace(measured(held, layer("a", int8=20.0)), kind="approximated")
    (found,) = sensitivities(loss)
    assert found.layers == 1 and found.average == pytest.approx(0.1)
    assert text(loss, loss_rows(loss)[0], "reason") == ALREADY_INT8
    assert dict(loss_detail(loss, loss_rows(loss)[0]))["INT8"] == f"– ({ALREADY_INT8})"
    assert loss_sentences(replace(loss, layers=(held,)))[0] == f"INT8: not known of any layer ({ALREADY_INT8})"


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


def with_db(loss: LossProfile, place: int, db: float | None, **changes: Any) -> LossProfile:
    """The same with another figure of one layer."""
    points = tuple(replace(point, sqnr_db=db, **changes) for point in loss.layers[place].points)
    layers = list(loss.layers)
    layers[place] = replace(layers[place], points=points)
    return replace(loss, layers=tuple(layers))


def test_two_loss_profiles_are_matched_by_node_and_sorted_by_what_changed_most() -> None:
    old, new = make_loss(), with_db(make_loss(), 2, 3.0)
    changed = new.layers[2]
    found = compare_loss(old, new, ("kernel differs",))
    assert found.pairs[0].id == changed.id and found.words == ("kernel differs",) and not found.unlike
    assert found.pairs[0].delta == pytest.approx(10 ** (-3 / 20) - 10 ** (-44 / 20))
    assert [pair.id for pair in found.pairs[1:]] == [each.id for each in old.layers if each.id != changed.id]
    back = compare_loss(new, old)
    assert back.pairs[0].id == changed.id and back.pairs[0].delta == -(found.pairs[0].delta or 0.0)
    other = compare_loss(old, make_loss(24))
    assert len(other.pairs) == 14 and other.pairs[-1].old is None and other.pairs[-1].delta is None
    assert other.words == ("models: 7 of 14 layers with weights are in both",)


def test_harm_on_both_sides_is_no_difference_and_on_one_the_greatest() -> None:
    one = with_db(with_db(make_loss(), 1, None, reason="nan", harm=True), 2, 3.0)
    assert {pair.delta for pair in compare_loss(one, one).pairs} == {0.0}
    first, second, *_ = compare_loss(make_loss(), one).pairs
    assert (first.id, first.delta) == (one.layers[1].id, math.inf) and second.id == one.layers[2].id


@pytest.mark.parametrize(
    ("changes", "words", "advice"),
    [
        ({"kind": "approximated", "data": "", "samples": 0}, "kind measured / approximated", "--approximate"),
        ({"samples": 8, "data": "8 samples from a.npz"}, "samples 2 / 8", "--samples"),
        ({"data": "2 samples from a.npz"}, "data 2 samples of", "--inputs"),
    ],
)
def test_noises_of_different_things_have_no_difference_and_both_are_listed(
    changes: dict[str, Any], words: str, advice: str
) -> None:
    old, new = make_loss(), replace(with_db(make_loss(), 2, 3.0), **changes)
    found = compare_loss(old, new)
    assert {pair.delta for pair in found.pairs} == {None} and advice in found.unlike
    assert any(word.startswith(words) for word in found.words)
    assert [pair.id for pair in found.pairs] == [each.id for each in old.layers], "in the order of the model"
    assert all(None not in values for pair in found.pairs for values in pair.noise.values())


def test_what_was_measured_at_another_size_has_no_difference() -> None:
    found = compare_loss(make_loss(), make_loss(), (), ("batch 1", "batch 8"))
    assert {pair.delta for pair in found.pairs} == {None} and found.words == ("sizes batch 1 / batch 8",)
    proxies = make_loss(measured=False)
    assert not compare_loss(proxies, proxies, (), ("batch 1", "batch 8")).unlike, "weights have no batch"


def test_levels_of_one_side_are_listed_and_make_no_difference() -> None:
    old, new = make_loss(), replace(with_db(make_loss(), 2, 3.0), levels=("int8", "pruned 0.99"))
    found = compare_loss(old, new)
    assert found.levels == (*LEVELS, "pruned 0.99") and found.shared == ("int8",) and not found.unlike
    assert found.pairs[0].id == new.layers[2].id and found.pairs[0].noise["pruned 0.5"][1] is None


def test_a_layer_of_the_same_name_and_another_operator_is_another_layer() -> None:
    old, new = make_loss(), make_loss()
    others = replace(new, layers=tuple(replace(each, op=f"{each.op}Other") for each in new.layers))
    found = compare_loss(old, others)
    assert len(found.pairs) == 14 and {pair.delta for pair in found.pairs} == {None}
    assert found.words == ("models: no layer with weights is in both: these are two models",)


def test_what_left_no_outputs_is_named_before_all_noise_and_what_has_no_number_is_no_quiet_layer() -> None:
    loss = make_loss()
    first, second, *others = loss.layers
    nan = "outputs became NaN or infinite"
    gone = tuple(replace(point, sqnr_db=None, reason=nan, harm=True) for point in first.points)
    done = tuple(replace(point, sqnr_db=None, reason=ALREADY_INT8) for point in second.points)
    layers = (replace(first, points=gone), replace(second, points=done), *others)
    for words in loss_sentences(replace(loss, layers=layers))[: len(LEVELS)]:
        assert f": leave alone first {first.weight} (harm that no dB tells); average noise" in words
        assert "over 5 of 7 layers" in words
    proxy = make_loss(measured=False)
    strange = replace(proxy.layers[0], weight_sqnr_db=dict.fromkeys(LEVELS), reason="its weights are no numbers")
    row, *_ = loss_rows(replace(proxy, layers=(strange, *proxy.layers[1:])))
    assert set(row.noise.values()) == {None} and row.worst is None
