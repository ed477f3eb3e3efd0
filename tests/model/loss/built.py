"""Small models with layers of known loss, and a sweep over them in this process."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import helper

from tests.model.factory import F32, model, save, tensor, weight
from tuibench.core.profile import LossPoint
from tuibench.core.reason import Reason
from tuibench.core.record import from_plain
from tuibench.model.loss.layers import Layer, WeightReader, find_layers
from tuibench.model.loss.sweep import Load, Sweep, loader
from tuibench.worker.bundle import Array, Feed, write_bundle


def random(*shape: int, seed: int = 0) -> Array:
    """Return weights around zero, as training leaves them."""
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def linear(matrix: Array, name: str = "w") -> onnx.ModelProto:
    """Return a model of y = x @ matrix."""
    rows, columns = matrix.shape
    node = helper.make_node("MatMul", ["x", name], ["y"], name="product")
    held = [weight(name, matrix)]
    return model([node], [tensor("x", F32, ["batch", rows])], [tensor("y", F32, ["batch", columns])], held)


def convolutions() -> onnx.ModelProto:
    """Return a convolution, batch normalization, a transposed convolution in two groups, and a product with a
    transposed weight.
    """
    nodes = [
        helper.make_node("Conv", ["x", "k"], ["a"], name="conv", pads=[1, 1, 1, 1]),
        helper.make_node("BatchNormalization", ["a", "s", "b", "m", "v"], ["n"]),
        helper.make_node("ConvTranspose", ["n", "t"], ["u"], group=2),
        helper.make_node("GlobalAveragePool", ["u"], ["p"]),
        helper.make_node("Flatten", ["p"], ["f"]),
        helper.make_node("Transpose", ["g0"], ["g1"], perm=[1, 0]),
        helper.make_node("Identity", ["g1"], ["g"]),
        helper.make_node("Gemm", ["f", "g"], ["y"], transB=1),
    ]
    four = np.ones(4, np.float32)
    weights = [
        *(weight("k", random(4, 3, 3, 3)), weight("t", random(4, 3, 1, 1, seed=1)), weight("g0", random(6, 5, seed=2))),
        *(weight("s", 2 * four), weight("b", four), weight("m", 0.1 * four), weight("v", 0.5 * four)),
    ]
    return model(nodes, [tensor("x", F32, ["batch", 3, 6, 6])], [tensor("y", F32, ["batch", 5])], weights)


def quantized() -> tuple[onnx.ModelProto, Array]:
    """Return a product with an int8 weight behind DequantizeLinear, a scale and a zero point for each channel."""
    stored = np.array([[3, 10], [-50, 11], [2, 110], [90, -80]], np.int8)
    scale, zero = np.array([0.5, 0.25], np.float32), np.array([2, 10], np.int8)
    nodes = [
        helper.make_node("DequantizeLinear", ["q", "s", "z"], ["w"], axis=1),
        helper.make_node("MatMul", ["x", "w"], ["y"]),
    ]
    held = [weight("q", stored), weight("s", scale), weight("z", zero)]
    built = model(nodes, [tensor("x", F32, ["batch", 4])], [tensor("y", F32, ["batch", 2])], held)
    return built, (stored.astype(np.float32) - zero) * scale


def branching() -> onnx.ModelProto:
    """Return an If whose branches have a weight of the same name each, one as an initializer, the other as a
    Constant.
    """

    def branch(number: int) -> onnx.GraphProto:
        held = weight("w", random(3, 2, seed=number))
        product = helper.make_node("MatMul", ["x", "w"], [f"y{number}"])
        constant = [helper.make_node("Constant", [], ["w"], value=held)] if number else []
        out = [tensor(f"y{number}", F32, None)]
        return helper.make_graph([*constant, product], f"b{number}", [], out, [] if number else [held])

    nodes = [helper.make_node("If", ["c"], ["y"], then_branch=branch(0), else_branch=branch(1))]
    condition = tensor("c", onnx.TensorProto.BOOL, [])
    return model(nodes, [condition, tensor("x", F32, ["batch", 3])], [tensor("y", F32, None)])


def layers_of(built: onnx.ModelProto) -> tuple[Layer, ...]:
    return find_layers(built.graph)


def reader() -> WeightReader:
    """Return a reader for models with embedded weights."""
    return WeightReader(Path("none.onnx"))


class Swept:
    """Output of a sweep."""

    def __init__(self, lines: list[dict[str, Any]], result: dict[str, Any]) -> None:
        lines = [line for line in lines if "stage" not in line]
        self.begin = lines[0]["begin"]
        told = [line["loss"] for line in lines if "loss" in line]
        self.points = [(one["id"], from_plain(LossPoint, one["point"])) for one in told]
        self.kinds = [next(iter(line)) for line in lines]
        self.at = [(line["at"]["id"], line["at"]["level"]) for line in lines if "at" in line]
        self.result = result
        self.notes = from_plain(tuple[Reason, ...], result["notes"])

    def __getitem__(self, key: tuple[str, str]) -> LossPoint:
        return next(point for node, point in self.points if (node, point.level) == key)


def sweep(
    tmp_path: Path,
    built: onnx.ModelProto | str,
    feeds: Sequence[Feed],
    levels: Sequence[str] = ("pruned 0.5", "int8"),
    load: Callable[[Load], Load] = lambda load: load,
    **asked: Any,
) -> Swept:
    """Measure the loss profile of a model on these samples, on one thread."""
    path = built if isinstance(built, str) else save(built, tmp_path / "m.onnx")
    bundle = tmp_path / "feeds.npz"
    write_bundle(bundle, feeds)
    run_dir = tmp_path / "run"
    run_dir.mkdir(exist_ok=True)
    lines: list[dict[str, Any]] = []
    found = Sweep(
        *(path, str(bundle), tuple(levels), run_dir, load(loader(str(run_dir), 1))),
        send=lines.append,
        samples=asked.pop("samples", len(feeds)),
        **asked,
    ).carry_out()
    assert list(run_dir.iterdir()) == [], "nothing is left behind"
    return Swept(lines, found)
