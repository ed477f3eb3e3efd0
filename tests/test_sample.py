"""The shipped samples equal the script's output, are small, and behave like models worth measuring."""

from __future__ import annotations

import hashlib
import runpy
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt
import onnx
import onnxruntime
import openvino
import pytest

ROOT = Path(__file__).resolve().parent.parent
SCRIPT = ROOT / "tools" / "make_samples.py"
SHIPPED = ROOT / "tuibench" / "data" / "samples"

Feeds = dict[str, npt.NDArray[np.generic]]

SHA256 = {
    "cnn": "10bf0b8af88c2a194c1094d42d145aa0394f895552acde7dd9d9d9c06f8f604a",
    "text": "bb4c4b28c7dfbf5cb00428bd2141a858f7a24c561dfdc4ac0175bb94742de63d",
    "tiny": "a4cae3374facc3836d972ed70baa227265fdaded045d2e3fb2c88a165c7cbefa",
}


def feeds_for_cnn(batch: int, _: int, seed: int) -> Feeds:
    return {"image": np.random.default_rng(seed).random((batch, 3, 224, 224), np.float32)}


def feeds_for_text(batch: int, sequence: int, seed: int) -> Feeds:
    tokens = np.random.default_rng(seed).integers(0, 1000, (batch, sequence))
    return {"input_ids": tokens, "attention_mask": np.ones((batch, sequence), np.int64)}


def feeds_for_tiny(batch: int, _: int, seed: int) -> Feeds:
    return {"features": np.random.default_rng(seed).random((batch, 8), np.float32)}


MAKE_FEEDS: dict[str, Callable[[int, int, int], Feeds]] = {
    "cnn": feeds_for_cnn,
    "text": feeds_for_text,
    "tiny": feeds_for_tiny,
}


def infer(name: str, feeds: Feeds) -> list[npt.NDArray[np.float32]]:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(SHIPPED / f"{name}.onnx", options, providers=["CPUExecutionProvider"])
    return list(session.run(None, feeds))


def difference(a: npt.NDArray[np.float32], b: npt.NDArray[np.float32]) -> float:
    return float(np.abs(a - b).max() / max(float(np.ptp(a)), float(np.abs(a).max())))


def test_new_process_makes_the_shipped_bytes(tmp_path: Path) -> None:
    subprocess.run([sys.executable, SCRIPT, tmp_path], check=True, stdout=subprocess.DEVNULL)
    made = {p.stem: hashlib.sha256(p.read_bytes()).hexdigest() for p in tmp_path.iterdir()}
    shipped = {p.stem: hashlib.sha256(p.read_bytes()).hexdigest() for p in SHIPPED.glob("*.onnx")}
    assert made == shipped == SHA256


@pytest.mark.parametrize(("name", "most_bytes"), [("cnn", 400_000), ("text", 1_000_000), ("tiny", 4_000)])
def test_sample_is_small_enough_to_ship_and_old_enough_to_run(name: str, most_bytes: int) -> None:
    path = SHIPPED / f"{name}.onnx"
    assert path.stat().st_size <= most_bytes
    model = onnx.load(path)
    onnx.checker.check_model(model, full_check=True)
    assert model.ir_version <= 8
    assert [(o.domain, o.version) for o in model.opset_import] == [("", 14)]
    for port in model.graph.input:
        assert port.type.tensor_type.shape.dim[0].dim_param == "batch"


def test_classifier_has_the_documented_size() -> None:
    model = onnx.shape_inference.infer_shapes(onnx.load(SHIPPED / "cnn.onnx"), strict_mode=True)
    weights = {w.name: tuple(w.dims) for w in model.graph.initializer}
    shapes = {v.name: [d.dim_value for d in v.type.tensor_type.shape.dim] for v in model.graph.value_info}
    convolutions = [n for n in model.graph.node if n.op_type == "Conv"]
    assert 15 <= len(convolutions) <= 25
    macs = sum(int(np.prod(weights[n.input[1]])) * int(np.prod(shapes[n.output[0]][2:])) for n in convolutions)
    assert 0.4e9 <= macs <= 0.6e9


@pytest.mark.parametrize(("name", "sequence"), [("cnn", 0), ("text", 16), ("text", 128), ("tiny", 0)])
@pytest.mark.parametrize("batch", [1, 2, 4])
def test_two_engines_agree_and_the_input_matters(name: str, sequence: int, batch: int) -> None:
    feeds = MAKE_FEEDS[name](batch, sequence, 1)
    outputs = infer(name, feeds)
    compiled = openvino.Core().compile_model(SHIPPED / f"{name}.onnx", "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    theirs = compiled(feeds)
    others = infer(name, MAKE_FEEDS[name](batch, sequence, 2))
    for index, (output, other) in enumerate(zip(outputs, others, strict=True)):
        assert output.shape[0] == batch
        assert np.isfinite(output).all()
        assert difference(output, theirs[index]) < 1e-3
        assert difference(output, other) > 5e-3


def test_padding_does_not_change_the_encoder_output() -> None:
    feeds = feeds_for_text(1, 16, 3)
    longer = {
        "input_ids": np.concatenate([feeds["input_ids"], np.full((1, 8), 7)], axis=1),
        "attention_mask": np.concatenate([feeds["attention_mask"], np.zeros((1, 8), np.int64)], axis=1),
    }
    assert difference(infer("text", feeds)[1], infer("text", longer)[1]) < 1e-5
    unmasked = {**longer, "attention_mask": np.ones((1, 24), np.int64)}
    assert difference(infer("text", feeds)[1], infer("text", unmasked)[1]) > 1e-3


def test_weights_depend_only_on_their_name() -> None:
    make_weights = runpy.run_path(str(SCRIPT))["make_weights"]
    first = make_weights("stem.weight", (4,), 1.0)
    assert first.dtype == np.float32
    assert (np.abs(first) < 1).all()
    assert (make_weights("stem.weight", (4,), 1.0) == first).all()
    assert (make_weights("stem.bias", (4,), 1.0) != first).any()
