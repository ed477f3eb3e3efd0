"""A BERT classifier in the nodes that transformers 4.44.2 exports through torch's legacy exporter, eager attention."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import helper

from tests.model.factory import F32, I64, model, tensor, weight

INPUTS = ("input_ids", "attention_mask", "token_type_ids")


@dataclass(frozen=True)
class Size:
    """The sizes of a BERT; those of the small one are measured against other engines."""

    layers: int = 4
    hidden: int = 256
    heads: int = 4
    inside: int = 1024
    words: int = 1000
    places: int = 512
    labels: int = 2


CLASSES, TOKENS, ANSWERS = "classes", "tokens", "answers"
"""Heads: of a sequence, of each token, and where an answer starts and ends (opset 13 and later)."""

SMALL, TINY = Size(), Size(layers=2, hidden=32, heads=2, inside=64, words=50, places=64)


def bert(
    opset: int = 14,
    size: Size = SMALL,
    *,
    fused: bool = False,
    head: str = CLASSES,
    weights: Mapping[str, Any] | None = None,
) -> onnx.ModelProto:
    """Build the classifier with seeded weights, no two alike: the Executor does not take shared ones.

    `fused` writes the attention as the export of torch's fused one, which scales queries and keys. `weights` are those
    of a checkpoint, by their names there. `head` is what it answers.
    """
    return _Bert(opset, size, fused, weights or {}).build(head)


def fixed(built: onnx.ModelProto, batch: int, sequence: int) -> onnx.ModelProto:
    """Return the same model with numbers for the dims of its inputs and outputs."""
    numbers = {"batch": batch, "seq": sequence}
    for value in (*built.graph.input, *built.graph.output):
        for dim in value.type.tensor_type.shape.dim:
            if dim.dim_param:
                dim.dim_value = numbers[dim.dim_param]
    return built


def feed(batch: int = 1, sequence: int = 128, size: Size = SMALL, seed: int = 3) -> dict[str, Any]:
    """Return tokens with a mask that ends before the last of them."""
    rng = np.random.default_rng(seed)
    mask = np.ones((batch, sequence), dtype=np.int64)
    mask[:, sequence - sequence // 8 :] = 0
    kinds = np.zeros((batch, sequence), dtype=np.int64)
    return dict(zip(INPUTS, (rng.integers(1, size.words, (batch, sequence)), mask, kinds), strict=True))


def quantized(path: Path, target: Path, size: Size = SMALL, sequence: int = 64) -> Path:
    """Write the static INT8 form with QDQ nodes, calibrated on tokens."""
    from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static

    class Reader(CalibrationDataReader):  # type: ignore[misc]
        def __init__(self) -> None:
            self._feeds = iter([feed(sequence=sequence, size=size, seed=seed) for seed in range(8)])

        def get_next(self) -> dict[str, Any] | None:
            return next(self._feeds, None)

    quantize_static(
        str(path),
        str(target),
        Reader(),
        quant_format=QuantFormat.QDQ,
        op_types_to_quantize=["MatMul"],
        activation_type=QuantType.QUInt8,
        weight_type=QuantType.QInt8,
        per_channel=True,
    )
    return target


class _Bert:
    """Adds nodes in the order of the export."""

    def __init__(self, opset: int, size: Size, fused: bool, given: Mapping[str, Any]) -> None:
        self._opset, self._size, self._fused, self._given = opset, size, fused, given
        self._rng = np.random.default_rng(7)
        self._nodes: list[onnx.NodeProto] = []
        self._weights: list[onnx.TensorProto] = []

    def build(self, head: str) -> onnx.ModelProto:
        x = self._embeddings()
        mask = self._mask()
        for layer in range(self._size.layers):
            x = self._layer(f"/bert/encoder/layer.{layer}", x, mask)
        ids = [tensor(name, I64, ["batch", "seq"]) for name in INPUTS]
        heads = {CLASSES: self._classes, TOKENS: self._tokens, ANSWERS: self._answers}
        outputs = heads[head](x)
        return model(self._nodes, ids, outputs, self._weights, opset=self._opset)

    def _classes(self, x: str) -> list[onnx.ValueInfoProto]:
        size = self._size
        first = self._node("Gather", "/bert/pooler/Gather", x, self._constant(0, "/bert/pooler/Gather"), axis=1)
        pooled = self._node("Tanh", "/bert/pooler/Tanh", self._linear("bert.pooler.dense", first, size.hidden))
        self._linear("classifier", pooled, size.labels, output="logits")
        return [tensor("logits", F32, ["batch", size.labels])]

    def _tokens(self, x: str) -> list[onnx.ValueInfoProto]:
        self._product("/classifier", x, self._size.hidden, self._size.labels, output="logits")
        return [tensor("logits", F32, ["batch", "seq", self._size.labels])]

    def _answers(self, x: str) -> list[onnx.ValueInfoProto]:
        both = self._product("/qa_outputs", x, self._size.hidden, 2)
        parts = ["/Split_output_0", "/Split_output_1"]
        sizes = self._constant([1, 1], "/Split")
        self._nodes.append(helper.make_node("Split", [both, sizes], parts, name="/Split", axis=-1))
        names = ["start_logits", "end_logits"]
        for part, name in zip(parts, names, strict=True):
            self._node("Squeeze", "/Squeeze", part, self._constant([-1], "/Squeeze"), output=name)
        return [tensor(name, F32, ["batch", "seq"]) for name in names]

    def _node(self, op: str, name: str, *inputs: str, output: str = "", **attributes: Any) -> str:
        """Add a node, numbered like the exporter if the name is taken, and return its output."""
        taken = sum(node.name == name or node.name.startswith(f"{name}_") for node in self._nodes)
        full = f"{name}_{taken}" if taken else name
        output = output or f"{full}_output_0"
        self._nodes.append(helper.make_node(op, list(inputs), [output], name=full, **attributes))
        return output

    def _constant(self, value: Any, near: str, kind: Any = np.int64) -> str:
        return self._node("Constant", f"{near.rpartition('/')[0]}/Constant", value=weight("", np.array(value, kind)))

    def _weight(self, name: str, *shape: int, mean: float = 0.0, turned: bool = False) -> str:
        """Add a weight; a checkpoint holds it transposed if it is `turned`."""
        values = self._given.get(name)
        if values is None:
            values = self._rng.normal(mean, 0.05, shape).astype(np.float32)
        elif turned:
            values = values.T.copy()
        self._weights.append(weight(name, values))
        return name

    def _unsqueeze(self, name: str, x: str, axis: int) -> str:
        if self._opset < 13:
            return self._node("Unsqueeze", name, x, axes=[axis])
        return self._node("Unsqueeze", name, x, self._constant([axis], name))

    def _dim(self, scope: str, x: str, axis: int) -> str:
        """Return one dim of a value, as the exporter reads it."""
        shape = self._node("Shape", f"{scope}/Shape", x)
        return self._node("Gather", f"{scope}/Gather", shape, self._constant(axis, f"{scope}/Gather"), axis=0)

    def _embeddings(self) -> str:
        scope, size = "/bert/embeddings", self._size
        place = f"{scope}/Slice"
        end = self._unsqueeze("/bert/Unsqueeze", self._dim("/bert", "input_ids", 1), 0)
        self._weights.append(weight("bert.embeddings.position_ids", np.arange(size.places)[None]))
        limits = [self._constant([0], place), end, self._constant([1], place), self._constant([1], place)]
        places = self._node("Slice", place, "bert.embeddings.position_ids", *limits)
        parts = {
            "word_embeddings": (size.words, "input_ids"),
            "token_type_embeddings": (2, "token_type_ids"),
            "position_embeddings": (size.places, places),
        }
        x = ""
        for name, (count, ids) in parts.items():
            table = self._weight(f"bert.embeddings.{name}.weight", count, size.hidden)
            rows = self._node("Gather", f"{scope}/{name}/Gather", table, ids)
            x = self._node("Add", f"{scope}/Add", x, rows) if x else rows
        return self._normalize(f"{scope}/LayerNorm", x)

    def _mask(self) -> str:
        """Return the mask that is added to the scores: 0 for a token, the lowest number for padding."""
        x = self._unsqueeze("/bert/Unsqueeze", self._unsqueeze("/bert/Unsqueeze", "attention_mask", 1), 2)
        x = self._node("Cast", "/bert/Cast", x, to=F32)
        x = self._node("Sub", "/bert/Sub", self._constant(1.0, "/bert/Sub", np.float32), x)
        lowest = np.finfo(np.float32).min
        return self._node("Mul", "/bert/Mul", x, self._constant(lowest, "/bert/Mul", np.float32))

    def _normalize(self, scope: str, x: str) -> str:
        off = self._node("Sub", f"{scope}/Sub", x, self._node("ReduceMean", f"{scope}/ReduceMean", x, axes=[-1]))
        two = self._constant(2.0, f"{scope}/Pow", np.float32)
        squares = self._node("Pow", f"{scope}/Pow", off, two)
        spread = self._node("ReduceMean", f"{scope}/ReduceMean", squares, axes=[-1])
        spread = self._node("Add", f"{scope}/Add", spread, self._constant(1e-12, f"{scope}/Add", np.float32))
        x = self._node("Div", f"{scope}/Div", off, self._node("Sqrt", f"{scope}/Sqrt", spread))
        name = scope[1:].replace("/", ".")
        x = self._node("Mul", f"{scope}/Mul", x, self._weight(f"{name}.weight", self._size.hidden, mean=1.0))
        return self._node("Add", f"{scope}/Add", x, self._weight(f"{name}.bias", self._size.hidden))

    def _product(self, scope: str, x: str, inside: int, out: int, output: str = "") -> str:
        name = scope[1:].replace("/", ".")
        x = self._node("MatMul", f"{scope}/MatMul", x, self._weight(f"{name}.weight", inside, out, turned=True))
        return self._node("Add", f"{scope}/Add", self._weight(f"{name}.bias", out), x, output=output)

    def _linear(self, name: str, x: str, out: int, output: str = "") -> str:
        weights = self._weight(f"{name}.weight", out, self._size.hidden), self._weight(f"{name}.bias", out)
        return self._node(
            "Gemm", f"/{name.replace('.', '/')}/Gemm", x, *weights, output=output, alpha=1.0, beta=1.0, transB=1
        )

    def _reshape(self, scope: str, x: str, ends: Sequence[int]) -> str:
        dims = [self._dim(scope, x, axis) for axis in (0, 1)]
        parts = [self._unsqueeze(f"{scope}/Unsqueeze", dim, 0) for dim in dims]
        parts += [self._constant([end], f"{scope}/Concat") for end in ends]
        shape = self._node("Concat", f"{scope}/Concat", *parts, axis=0)
        if self._opset < 14:
            return self._node("Reshape", f"{scope}/Reshape", x, shape)
        return self._node("Reshape", f"{scope}/Reshape", x, shape, allowzero=0)

    def _layer(self, scope: str, x: str, mask: str) -> str:
        size, own = self._size, f"{scope}/attention/self"
        query = self._product(f"{own}/query", x, size.hidden, size.hidden)
        heads = {}
        for part in ("key", "value", "query"):
            y = query if part == "query" else self._product(f"{own}/{part}", x, size.hidden, size.hidden)
            y = self._reshape(own, y, [size.heads, size.hidden // size.heads])
            heads[part] = y if part == "key" else self._node("Transpose", f"{own}/Transpose", y, perm=[0, 2, 1, 3])
        # The exporter merges both transpositions of the keys.
        heads["key"] = self._node("Transpose", f"{own}/Transpose", heads["key"], perm=[0, 2, 3, 1])
        scores = self._node("Add", f"{own}/Add", self._scores(own, heads["query"], heads["key"]), mask)
        shares = self._node("Softmax", f"{own}/Softmax", scores, axis=3 if self._opset < 13 else -1)
        y = self._node("MatMul", f"{own}/MatMul", shares, heads["value"])
        y = self._reshape(own, self._node("Transpose", f"{own}/Transpose", y, perm=[0, 2, 1, 3]), [size.hidden])
        y = self._product(f"{scope}/attention/output/dense", y, size.hidden, size.hidden)
        after = f"{scope}/attention/output"
        x = self._normalize(f"{after}/LayerNorm", self._node("Add", f"{after}/Add", y, x))
        y = self._gelu(
            f"{scope}/intermediate", self._product(f"{scope}/intermediate/dense", x, size.hidden, size.inside)
        )
        y = self._product(f"{scope}/output/dense", y, size.inside, size.hidden)
        return self._normalize(f"{scope}/output/LayerNorm", self._node("Add", f"{scope}/output/Add", y, x))

    def _scores(self, scope: str, query: str, key: str) -> str:
        root = math.sqrt(self._size.hidden / self._size.heads)
        if not self._fused:
            scores = self._node("MatMul", f"{scope}/MatMul", query, key)
            return self._node("Div", f"{scope}/Div", scores, self._constant(root, f"{scope}/Div", np.float32))
        scale = self._node("Sqrt", f"{scope}/Sqrt", self._constant(1 / root, f"{scope}/Sqrt", np.float32))
        both = [self._node("Mul", f"{scope}/Mul", x, scale) for x in (query, key)]
        return self._node("MatMul", f"{scope}/MatMul", *both)

    def _gelu(self, scope: str, x: str) -> str:
        scope = f"{scope}/intermediate_act_fn"
        y = self._node("Div", f"{scope}/Div", x, self._constant(math.sqrt(2), f"{scope}/Div", np.float32))
        y = self._node("Erf", f"{scope}/Erf", y)
        y = self._node("Add", f"{scope}/Add", y, self._constant(1.0, f"{scope}/Add", np.float32))
        y = self._node("Mul", f"{scope}/Mul", x, y)
        return self._node("Mul", f"{scope}/Mul", y, self._constant(0.5, f"{scope}/Mul", np.float32))
