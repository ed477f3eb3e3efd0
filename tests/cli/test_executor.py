"""The Executor beside ONNX Runtime from the shell: what it agrees on, and what it refuses."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from onnx import helper

from tests.cli.shell import Shell
from tests.model import bert
from tests.model.factory import F32, model, save, tensor, weight


@pytest.fixture(autouse=True)
def engines(home: Path, engines_root: Callable[[str], Path]) -> None:
    """Give the test's home the engines that are installed for tests."""
    data = Path(os.environ["TUIBENCH_HOME"]) / "data"
    data.mkdir(parents=True)
    (data / "engines").symlink_to(engines_root("executor"))


def write_models(folder: Path) -> dict[str, str]:
    """Write models with fixed dims, which the Executor takes as copies only; return each file's name and checksum."""
    built = bert.fixed(bert.bert(size=bert.TINY), 1, 16)
    path = Path(save(built, folder / "bert.onnx"))
    bert.quantized(path, folder / "int8.onnx", bert.TINY, sequence=16)
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["c"], name="conv", kernel_shape=[3, 3]),
        helper.make_node("MaxPool", ["c"], ["y"], name="pool", kernel_shape=[2, 2]),
    ]
    kernel = weight("w", np.random.default_rng(1).normal(size=(4, 3, 3, 3)).astype(np.float32))
    image, out = tensor("x", F32, [1, 3, 8, 8]), tensor("y", F32, [1, 4, 5, 5])
    save(model(nodes, [image], [out], [kernel], opset=14), folder / "cnn.onnx")
    return checksums(folder)


def checksums(folder: Path) -> dict[str, str]:
    return {one.name: hashlib.sha256(one.read_bytes()).hexdigest() for one in sorted(folder.glob("*.onnx"))}


def test_bert_agrees_and_other_models_are_failed_cells_with_a_reason(shell: Shell, folder: Path) -> None:
    before, target = write_models(folder), folder / "result.json"
    names = [str(folder / name) for name in before]
    done = shell.benchmark(*names, "-e", "onnxruntime,executor", "-s", "sync", "-ncores", "1", "-x", str(target))
    assert done.code == 1, done.err
    assert "executor cannot run MaxPool" in done.err
    cells = json.loads(target.read_text(encoding="ascii"))["tuibench"]["cells"]
    names_by_sum = {checksum: name for name, checksum in before.items()}
    states = {(names_by_sum[cell["asked"]["model_sha256"]], cell["asked"]["engine"]): cell for cell in cells}
    for name in ("bert.onnx", "int8.onnx"):
        for engine in ("onnxruntime", "executor"):
            assert states[name, engine]["check"]["state"] == "agrees", (name, engine)
    assert states["cnn.onnx", "onnxruntime"]["status"] == "ok"
    assert states["cnn.onnx", "executor"]["status"] == "failed"
    assert checksums(folder) == before


def test_reduced_precision_is_asked_for_and_read_back(shell: Shell, folder: Path) -> None:
    write_models(folder)
    target = folder / "result.json"
    arguments = ("-e", "executor", "-s", "sync", "-ncores", "1", "--precision", "bf16", "-x", str(target))
    done = shell.benchmark(str(folder / "bert.onnx"), *arguments)
    assert done.code == 0, done.err
    (cell,) = json.loads(target.read_text(encoding="ascii"))["tuibench"]["cells"]
    assert (cell["check"]["state"], cell["used"]["precision"]) == ("agrees", "bf16")
