"""The approximated profile: estimates from the weights alone."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import helper
from onnx.external_data_helper import convert_model_to_external_data

from tests.model.factory import F32, classifier, model, save, tensor, weight
from tests.model.loss.built import convolutions, linear, quantized, random
from tests.refusal import refused
from tuibench.core.errors import ModelError, UsageError
from tuibench.core.profile import ALREADY_INT8, LEVELS
from tuibench.model.loss.change import approximate
from tuibench.worker.bundle import Array


def test_quantiles_and_noise_of_a_weight_match_hand_calculation(tmp_path: Path) -> None:
    matrix = np.array([[0, -1, 2, 3, 4, 5, -6, 7, 8, 10]], np.float32)
    (layer,) = approximate(save(linear(matrix), tmp_path / "m.onnx"), LEVELS)
    assert (layer.id, layer.op, layer.name, layer.weight) == ("y", "MatMul", "product", "w")
    assert (layer.shape, layer.parameters, layer.zeros) == ((1, 10), 10, 1)
    assert len(layer.quantiles) == 21
    assert layer.quantiles[0] == 0 and layer.quantiles[20] == 1 and list(layer.quantiles) == sorted(layer.quantiles)
    whole = float(np.sum(matrix**2))
    pruned = 10 * math.log10(whole / (0 + 1 + 4 + 9 + 16))
    assert layer.weight_sqnr_db["pruned 0.5"] == pytest.approx(pruned)
    # One weight in each channel is the largest of its channel and loses nothing.
    assert set(layer.weight_sqnr_db) == set(LEVELS) and (layer.weight_sqnr_db["int8"] or 200) > 100


def test_rounding_loses_less_than_pruning_and_pruning_is_monotonic(tmp_path: Path) -> None:
    for layer in approximate(save(convolutions(), tmp_path / "m.onnx"), LEVELS):
        *pruned, int8 = (layer.weight_sqnr_db[level] or 0 for level in LEVELS)
        assert pruned == sorted(pruned, reverse=True) and int8 > 30 > pruned[0]


def test_weight_without_possible_loss_has_none(tmp_path: Path) -> None:
    (zeros,) = approximate(save(linear(np.zeros((3, 2), np.float32)), tmp_path / "z.onnx"), LEVELS)
    assert zeros.zeros == 6 and set(zeros.weight_sqnr_db.values()) == {None} and not any(zeros.quantiles)
    (held,) = approximate(save(quantized()[0], tmp_path / "q.onnx"), LEVELS)
    assert "int8" not in held.weight_sqnr_db, "what INT8 would lose is not known of weights that are INT8"
    assert [(point.level, point.reason) for point in held.points] == [("int8", ALREADY_INT8)]
    assert held.weight_sqnr_db["pruned 0.9"] is not None
    assert held.zeros == 2, "what stands for zero, not what is stored as one"


def test_weights_with_nan_or_infinity_have_a_reason(tmp_path: Path) -> None:
    matrix = random(3, 2)
    matrix[0, 0] = np.nan
    (layer,) = approximate(save(linear(matrix), tmp_path / "m.onnx"), LEVELS)
    assert layer.reason and layer.quantiles == ()


def test_model_without_weights_has_no_layers(tmp_path: Path) -> None:
    assert approximate(save(classifier(), tmp_path / "m.onnx"), LEVELS) == []


def test_external_weights_are_read_and_checked(tmp_path: Path) -> None:
    inside = approximate(save(linear(random(30, 20)), tmp_path / "m.onnx"), LEVELS)
    built = linear(random(30, 20))
    convert_model_to_external_data(built, location="m.bin", size_threshold=0)
    onnx.save_model(built, str(tmp_path / "e.onnx"))
    assert approximate(tmp_path / "e.onnx", LEVELS) == inside
    (tmp_path / "m.bin").write_bytes(b"short")
    with refused(ModelError, "external_data_too_short", path=str(tmp_path / "m.bin")):
        approximate(tmp_path / "e.onnx", LEVELS)
    (tmp_path / "m.bin").unlink()
    with refused(ModelError, "path_missing"):
        approximate(tmp_path / "e.onnx", LEVELS)


def test_damaged_weights_and_other_files_are_refused(tmp_path: Path) -> None:
    built = linear(random(3, 2))
    built.graph.initializer[0].raw_data = b"123"
    with refused(ModelError, "weight_damaged", name="w"):
        approximate(save(built, tmp_path / "m.onnx"), LEVELS)
    (tmp_path / "m.ort").write_bytes(b"\x18\0\0\0ORTM" + bytes(64))
    with refused(ModelError, "ort_without_graph"):
        approximate(tmp_path / "m.ort", LEVELS)
    with refused(UsageError, "unknown_level", level="int4", names=list(LEVELS)):
        approximate(save(linear(random(3, 2)), tmp_path / "m.onnx"), ("int4",))


@pytest.mark.parametrize("scales", [np.ones(3, np.float32), np.ones((2, 1), np.float32)])
def test_scales_that_fit_no_axis_are_a_reason(tmp_path: Path, scales: Array) -> None:
    nodes = [
        helper.make_node("DequantizeLinear", ["q", "s"], ["w"]),
        helper.make_node("MatMul", ["x", "w"], ["y"]),
    ]
    held = [weight("q", np.zeros((2, 2), np.int8)), weight("s", scales)]
    built = model(nodes, [tensor("x", F32, ["b", 2])], [tensor("y", F32, None)], held)
    (layer,) = approximate(save(built, tmp_path / "m.onnx"), LEVELS)
    assert layer.reason and not layer.weight_sqnr_db
