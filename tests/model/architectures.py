"""Well-known networks as graphs: their shapes are real, and all their weights are zeros in one sparse file."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import onnx
from onnx import TensorProto, helper

from tests.model.factory import F32, I64, tensor

_DATA = "weights.data"


class Net:
    """Collects nodes; all weights share one stretch of zeros in a sparse file."""

    def __init__(self) -> None:
        self._nodes: list[onnx.NodeProto] = []
        self._weights: list[onnx.TensorProto] = []
        self._largest = 0
        self.channels = 0

    def node(self, op: str, *inputs: str, **attributes: Any) -> str:
        """Add a node and return its output."""
        name = f"{op.lower()}{len(self._nodes)}"
        self._nodes.append(helper.make_node(op, list(inputs), [name], name=name, **attributes))
        return name

    def weight(self, *dims: int) -> str:
        """Add a weight and return its name."""
        proto = TensorProto(name=f"w{len(self._weights)}", data_type=F32, dims=dims)
        proto.data_location = TensorProto.EXTERNAL
        length = 4 * math.prod(dims)
        for key, value in (("location", _DATA), ("offset", "0"), ("length", str(length))):
            proto.external_data.add(key=key, value=value)
        self._largest = max(self._largest, length)
        self._weights.append(proto)
        return proto.name

    def conv(self, x: str, out: int, k: int, stride: int = 1, *, pad: int | None = None, relu: bool = True) -> str:
        """Add a convolution with a bias."""
        around = k // 2 if pad is None else pad
        weights = self.weight(out, self.channels, k, k), self.weight(out)
        x = self.node("Conv", x, *weights, kernel_shape=[k, k], strides=[stride] * 2, pads=[around] * 4)
        self.channels = out
        return self.node("Relu", x) if relu else x

    def norm(self, x: str) -> str:
        """Add batch normalization and a Relu."""
        four = [self.weight(self.channels) for _ in range(4)]
        return self.node("Relu", self.node("BatchNormalization", x, *four))

    def pool(self, x: str, k: int, stride: int, pad: int = 0, op: str = "MaxPool", ceil: int = 0) -> str:
        """Add a pooling."""
        return self.node(op, x, kernel_shape=[k, k], strides=[stride] * 2, pads=[pad] * 4, ceil_mode=ceil)

    def linear(self, x: str, inside: int, out: int) -> str:
        """Add a linear layer over flat features."""
        return self.node("Gemm", x, self.weight(out, inside), self.weight(out), transB=1)

    def save(self, folder: Path, inputs: list[onnx.ValueInfoProto], output: str) -> str:
        """Write the model and its sparse weights file."""
        with open(folder / _DATA, "wb") as file:
            file.truncate(self._largest)
        graph = helper.make_graph(self._nodes, "g", inputs, [tensor(output, F32, None)], self._weights)
        built = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
        path = folder / "model.onnx"
        path.write_bytes(built.SerializeToString())
        return str(path)

    def save_classifier(self, folder: Path, x: str) -> str:
        """Write the model with a picture as its input."""
        return self.save(folder, [tensor("x", F32, ["batch", 3, 224, 224])], x)


def resnet50(folder: Path) -> str:
    """Build ResNet-50, with strides in the 3 x 3 convolutions."""
    net = Net()
    net.channels = 3
    x = net.pool(net.conv("x", 64, 7, 2), 3, 2, 1)
    for depth, (blocks, width) in enumerate(((3, 64), (4, 128), (6, 256), (3, 512))):
        for block in range(blocks):
            stride, inside, beside = (2 if depth and not block else 1), net.channels, x
            x = net.conv(net.conv(x, width, 1), width, 3, stride)
            x = net.conv(x, 4 * width, 1, relu=False)
            if not block:
                net.channels = inside
                beside = net.conv(beside, 4 * width, 1, stride, relu=False)
            x = net.node("Relu", net.node("Add", x, beside))
    return net.save_classifier(folder, net.linear(_flat(net, x), 2048, 1000))


def vgg19(folder: Path) -> str:
    """Build VGG-19: sixteen convolutions, three linear layers."""
    net = Net()
    net.channels, x = 3, "x"
    for width, count in ((64, 2), (128, 2), (256, 4), (512, 4), (512, 4)):
        for _ in range(count):
            x = net.conv(x, width, 3)
        x = net.pool(x, 2, 2)
    x = net.node("Flatten", x)
    for inside, out in ((512 * 49, 4096), (4096, 4096)):
        x = net.node("Relu", net.linear(x, inside, out))
    return net.save_classifier(folder, net.linear(x, 4096, 1000))


def densenet121(folder: Path) -> str:
    """Build DenseNet-121, with a growth of 32."""
    net = Net()
    net.channels = 3
    x = net.pool(net.conv("x", 64, 7, 2), 3, 2, 1)
    for number, layers in enumerate((6, 12, 24, 16)):
        for _ in range(layers):
            held = net.channels
            grown = net.conv(net.norm(x), 128, 1)
            grown = net.conv(grown, 32, 3, relu=False)
            net.channels, x = held + 32, net.node("Concat", x, grown, axis=1)
        if number < 3:
            x = net.conv(net.norm(x), net.channels // 2, 1, relu=False)
            x = net.pool(x, 2, 2, op="AveragePool")
    return net.save_classifier(folder, net.linear(_flat(net, net.norm(x)), 1024, 1000))


def squeezenet(folder: Path) -> str:
    """Build SqueezeNet 1.1."""
    net = Net()
    net.channels = 3
    x = net.conv("x", 64, 3, 2, pad=0)
    for place, (squeeze, wide) in enumerate(
        ((16, 64), (16, 64), (32, 128), (32, 128), (48, 192), (48, 192), (64, 256), (64, 256))
    ):
        if place in (0, 2, 4):
            x = net.pool(x, 3, 2, ceil=1)
        x = net.conv(x, squeeze, 1)
        one = net.conv(x, wide, 1)
        net.channels = squeeze
        x = net.node("Concat", one, net.conv(x, wide, 3), axis=1)
        net.channels = 2 * wide
    x = net.node("GlobalAveragePool", net.conv(x, 1000, 1))
    return net.save_classifier(folder, net.node("Flatten", x))


def bert_base(folder: Path) -> str:
    """Build BERT base: twelve layers, twelve heads of 64, a pooler; the sequence is free."""
    net, width = Net(), 768
    x = net.node("Gather", net.weight(30522, width), "ids")
    for _ in range(12):
        x = _norm(net, net.node("Add", x, _attention(net, x, width)))
        inner = net.node("Erf", net.node("Add", net.node("MatMul", x, net.weight(width, 3072)), net.weight(3072)))
        x = _norm(net, net.node("Add", x, net.node("MatMul", inner, net.weight(3072, width))))
    first = net.node("ReduceMax", x, axes=[1], keepdims=0)
    x = net.node("Tanh", net.linear(first, width, width))
    return net.save(folder, [tensor("ids", I64, ["batch", "sequence"])], x)


def _attention(net: Net, x: str, width: int) -> str:
    shape = net.node("Constant", value_ints=[0, 0, 12, 64])
    flat = net.node("Constant", value_ints=[0, 0, width])
    parts = [net.node("Reshape", net.node("MatMul", x, net.weight(width, width)), shape) for _ in range(3)]
    query, value = (net.node("Transpose", part, perm=[0, 2, 1, 3]) for part in parts[::2])
    key = net.node("Transpose", parts[1], perm=[0, 2, 3, 1])
    scores = net.node("Softmax", net.node("MatMul", query, key), axis=-1)
    mixed = net.node("Transpose", net.node("MatMul", scores, value), perm=[0, 2, 1, 3])
    return net.node("MatMul", net.node("Reshape", mixed, flat), net.weight(width, width))


def _norm(net: Net, x: str) -> str:
    return net.node("LayerNormalization", x, net.weight(768), net.weight(768))


def _flat(net: Net, x: str) -> str:
    return net.node("Flatten", net.node("GlobalAveragePool", x))
