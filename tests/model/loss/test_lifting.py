"""Weights become inputs: the model's outputs stay the same and the user's files stay unchanged."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import helper
from onnx.external_data_helper import convert_model_to_external_data

from tests.model.factory import F32, I64, model, save, tensor, weight
from tests.model.loss.built import branching, convolutions, layers_of, linear, random, sweep
from tests.refusal import refused
from tuibench.core.errors import ModelError
from tuibench.model.inspection import load_graph
from tuibench.model.loss import change as lifting
from tuibench.model.loss.change import lift
from tuibench.model.loss.layers import WeightReader
from tuibench.worker.bundle import Array

ONES = [{"x": np.ones((1, 4), np.float32)}]


def test_lifted_file_contains_no_weight_of_a_layer(tmp_path: Path) -> None:
    built = convolutions()
    lifted = lift(built, layers_of(built), WeightReader(tmp_path / "m.onnx"), tmp_path / "out.onnx")
    found = onnx.load(lifted.path)
    onnx.checker.check_model(found)
    assert {tensor.name for tensor in found.graph.initializer} == {"s", "b", "m", "v"}
    assert {value.name for value in found.graph.input} == {"x", *lifted.names.values()}
    assert np.array_equal(lifted.weights[lifted.names["a"]], random(4, 3, 3, 3))


def test_names_of_lifted_inputs_are_unused_in_the_model(tmp_path: Path) -> None:
    built = linear(random(4, 3), name="weight:0")
    lifted = lift(built, layers_of(built), WeightReader(tmp_path / "m.onnx"), tmp_path / "out.onnx")
    assert list(lifted.names.values()) == ["weight::0"]
    inside = branching()
    then = next(a.g for a in inside.graph.node[0].attribute if a.name == "then_branch")
    then.node[0].output[0] = then.output[0].name = "weight:1"
    lifted = lift(inside, layers_of(inside), WeightReader(tmp_path / "m.onnx"), tmp_path / "out.onnx")
    assert set(lifted.names.values()) == {"weight::0", "weight::1"}


def beside(tmp_path: Path, table: Array | None = None) -> Path:
    """Write a model with all its weights in an external file: a table, a product, a bias."""
    nodes = [
        helper.make_node("Gather", ["t", "ids"], ["e"]),
        helper.make_node("MatMul", ["e", "w"], ["p"]),
        helper.make_node("Add", ["p", "b"], ["y"]),
    ]
    held = [weight("t", random(9, 4) if table is None else table), weight("w", random(4, 3)), weight("b", random(3))]
    built = model(nodes, [tensor("ids", I64, ["n"])], [tensor("y", F32, None)], held)
    save(built, tmp_path / "whole.onnx")
    convert_model_to_external_data(built, location="data.bin", size_threshold=0)
    onnx.save_model(built, str(tmp_path / "m.onnx"))
    return tmp_path / "m.onnx"


IDS = [{"ids": np.array([1, 5, 8])}]


def digests(directory: Path) -> dict[str, str]:
    return {p.name: hashlib.sha256(p.read_bytes()).hexdigest() for p in directory.iterdir() if p.is_file()}


@pytest.mark.parametrize("inline_bytes", [64 << 20, 16])
def test_external_data_is_left_in_place(tmp_path: Path, inline_bytes: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lifting, "_INLINE_BYTES", inline_bytes)
    place = tmp_path / "place"
    place.mkdir()
    path = beside(place)
    before = digests(place)
    found = sweep(tmp_path, str(path), IDS)
    assert digests(place) == before
    whole = sweep(tmp_path, str(place / "whole.onnx"), IDS)
    assert [(node, point.level) for node, point in found.points] == [("p", "pruned 0.5"), ("p", "int8")]
    for (_, here), (_, inside) in zip(found.points, whole.points, strict=True):
        assert here.sqnr_db == pytest.approx(inside.sqnr_db, rel=1e-6)


def test_links_of_a_download_cache_are_followed(tmp_path: Path) -> None:
    place = tmp_path / "blobs"
    place.mkdir()
    beside(place)
    (tmp_path / "link").mkdir()
    (tmp_path / "link" / "m.onnx").symlink_to(place / "m.onnx")
    (tmp_path / "link" / "data.bin").symlink_to(place / "data.bin")
    path = tmp_path / "link" / "m.onnx"
    built = load_graph(path)
    assert built is not None
    lifted = lift(built, layers_of(built), WeightReader(path), tmp_path / "out.onnx")
    assert np.array_equal(lifted.weights[lifted.names["p"]], random(4, 3))


@pytest.mark.parametrize("damage", ["gone", "short"])
def test_missing_or_short_external_data_is_reported(tmp_path: Path, damage: str) -> None:
    place = tmp_path / "place"
    place.mkdir()
    path = beside(place)
    if damage == "gone":
        (place / "data.bin").unlink()
    else:
        (place / "data.bin").write_bytes(b"1234")
    built = onnx.load(path, load_external_data=False)
    code = "path_missing" if damage == "gone" else "external_data_too_short"
    with refused(ModelError, code):
        lift(built, layers_of(built), WeightReader(path), tmp_path / "out.onnx")
    with refused(ModelError, code):
        sweep(tmp_path, str(path), IDS)


def test_model_too_large_for_a_file_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lifting, "_FILE_BYTES", 100)
    built = convolutions()
    with refused(ModelError, "changed_model_too_large"):
        lift(built, layers_of(built), WeightReader(tmp_path / "m.onnx"), tmp_path / "out.onnx")
