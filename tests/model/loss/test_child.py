"""The loss profile as its callers see it: child tasks on inputs from `prepare`, from files or random."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import helper

from tests.model.factory import F32, model, save, tensor, weight
from tests.model.loss.built import convolutions, linear, random
from tests.refusal import ChildError
from tests.test_child import Answer, call, make_points, prepare
from tuibench.core.errors import ExitCode
from tuibench.core.model import Point
from tuibench.core.profile import LEVELS, LayerLoss, LossPoint
from tuibench.core.profile_facts import LossFacts, assemble_loss, worst_layers
from tuibench.core.reason import Failure, Reason, because, error_text
from tuibench.core.record import from_plain, to_plain
from tuibench.core.settings.model_token import resolve_model
from tuibench.engines.onnxruntime import OnnxRuntimeEngine
from tuibench.engines.protocol import LoadSettings
from tuibench.model.loss import sweep

CPU = min(os.sched_getaffinity(0))


def measure(path: str, point: Point, run_dir: Path, **asked: Any) -> Answer:
    request = {"path": path, "point": to_plain(point), "run_dir": str(run_dir), "threads": 1, "cpus": [CPU], **asked}
    return call("loss", request)


def points_of(answer: Answer) -> list[tuple[str, LossPoint]]:
    lines = [line["loss"] for line in answer.lines if "loss" in line]
    return [(line["id"], from_plain(LossPoint, line["point"])) for line in lines]


def test_sample_model_gets_a_whole_profile_from_two_tasks(tmp_path: Path) -> None:
    path = resolve_model("sample:tiny").path
    weights = [from_plain(LayerLoss, layer) for layer in call("weights", {"path": path}).result]
    assert [layer.id for layer in weights] == ["hidden.product", "scores.product"]
    assert all(set(layer.weight_sqnr_db) == set(LEVELS) for layer in weights)
    (point,) = make_points(path, tmp_path)
    answer = measure(path, point, tmp_path, samples=3)
    *stages, begin = answer.lines[:4]
    assert stages == [{"stage": "loading"}, {"stage": "first"}, {"stage": "changing"}]
    assert list(begin) == ["begin"] and begin["begin"]["points"] == 10
    assert answer.result == {"classes": True, "float32_db": begin["begin"]["float32_db"], "notes": []}
    assert answer.result["float32_db"] is None or answer.result["float32_db"] > 100
    found = assemble_loss(weights, points_of(answer), LossFacts("3 samples", classes=True, samples=3))
    assert found.complete and [len(layer.points) for layer in found.layers] == [5, 5]
    assert all(point.samples == 3 for layer in found.layers for point in layer.points)


def test_measuring_in_two_steps_equals_measuring_all_at_once(tmp_path: Path) -> None:
    path = save(convolutions(), tmp_path / "m.onnx")
    (point,) = make_points(path, tmp_path, dims=())
    whole = points_of(measure(path, point, tmp_path))
    first = points_of(measure(path, point, tmp_path, levels=["pruned 0.9"]))
    (worst,) = worst_layers(first, 1)
    skip = [[node, found.level] for node, found in first]
    rest = points_of(measure(path, point, tmp_path, layers=[worst], skip=skip))
    assert len(first) == 3 and len(rest) == 4
    assert sorted(map(repr, [*first, *rest])) == sorted(
        repr((node, found)) for node, found in whole if node == worst or found.level == "pruned 0.9"
    )


def test_measurement_runs_on_the_users_data(tmp_path: Path) -> None:
    path = save(linear(random(4, 3)), tmp_path / "m.onnx")
    np.savez(tmp_path / "own.npz", x=np.array([[[1, 0, 0, 0]], [[0, 0, 0, 1]]], np.float32))
    (point,) = make_points(path, tmp_path, file=str(tmp_path / "own.npz"))
    ((_, found),) = points_of(measure(path, point, tmp_path, levels=["pruned 0.5"]))
    matrix = random(4, 3)
    left = np.where(np.abs(matrix) <= np.sort(np.abs(matrix), axis=None)[5], 0, matrix)
    noise = np.sum((matrix - left)[[0, 3]] ** 2) / np.sum(matrix[[0, 3]] ** 2)
    assert found.sqnr_db == pytest.approx(-10 * np.log10(noise), abs=1e-3)


@pytest.mark.parametrize(
    ("arrays", "code"),
    [
        ({"x": np.ones((1, 5), np.float32)}, "array_of_other_shape"),
        ({"x": np.ones((1, 4))}, "array_of_other_type"),
        ({"z": np.ones((1, 4), np.float32)}, "array_missing"),
        ({}, "array_missing"),
    ],
)
def test_data_that_does_not_fit_is_refused_at_preparation(tmp_path: Path, arrays: Any, code: str) -> None:
    path = save(linear(random(4, 3)), tmp_path / "m.onnx")
    np.savez(tmp_path / "own.npz", **arrays)
    refused = prepare(path, tmp_path, file=str(tmp_path / "own.npz")).error
    assert refused.code == code and refused.exit_code == ExitCode.USAGE


def test_nan_in_the_data_is_noted_and_the_reason_of_every_point(tmp_path: Path) -> None:
    path = save(linear(random(4, 3)), tmp_path / "m.onnx")
    np.savez(tmp_path / "own.npz", x=np.array([[1, np.nan, 0, 0]], np.float32))
    (point,) = make_points(path, tmp_path, file=str(tmp_path / "own.npz"))
    assert len(point.notes) == 1 and "'x'" in point.notes[0]
    answer = measure(path, point, tmp_path)
    assert all(found.reason for _, found in points_of(answer)) and len(points_of(answer)) == 5


def test_point_without_inputs_is_refused_with_its_reason(tmp_path: Path) -> None:
    path = save(linear(random(4, 3)), tmp_path / "m.onnx")
    (point,) = make_points(path, tmp_path)
    why = error_text("nothing fits")
    empty = replace(point, bundle=None, failure=Failure("inputs", "inputs", why))
    refused = measure(path, empty, tmp_path).error
    assert refused == ChildError(because("no_inputs_to_run_on", why=why), ExitCode.MODEL)


@pytest.mark.parametrize("task", ["weights", "loss"])
def test_file_that_is_no_model_is_refused_by_both_tasks(tmp_path: Path, task: str) -> None:
    (point,) = prepare(save(linear(random(4, 3)), tmp_path / "m.onnx"), tmp_path).points
    (tmp_path / "m.ort").write_bytes(b"\x18\0\0\0ORTM" + bytes(64))
    (tmp_path / "bad.onnx").write_bytes(b"\x08\x07garbage")
    for name, code in (("m.ort", "ort_without_graph"), ("bad.onnx", "model_unparsable"), ("none", "path_missing")):
        request = {"path": str(tmp_path / name), "point": to_plain(point), "run_dir": str(tmp_path)}
        refused = call(task, request).error
        assert refused.code == code and refused.exit_code == ExitCode.MODEL, refused


def test_task_runs_on_the_given_cpus_and_threads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = save(linear(random(4, 3)), tmp_path / "m.onnx")
    (point,) = make_points(path, tmp_path)
    pinned: list[tuple[int, ...]] = []
    settings: list[tuple[int, tuple[int, ...]]] = []

    def load(self: OnnxRuntimeEngine, setting: LoadSettings) -> Any:
        settings.append((setting.threads, setting.cpus))
        return real(self, setting)

    real = OnnxRuntimeEngine.load
    monkeypatch.setattr(OnnxRuntimeEngine, "load", load)
    monkeypatch.setattr(sweep, "pin_process", pinned.append)
    request = {"path": path, "point": to_plain(point), "run_dir": str(tmp_path), "threads": 2, "cpus": [CPU]}
    sweep.request_sweep(request, lambda line: None)
    assert pinned == [(CPU,)] and settings == [(2, (CPU,))] * 2


def test_weight_larger_than_memory_is_a_failure_of_the_model(tmp_path: Path) -> None:
    filler = helper.make_node("ConstantOfShape", ["shape"], ["w"])
    product = helper.make_node("MatMul", ["x", "w"], ["y"])
    held = [weight("shape", [2, 10**11])]
    built = model([filler, product], [tensor("x", F32, ["b", 2])], [tensor("y", F32, None)], held)
    path = save(built, tmp_path / "m.onnx")
    refused = call("weights", {"path": path, "memory_bytes": 10**9}).error
    assert refused == ChildError(Reason("model_out_of_memory"), ExitCode.MODEL)
