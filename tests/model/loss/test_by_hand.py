"""Every figure of a measured profile, recalculated with numpy and the definitions alone."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from onnx import helper

from tests.model.factory import F32, model, save, tensor, weight
from tests.model.loss.built import random
from tests.model.loss.test_child import measure, points_of
from tests.test_child import make_points

Floats = NDArray[np.float64]
FIRST, SECOND, BIAS = random(6, 8, seed=1), random(8, 5, seed=2), random(5, seed=3)
SAMPLES = random(3, 4, 6, seed=4)
"""Three samples of a batch of four."""


def network(first: NDArray[np.float32], second: NDArray[np.float32]) -> Floats:
    """Return all logits, sample by sample."""
    hidden = np.maximum(SAMPLES.astype(np.float64) @ first, 0)
    return np.asarray(hidden @ second + BIAS, np.float64).reshape(-1, 5)


def softmax(logits: Floats) -> Floats:
    powers = np.exp(logits)
    return np.asarray(powers / powers.sum(axis=1, keepdims=True), np.float64)


def smallest_gone(matrix: NDArray[np.float32], share: float) -> NDArray[np.float32]:
    order = np.argsort(np.abs(matrix), axis=None)[: round(share * matrix.size)]
    left = matrix.copy().reshape(-1)
    left[order] = 0
    return left.reshape(matrix.shape)


def as_int8(matrix: NDArray[np.float32]) -> NDArray[np.float32]:
    """Round to int8; the columns are the output channels of a product x @ matrix."""
    step = np.abs(matrix).max(axis=0) / 127
    return np.asarray(np.clip(np.round(matrix / step), -127, 127) * step, np.float32)


CHANGED = {
    ("h", "pruned 0.5"): (smallest_gone(FIRST, 0.5), SECOND),
    ("h", "pruned 0.95"): (smallest_gone(FIRST, 0.95), SECOND),
    ("h", "int8"): (as_int8(FIRST), SECOND),
    ("y", "pruned 0.8"): (FIRST, smallest_gone(SECOND, 0.8)),
    ("y", "int8"): (FIRST, as_int8(SECOND)),
}


def test_measured_profile_matches_its_definitions(tmp_path: Path) -> None:
    nodes = [
        helper.make_node("MatMul", ["x", "first"], ["h"]),
        helper.make_node("Relu", ["h"], ["r"]),
        helper.make_node("Gemm", ["r", "second", "bias"], ["y"]),
    ]
    held = [weight("first", FIRST), weight("second", SECOND), weight("bias", BIAS)]
    built = model(nodes, [tensor("x", F32, [4, 6])], [tensor("y", F32, [4, 5])], held)
    path = save(built, tmp_path / "m.onnx")
    np.savez(tmp_path / "own.npz", x=SAMPLES)
    (point,) = make_points(path, tmp_path, file=str(tmp_path / "own.npz"), distinct=3)
    found = {(node, one.level): one for node, one in points_of(measure(path, point, tmp_path, samples=3))}
    expected = network(FIRST, SECOND)
    chances = softmax(expected)
    for key, matrices in CHANGED.items():
        got, told = network(*matrices), found[key]
        assert told.samples == 3 and told.sqnr_db is not None and told.cosine is not None, os.fspath(path)
        assert told.sqnr_db == pytest.approx(
            10 * np.log10(np.sum(expected**2) / np.sum((expected - got) ** 2)), abs=0.01
        )
        angle = np.sum(expected * got) / np.sqrt(np.sum(expected**2) * np.sum(got**2))
        assert told.cosine == pytest.approx(angle, abs=1e-5)
        divergence = np.mean(np.sum(chances * np.log(chances / softmax(got)), axis=1))
        assert told.kl == pytest.approx(divergence, rel=1e-3, abs=1e-7)
        assert told.top1 == np.mean(expected.argmax(axis=1) == got.argmax(axis=1))
    assert len({found[key].top1 for key in CHANGED}) > 1, "some change must turn a class, or nothing is shown of it"
