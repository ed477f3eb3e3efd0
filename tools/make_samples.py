"""Make the models behind `sample`, so that the shipped bytes can be checked and remade on any machine.

    python tools/make_samples.py            writes tuibench/data/samples/*.onnx
    python tools/make_samples.py DIRECTORY  writes them there

Weights come from a hash rather than a random generator, and only from operations that IEEE 754 rounds correctly:
numpy may change its streams between releases and libm differs between machines, and either would change the sha256.
"""

from __future__ import annotations

import hashlib
import math
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
from onnx import TensorProto, helper

Floats = npt.NDArray[np.float32]

SHIPPED = Path(__file__).resolve().parent.parent / "tuibench" / "data" / "samples"

OPSET = 14
"""The newest that old engines take: some stop here, and know no LayerNormalization of one piece."""

IR_VERSION = 8

HIDDEN = 64
VOCABULARY = 1000
LONGEST_SEQUENCE = 512
HEADS = 4


def make_weights(name: str, shape: tuple[int, ...], bound: float) -> Floats:
    """Return floats in (-bound, bound) that depend on nothing but the arguments."""
    count = math.prod(shape)
    raw = np.frombuffer(hashlib.shake_256(name.encode()).digest(2 * count), dtype="<u2")
    unit = (raw.astype(np.float32) - np.float32(32767.5)) / np.float32(32768)
    return (unit * np.float32(bound)).reshape(shape)


@dataclass
class Graph:
    """A graph under construction: nodes named after their output, weights named after their node."""

    nodes: list[onnx.NodeProto] = field(default_factory=list)
    weights: list[onnx.TensorProto] = field(default_factory=list)

    def weight(self, name: str, values: npt.NDArray[Any]) -> str:
        """Add a constant and return its name."""
        little = values.astype(values.dtype.newbyteorder("<"))
        kind = helper.np_dtype_to_tensor_dtype(values.dtype)
        self.weights.append(helper.make_tensor(name, kind, values.shape, little.tobytes(), raw=True))
        return name

    def node(self, operator: str, inputs: list[str], output: str, **attributes: Any) -> str:
        """Add a node with one output and return the output's name."""
        self.nodes.append(helper.make_node(operator, inputs, [output], name=output, **attributes))
        return output

    def linear(self, x: str, name: str, width_in: int, width_out: int) -> str:
        """Add x @ W + b over the last axis."""
        bound = math.sqrt(3 / width_in)
        weight = self.weight(f"{name}.weight", make_weights(f"{name}.weight", (width_in, width_out), bound))
        bias = self.weight(f"{name}.bias", make_weights(f"{name}.bias", (width_out,), 0.1))
        return self.node("Add", [self.node("MatMul", [x, weight], f"{name}.product"), bias], name)

    def model(
        self, name: str, inputs: list[onnx.ValueInfoProto], outputs: list[onnx.ValueInfoProto]
    ) -> onnx.ModelProto:
        """Close the graph and have onnx check it."""
        graph = helper.make_graph(self.nodes, name, inputs, outputs, self.weights)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=IR_VERSION)
        model.producer_name = "tuibench"
        model.producer_version = "1"
        onnx.checker.check_model(model, full_check=True)
        return model


def tensor(name: str, kind: int, *shape: int | str) -> onnx.ValueInfoProto:
    """Describe an input or output; a word in the shape is a symbol."""
    return helper.make_tensor_value_info(name, kind, list(shape))


def convolve(graph: Graph, x: str, name: str, channels: tuple[int, int], size: int, stride: int, gain: float) -> str:
    """Add a square convolution with bias; `gain` 2 keeps the variance through a Relu, less lets residuals add up."""
    channels_in, channels_out = channels
    bound = math.sqrt(3 * gain / (channels_in * size * size))
    shape = (channels_out, channels_in, size, size)
    weight = graph.weight(f"{name}.weight", make_weights(f"{name}.weight", shape, bound))
    bias = graph.weight(f"{name}.bias", make_weights(f"{name}.bias", (channels_out,), 0.1))
    pads = [size // 2] * 4
    return graph.node("Conv", [x, weight, bias], name, kernel_shape=[size, size], strides=[stride, stride], pads=pads)


def add_residual(graph: Graph, x: str, name: str, channels: tuple[int, int], stride: int) -> str:
    """Add two 3x3 convolutions around a shortcut, which is a 1x1 convolution where the shape changes."""
    wide = channels[1]
    inner = graph.node("Relu", [convolve(graph, x, f"{name}.conv1", channels, 3, stride, 2)], f"{name}.relu1")
    inner = convolve(graph, inner, f"{name}.conv2", (wide, wide), 3, 1, 0.5)
    changes = stride != 1 or channels[0] != wide
    shortcut = convolve(graph, x, f"{name}.shortcut", channels, 1, stride, 1) if changes else x
    return graph.node("Relu", [graph.node("Add", [inner, shortcut], f"{name}.sum")], f"{name}.relu2")


def make_cnn() -> onnx.ModelProto:
    """Build a residual image classifier: 0.47 GMACs in 80 thousand parameters, because it stays at high resolution."""
    graph = Graph()
    x = graph.node("Relu", [convolve(graph, "image", "stem", (3, 16), 3, 2, 2)], "stem.relu")
    for block in range(6):
        x = add_residual(graph, x, f"stage1.{block}", (16, 16), 1)
    x = add_residual(graph, x, "stage2.0", (16, 32), 2)
    x = add_residual(graph, x, "stage2.1", (32, 32), 1)
    x = add_residual(graph, x, "stage3.0", (32, 32), 2)
    x = graph.node("Flatten", [graph.node("GlobalAveragePool", [x], "pool")], "features", axis=1)
    weight = graph.weight("head.weight", make_weights("head.weight", (10, 32), math.sqrt(3 / 32)))
    bias = graph.weight("head.bias", make_weights("head.bias", (10,), 0.1))
    graph.node("Gemm", [x, weight, bias], "logits", transB=1)
    image = tensor("image", TensorProto.FLOAT, "batch", 3, 224, 224)
    return graph.model("cnn", [image], [tensor("logits", TensorProto.FLOAT, "batch", 10)])


def normalize(graph: Graph, x: str, name: str) -> str:
    """Add a layer normalization out of elementary operators, as exporters for this opset write it."""
    centred = graph.node("Sub", [x, graph.node("ReduceMean", [x], f"{name}.mean", axes=[-1])], f"{name}.centred")
    square = graph.node("Pow", [centred, "two"], f"{name}.square")
    variance = graph.node("ReduceMean", [square], f"{name}.variance", axes=[-1])
    scale = graph.node("Sqrt", [graph.node("Add", [variance, "epsilon"], f"{name}.shifted")], f"{name}.scale")
    unit = graph.node("Div", [centred, scale], f"{name}.unit")
    weight = graph.weight(f"{name}.weight", np.float32(1) + make_weights(f"{name}.weight", (HIDDEN,), 0.1))
    bias = graph.weight(f"{name}.bias", make_weights(f"{name}.bias", (HIDDEN,), 0.1))
    return graph.node("Add", [graph.node("Mul", [unit, weight], f"{name}.weighted"), bias], name)


def split_heads(graph: Graph, x: str, name: str, permutation: list[int]) -> str:
    """Turn (batch, sequence, hidden) into one matrix per head."""
    return graph.node("Transpose", [graph.node("Reshape", [x, "by_head"], f"{name}.split")], name, perm=permutation)


def add_encoder_layer(graph: Graph, x: str, name: str) -> str:
    """Add self-attention and a feed-forward part, each with its shortcut and normalization."""
    query = split_heads(graph, graph.linear(x, f"{name}.query", HIDDEN, HIDDEN), f"{name}.queries", [0, 2, 1, 3])
    key = split_heads(graph, graph.linear(x, f"{name}.key", HIDDEN, HIDDEN), f"{name}.keys", [0, 2, 3, 1])
    value = split_heads(graph, graph.linear(x, f"{name}.value", HIDDEN, HIDDEN), f"{name}.values", [0, 2, 1, 3])
    scores = graph.node("MatMul", [query, key], f"{name}.scores")
    scaled = graph.node("Div", [scores, "root_of_head"], f"{name}.scaled")
    masked = graph.node("Add", [scaled, "mask_bias"], f"{name}.masked")
    attention = graph.node("Softmax", [masked], f"{name}.attention", axis=-1)
    context = graph.node("MatMul", [attention, value], f"{name}.context")
    context = graph.node("Transpose", [context], f"{name}.gathered", perm=[0, 2, 1, 3])
    context = graph.node("Reshape", [context, "by_token"], f"{name}.joined")
    context = graph.linear(context, f"{name}.out", HIDDEN, HIDDEN)
    x = normalize(graph, graph.node("Add", [context, x], f"{name}.attended"), f"{name}.norm1")
    wide = graph.linear(x, f"{name}.up", HIDDEN, 4 * HIDDEN)
    halved = graph.node("Mul", [wide, "half"], f"{name}.halved")
    error = graph.node("Erf", [graph.node("Div", [wide, "root_of_two"], f"{name}.narrowed")], f"{name}.erf")
    active = graph.node("Mul", [halved, graph.node("Add", [error, "one"], f"{name}.gate")], f"{name}.gelu")
    narrow = graph.linear(active, f"{name}.down", 4 * HIDDEN, HIDDEN)
    return normalize(graph, graph.node("Add", [narrow, x], f"{name}.sum"), f"{name}.norm2")


def add_text_constants(graph: Graph) -> None:
    """Add the numbers that the encoder's elementary operators share."""
    for name, value in (("one", 1.0), ("two", 2.0), ("half", 0.5), ("epsilon", 1e-5), ("far_below", -10000.0)):
        graph.weight(name, np.array(value, np.float32))
    graph.weight("root_of_two", np.array(math.sqrt(2), np.float32))
    graph.weight("root_of_head", np.array(math.sqrt(HIDDEN // HEADS), np.float32))
    graph.weight("by_head", np.array([0, 0, HEADS, HIDDEN // HEADS], np.int64))
    graph.weight("by_token", np.array([0, 0, HIDDEN], np.int64))
    graph.weight("mask_axes", np.array([1, 2], np.int64))
    for name, number in (("first", 0), ("second", 1), ("step", 1)):
        graph.weight(name, np.array(number, np.int64))


def make_text() -> onnx.ModelProto:
    """Build a two-layer text encoder whose batch and sequence are both free."""
    graph = Graph()
    add_text_constants(graph)
    mask = graph.node("Cast", ["attention_mask"], "mask", to=TensorProto.FLOAT)
    mask = graph.node("Unsqueeze", [mask, "mask_axes"], "mask_4d")
    graph.node("Mul", [graph.node("Sub", ["one", mask], "unmasked"), "far_below"], "mask_bias")
    tokens = graph.weight("tokens", make_weights("tokens", (VOCABULARY, HIDDEN), 1.0))
    places = graph.weight("positions", make_weights("positions", (LONGEST_SEQUENCE, HIDDEN), 0.5))
    length = graph.node("Gather", [graph.node("Shape", ["input_ids"], "shape"), "second"], "length", axis=0)
    place = graph.node("Range", ["first", length, "step"], "position_ids")
    token = graph.node("Gather", [tokens, "input_ids"], "token_embedding", axis=0)
    x = graph.node("Add", [token, graph.node("Gather", [places, place], "position_embedding", axis=0)], "embedding")
    x = normalize(graph, x, "embedding_norm")
    for layer in range(2):
        x = add_encoder_layer(graph, x, f"layer{layer}")
    graph.node("Identity", [x], "last_hidden_state")
    graph.linear(graph.node("Gather", [x, "first"], "first_token", axis=1), "logits", HIDDEN, 2)
    inputs = [tensor(name, TensorProto.INT64, "batch", "sequence") for name in ("input_ids", "attention_mask")]
    hidden = tensor("last_hidden_state", TensorProto.FLOAT, "batch", "sequence", HIDDEN)
    return graph.model("text", inputs, [hidden, tensor("logits", TensorProto.FLOAT, "batch", 2)])


def make_tiny() -> onnx.ModelProto:
    """Build a classifier so small that it shows the cost of calling an engine rather than of computing."""
    graph = Graph()
    hidden = graph.node("Relu", [graph.linear("features", "hidden", 8, 16)], "hidden.relu")
    graph.linear(hidden, "scores", 16, 4)
    features = tensor("features", TensorProto.FLOAT, "batch", 8)
    return graph.model("tiny", [features], [tensor("scores", TensorProto.FLOAT, "batch", 4)])


MAKERS = {"cnn": make_cnn, "text": make_text, "tiny": make_tiny}


def write_samples(directory: Path) -> list[Path]:
    """Write every sample and return the paths."""
    directory.mkdir(parents=True, exist_ok=True)
    paths = []
    for name, make in MAKERS.items():
        path = directory / f"{name}.onnx"
        path.write_bytes(make().SerializeToString(deterministic=True))
        paths.append(path)
    return paths


if __name__ == "__main__":
    for written in write_samples(Path(sys.argv[1]) if len(sys.argv) > 1 else SHIPPED):
        content = written.read_bytes()
        print(f"{hashlib.sha256(content).hexdigest()}  {len(content):>7}  {written.name}")
