"""Loss profile: rows and their order, layers to leave unchanged, unknown values, and marked proxies."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from tests.present.profile.sample_data import make_loss
from tuibench.core.profile import ALREADY_INT8, LEVELS, LayerLoss, LossPoint, LossProfile
from tuibench.core.reason import Reason, legacy_text
from tuibench.present.profile.loss import (
    LossRow,
    columns_at_width_80,
    decibels,
    loss_columns,
    loss_notes,
    loss_rows,
    loss_sentences,
    noise_of,
    sensitivities,
)
from tuibench.present.profile.loss_view import loss_detail
from tuibench.present.table import arranged, column_of


def layer(name: str, *points: LossPoint, **proxy: float | None) -> LayerLoss:
    weights = {level.replace("_", " "): db for level, db in proxy.items()}
    return LayerLoss(name, "Conv", name, name, (2, 2), 4, 1, weight_sqnr_db=weights, points=points)


def measured(*layers: LayerLoss) -> LossProfile:
    return replace(make_loss(), layers=layers, levels=("int8",))


def text(loss: LossProfile, row: LossRow, key: str) -> str:
    column = column_of(loss_columns(loss), key)
    assert column is not None
    return column.text(row)


def test_equal_outputs_have_no_noise_and_failures_have_no_number() -> None:
    same, failed, absent = layer("a", LossPoint("int8", None, 1.0)), layer("b", LossPoint("int8", None, None,
                                 reason=legacy_text("cannot be fed"))), layer("c")  # fmt: skip
    loss = measured(same, failed, absent)
    rows = loss_rows(loss)
    assert [row.worst for row in rows] == [0.0, None, None]
    assert [text(loss, row, "int8") for row in rows] == ["same", "–", "–"]
    assert text(loss, rows[1], "reason") == "cannot be fed" and text(loss, rows[2], "reason") == "unknown"
    assert loss_sentences(loss)[0] == "INT8: average noise 0.0 % over 1 of 3 layers; the outputs stay the same"


def test_harm_without_decibels_comes_first_and_is_in_no_average() -> None:
    gone = layer("gone", LossPoint("int8", None, None, reason=legacy_text("became NaN"), harm=True))
    loss = measured(layer("a", LossPoint("int8", 20.0, 0.9)), gone, layer("b", LossPoint("int8", 40.0, 0.9)))
    rows = arranged(loss_rows(loss), loss_columns(loss), "worst")
    assert [row.layer.id for row in rows] == ["gone", "a", "b"]
    assert (text(loss, rows[0], "int8"), text(loss, rows[0], "worst")) == ("harm", "harm")
    assert dict(loss_detail(loss, rows[0]))["INT8"] == "outputs harm (became NaN)"
    (found,) = sensitivities(loss)
    assert found.broken == ("gone",) and found.average == pytest.approx(0.055) and found.greatest == pytest.approx(0.1)
    first, noise, _ = loss_sentences(loss)[0].split("; ")
    assert first == "INT8: leave unchanged first gone (harm beyond dB: became NaN)"
    assert noise == "average noise 5.5 %, greatest 10 % over 2 of 3 layers"


def test_layer_detail_shows_weight_curve_and_share_zeroed_by_pruning() -> None:
    loss = make_loss(measured=False)
    curve = tuple((i / 20) ** 2 for i in range(21))
    (row, *_) = loss_rows(replace(loss, layers=(replace(loss.layers[0], quantiles=curve),)))
    found = dict(loss_detail(loss, row))
    shares = "5 % 0.00250, 25 % 0.0625, 50 % 0.250, 75 % 0.562, 90 % 0.810, 95 % 0.902, 100 % 1.00"
    assert found["|w| / greatest"] == shares
    words = "50 % up to 0.250, 80 % up to 0.640, 90 % up to 0.810, 95 % up to 0.902"
    assert found["pruning"] == f"zeroes about {words} of the greatest"
    only = dict(loss_detail(replace(loss, levels=("pruned 0.8", "int8")), row))
    assert only["pruning"] == "zeroes about 80 % up to 0.640 of the greatest"
    none = dict(loss_detail(loss, replace(row, layer=replace(row.layer, quantiles=()))))
    assert not {"pruning", "|w| / greatest"} & none.keys()


def test_unknown_level_has_a_reason_and_blames_no_layer() -> None:
    why = "no output holds floats"
    points = (LossPoint("int8", None, None, reason=legacy_text(why)),)
    unknown = measured(layer("a", *points), layer("b", *points))
    assert loss_sentences(unknown) == (f"INT8: unknown for all layers ({why})",)
    assert {row.worst for row in loss_rows(unknown)} == {None}
    mixed = measured(layer("a", *points), layer("b", replace(points[0], reason=legacy_text("another"))))
    assert loss_sentences(mixed) == (f"INT8: unknown for all layers ({why}, and 1 more reason)",)
    assert loss_sentences(measured(layer("a"))) == ("INT8: unknown for all layers (not measured)",)


def test_int8_weights_are_not_counted_as_quiet_layers_of_a_proxy() -> None:
    held = layer("held", LossPoint("int8", None, None, reason=ALREADY_INT8), pruned_0=20.0)
    loss = replace(measured(held, layer("a", int8=20.0)), kind="approximated")
    (found,) = sensitivities(loss)
    assert found.layers == 1 and found.average == pytest.approx(0.1)
    assert text(loss, loss_rows(loss)[0], "reason") == "already int8"
    assert dict(loss_detail(loss, loss_rows(loss)[0]))["INT8"] == "– (already int8)"
    assert loss_sentences(replace(loss, layers=(held,)))[0] == "INT8: unknown for all layers (already int8)"


def test_fewest_layers_with_half_of_the_noise_are_recommended() -> None:
    loud, others = layer("loud", LossPoint("int8", 10.0, 0.9)), [
        layer(f"quiet{i}", LossPoint("int8", 40.0, 1.0)) for i in range(5)
    ]  # fmt: skip
    (found,) = sensitivities(measured(*others, loud))
    assert found.excluded == ("loud",) and found.layers == 6
    assert found.excluded_share == pytest.approx(0.1 / (0.1 + 5e-4))
    assert found.average == pytest.approx((math.sqrt(0.1) + 5 * 0.01) / 6)
    assert "leave alone loud: 100 % of all noise" in loss_sentences(measured(*others, loud))[0]


def test_equal_layers_have_no_outlier() -> None:
    (found,) = sensitivities(measured(*(layer(str(i), LossPoint("int8", 20.0, 0.9)) for i in range(12))))
    assert found.excluded == () and found.excluded_share is None
    alike = measured(*(layer(str(i), LossPoint("int8", 20.0, 0.9)) for i in range(12)))
    assert "no small group of layers stands out" in loss_sentences(alike)[0]


def test_proxy_is_named_a_proxy_everywhere() -> None:
    loss = make_loss(measured=False)
    assert all("proxy" in sentence for sentence in loss_sentences(loss))
    assert not any("proxy" in sentence for sentence in loss_sentences(make_loss()))
    assert all("proxy" in column.hint for column in loss_columns(loss) if column.key in loss.levels)
    keys = {column.key for column in loss_columns(loss)}
    assert "cosine int8" not in keys and "cosine int8" in {column.key for column in loss_columns(make_loss())}
    shown = dict(loss_detail(loss, loss_rows(loss)[0]))
    assert shown["INT8"] == "weights 44.0 dB (proxy)"


def test_stopped_profile_names_its_missing_parts() -> None:
    assert "stopped before all layers" in loss_sentences(replace(make_loss(), complete=False))[-1]


def test_layers_without_outputs_come_first_and_none_count_as_quiet() -> None:
    loss = make_loss()
    first, second, *others = loss.layers
    nan = "outputs became NaN or infinite"
    gone = tuple(replace(point, sqnr_db=None, reason=legacy_text(nan), harm=True) for point in first.points)
    done = tuple(replace(point, sqnr_db=None, reason=ALREADY_INT8) for point in second.points)
    layers = (replace(first, points=gone), replace(second, points=done), *others)
    for words in loss_sentences(replace(loss, layers=layers))[: len(LEVELS)]:
        assert f": leave unchanged first {first.weight} (harm beyond dB: {nan}); average noise" in words
        assert "over 5 of 7 layers" in words
    proxy = make_loss(measured=False)
    strange = replace(
        proxy.layers[0], weight_sqnr_db=dict.fromkeys(LEVELS), reason=legacy_text("its weights are no numbers")
    )
    row, *_ = loss_rows(replace(proxy, layers=(strange, *proxy.layers[1:])))
    assert set(row.noise.values()) == {None} and row.worst is None


def test_levels_unknown_for_one_reason_share_one_sentence() -> None:
    why = "output 'y' of the unchanged model is NaN or infinite"
    points = tuple(LossPoint(level, None, None, reason=legacy_text(why)) for level in LEVELS)
    unknown = replace(measured(layer("a", *points)), levels=LEVELS)
    assert loss_sentences(unknown) == (f"unknown for all layers at every level ({why})",)
    held = (*points[:-1], replace(points[-1], reason=ALREADY_INT8))
    assert len(loss_sentences(replace(measured(layer("a", *held)), levels=LEVELS))) == len(LEVELS)


def test_layers_of_one_weight_name_are_told_apart_by_nodes() -> None:
    loud, quiet = layer("w", LossPoint("int8", 3.0, 0.9)), layer("w", LossPoint("int8", 40.0, 1.0))
    loss = measured(replace(loud, id="y/then/0"), replace(quiet, id="y/else/0"), layer("other"))
    assert "leave alone w (y/then/0): 100 % of the noise power that is known" in loss_sentences(loss)[0]


def test_layers_that_change_the_top_class_are_counted_for_classes_only() -> None:
    def turned(db: float, top1: float) -> LossPoint:
        return LossPoint("int8", db, 0.9, 0.1, top1)

    loss = measured(layer("a", turned(9, 0.5)), layer("b", turned(8, 0.0)), layer("c", turned(7, 1.0)))
    assert "; the top class changes in 2 layers; " in loss_sentences(loss)[0]
    assert "first class" not in loss_sentences(replace(loss, classes=False))[0]


@pytest.mark.parametrize("kind", ["measured", "approximated"])
def test_model_without_layers_says_so(kind: str) -> None:
    (said,) = loss_sentences(replace(measured(), kind=kind))
    assert said == "there is no layer with weights that could be changed"


def test_form_far_from_the_executed_model_limits_noise_claims() -> None:
    far = "the engine computes the model as it is 10 % away from the form in which layers are changed"
    assert loss_sentences(replace(make_loss(), float32_db=20.0))[-1].startswith(far)
    for near in (make_loss(), replace(make_loss(), float32_db=None)):
        assert not any("away from" in words for words in loss_sentences(near))


def test_unusual_layers_are_noted_by_name() -> None:
    packed, odd = "its weights are packed", "its weights contain NaN or infinity"
    reasons = {"a": Reason("weights_packed"), "b": legacy_text(odd), "c": Reason("weights_packed"), "d": None}
    layers = [replace(layer(name), reason=reason) for name, reason in reasons.items()]
    notes = loss_notes(replace(measured(*layers), notes=(legacy_text("one\x1b"),)))
    assert notes == ("one\\e", f"2 layers: {packed} (a, c)", f"1 layer: {odd} (b)")


def test_noise_is_that_of_outputs_if_measured_else_of_weights() -> None:
    one = layer("a", LossPoint("int8", 20.0, 0.9), int8=40.0)
    assert noise_of(measured(one), one, "int8") == pytest.approx(0.1)
    assert noise_of(replace(measured(one), kind="approximated"), one, "int8") == pytest.approx(0.01)


def test_kl_and_top1_need_outputs_that_look_like_classes() -> None:
    keys = {column.key for column in loss_columns(replace(make_loss(), classes=False))}
    assert not any(key.startswith(("kl", "top1")) for key in keys)
    assert text(make_loss(), loss_rows(make_loss())[0], "kl int8") == "0.0000158"


def test_rows_sort_by_any_level_and_are_found_by_text() -> None:
    loss = make_loss()
    columns = loss_columns(loss)
    worst = arranged(loss_rows(loss), columns, "worst")
    assert worst[0].layer.op == "MatMul" and worst[0].worst == pytest.approx(10 ** (-11 / 20))
    assert text(loss, worst[0], "pruned 0.95") == "11.0"
    assert arranged(loss_rows(loss), columns, "INT8")[0].layer.op == "MatMul"
    assert [row.number for row in arranged(loss_rows(loss), columns, "#", True)] == [7, 6, 5, 4, 3, 2, 1]
    assert {row.layer.op for row in arranged(loss_rows(loss), columns, "", text="gemm")} == {"Gemm"}
    assert columns_at_width_80(loss) == 9


def test_noise_close_to_the_signal_is_zero_decibels_without_a_sign() -> None:
    assert decibels(10 ** (0.01 / 20)) == "0.0" and decibels(10 ** (2.75 / 20)) == "-2.8"
    assert (decibels(0.0), decibels(None), decibels(math.inf)) == ("same", "–", "harm")
