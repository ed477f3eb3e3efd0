"""Loss profile layers as rows: the source of their noise, and their order."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from tests.present.profile.stock import make_loss
from tuibench.core.profile import LayerLoss, LossPoint, LossProfile
from tuibench.present.column import arranged, column_of
from tuibench.present.profile.loss import LossRow, decibels, loss_columns, loss_rows, narrow_of, noise_of


def layer(name: str, *points: LossPoint, **proxy: float | None) -> LayerLoss:
    weights = {level.replace("_", " "): db for level, db in proxy.items()}
    return LayerLoss(name, "Conv", name, name, (2, 2), 4, 1, weight_sqnr_db=weights, points=points)


def measured(*layers: LayerLoss) -> LossProfile:
    return replace(make_loss(), layers=layers, levels=("int8",))


def text(loss: LossProfile, row: LossRow, key: str) -> str:
    column = column_of(loss_columns(loss), key)
    assert column is not None
    return column.text(row)


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
    assert narrow_of(loss) == 9


def test_noise_close_to_the_signal_is_zero_decibels_without_a_sign() -> None:
    assert decibels(10 ** (0.01 / 20)) == "0.0" and decibels(10 ** (2.75 / 20)) == "-2.8"
    assert (decibels(0.0), decibels(None), decibels(math.inf)) == ("same", "–", "harm")
