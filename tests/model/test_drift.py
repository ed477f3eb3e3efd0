"""The difference between the outputs of two models, from arrays and from real files."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

from tests.engines import make
from tests.test_child import call
from tuibench.model.drift import measure_drift
from tuibench.worker.bundle import write_bundle

X = np.array([[3.0, 4.0], [0.0, 5.0]])


def drift(base: Any, new: Any, *, is_generated: bool = False) -> dict[str, Any]:
    return measure_drift(lambda _: {"y": base}, lambda _: {"y": new}, [{}, {}], is_generated=is_generated)


def test_equal_outputs_have_no_noise() -> None:
    found = drift(X, X)
    assert (found["max_abs"], found["sqnr_db"], found["samples"]) == (0.0, None, 2)
    assert found["cosine"] == pytest.approx(1.0)


def test_noise_is_compared_with_the_power_of_the_base() -> None:
    found = drift(X, 1.1 * X)
    assert found["sqnr_db"] == pytest.approx(20.0)
    assert (found["max_abs"], found["cosine"]) == (pytest.approx(0.5), pytest.approx(1.0))


def test_opposite_outputs_have_a_negative_cosine() -> None:
    assert drift(X, -X)["cosine"] == pytest.approx(-1.0)


def test_values_that_are_no_finite_floats_are_counted_where_they_differ() -> None:
    spoiled = X.copy()
    spoiled[0, 0] = math.nan
    found = drift(X, spoiled)
    assert (found["max_abs"], found["sqnr_db"], found["differing"]) == (0.0, None, 2)
    assert drift(spoiled, spoiled)["differing"] == 0, "NaN on both sides"
    endless = drift(X, np.full_like(X, math.inf))
    assert (endless["max_abs"], endless["differing"]) == (None, 8)
    assert drift(np.array([1, 2]), np.array([1, 3]))["differing"] == 2
    assert drift(X, X[:1])["differing"] == 8


def test_top_class_is_compared_on_own_data_only() -> None:
    swapped = np.array([[4.0, 3.0], [0.0, 5.0]])
    found = drift(X, swapped)
    assert (found["same_top"], found["rows"]) == (2, 4)
    assert drift(X, swapped, is_generated=True)["same_top"] is None
    assert drift(X[None], X[None])["same_top"] is None, "no classes in three axes"


def test_child_runs_both_models_on_each_sample(tmp_path: Path) -> None:
    case = make.mlp()
    other = onnx.ModelProto()
    other.CopyFrom(case.model)
    weight = other.graph.initializer[0]
    weight.CopyFrom(onnx.numpy_helper.from_array(1.01 * onnx.numpy_helper.to_array(weight), weight.name))
    onnx.save(other, tmp_path / "other.onnx")
    write_bundle(tmp_path / "inputs.npz", case.feeds)
    request: dict[str, Any] = {
        "base": str(case.save(tmp_path)),
        "bundle": str(tmp_path / "inputs.npz"),
        "run_dir": str(tmp_path),
    }
    request |= {"is_generated": True}
    found = call("drift", request | {"new": str(tmp_path / "other.onnx")}).result
    assert found["samples"] == len(case.feeds) and 30 < found["sqnr_db"] < 50
    same = call("drift", request | {"new": request["base"]}).result
    assert same["max_abs"] == 0.0
