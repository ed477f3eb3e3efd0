"""Broken and malicious models, made on demand for tests."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper

from tests.engines.make import build, mlp, normal, op, tensor

Maker = Callable[[Path], Path]
HUGE = 25_000_000_000
HOSTILE = {
    "escapes": "\x1b[31m\x1b[2J\x1b]0;owned\x07red\x9b31m",
    "markup": "[red]x[/] [link=file:///etc]l[/link] [/nope]",
    "lines": "one\ntwo\r\n\ttab\x08\x08back\x00nul\u202eright\u2028sep",
}


def saved(model: onnx.ModelProto, folder: Path, name: str = "bad.onnx") -> Path:
    """Save the model as a file."""
    path = folder / name
    path.write_bytes(model.SerializeToString())
    return path


def written(data: bytes) -> Maker:
    """Return a function that writes a file with these bytes."""

    def make(folder: Path) -> Path:
        path = folder / "bad.onnx"
        path.write_bytes(data)
        return path

    return make


def truncated(folder: Path) -> Path:
    """A truncated download."""
    data = mlp(64).model.SerializeToString()
    return written(data[: len(data) * 6 // 10])(folder)


def fifo(folder: Path) -> Path:
    """A pipe without a writer."""
    os.mkfifo(folder / "bad.onnx")
    return folder / "bad.onnx"


def endless(folder: Path) -> Path:
    """A link to an endless device."""
    (folder / "bad.onnx").symlink_to("/dev/zero")
    return folder / "bad.onnx"


def dangling(folder: Path) -> Path:
    """A dangling link."""
    (folder / "bad.onnx").symlink_to(folder / "nowhere" / "model.onnx")
    return folder / "bad.onnx"


def hollow(folder: Path) -> Path:
    """A directory without a model."""
    (folder / "hollow").mkdir()
    (folder / "hollow" / "notes.txt").write_text("no model", encoding="ascii")
    return folder / "hollow"


def missing(folder: Path) -> Path:
    """A missing file."""
    return folder / "missing.onnx"


def future_opset(folder: Path) -> Path:
    """Operators of an unknown opset version."""
    model = mlp().model
    model.opset_import[0].version = 999
    return saved(model, folder)


def unknown_operator(folder: Path) -> Path:
    """An unknown operator."""
    return saved(build([op("Frobnicate", "x", "y")], [tensor("x", [1, 4])], [tensor("y", [1, 4])]), folder)


def unknown_domain(folder: Path) -> Path:
    """An operator of an unknown custom domain."""
    model = build([op("MyOp", "x", "y", domain="com.acme")], [tensor("x", [1, 4])], [tensor("y", [1, 4])])
    model.opset_import.append(helper.make_opsetid("com.acme", 1))
    return saved(model, folder)


def external(location: str) -> Maker:
    """Return a function that makes a model whose external weights are at `location`."""

    def make(folder: Path) -> Path:
        model = build([op("MatMul", "x w", "y")], [tensor("x", [1, 4])], [tensor("y", [1, 4])])
        weight = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=[4, 4], data_location=TensorProto.EXTERNAL)
        weight.external_data.add(key="location", value=location)
        model.graph.initializer.append(weight)
        inner = folder / "inner"
        inner.mkdir()
        (folder / "outside.bin").write_bytes(bytes(64))
        return saved(model, inner)

    return make


def no_outputs(folder: Path) -> Path:
    """A graph without outputs."""
    return saved(build([op("Relu", "x", "y")], [tensor("x", [1, 4])], []), folder)


def endless_loop(folder: Path) -> Path:
    """A loop that counts to 2^63 - 1."""
    carry = [tensor("i", [], TensorProto.INT64), tensor("c", [], TensorProto.BOOL), tensor("a", [1, 4])]
    out = [tensor("c_out", [], TensorProto.BOOL), tensor("a_out", [1, 4])]
    nodes = [op("Identity", "c", "c_out"), op("Identity", "a", "a_out")]
    body = helper.make_graph(nodes, "body", carry, out)
    loop = helper.make_node("Loop", ["trip", "true", "x"], ["y"], body=body)
    weights: dict[str, Any] = {"trip": np.array(2**63 - 1), "true": np.array(True)}
    return saved(build([loop], [tensor("x", [1, 4])], [tensor("y", [1, 4])], **weights), folder)


def hundred_gigabytes(folder: Path) -> Path:
    """A model that expands one float to 25 thousand million floats."""
    nodes = [
        op("Cast", "x", "i", to=TensorProto.INT64),
        op("Mul", "i zero", "z"),
        op("Add", "z many", "shape"),
        op("ConstantOfShape", "shape", "all"),
        op("ReduceMax", "all", "y", keepdims=0),
    ]
    weights: dict[str, Any] = {"zero": np.array([0]), "many": np.array([HUGE])}
    return saved(build(nodes, [tensor("x", [1])], [tensor("y", [])], **weights), folder)


def divides_by_minus_one(folder: Path) -> Path:
    """INT64_MIN / -1, which raises a CPU exception."""
    nodes = [op("Mul", "x zero", "z"), op("Add", "z low", "a"), op("Add", "z minus", "b"), op("Div", "a b", "y")]
    weights: dict[str, Any] = {"zero": np.array([0]), "low": np.array([-(2**63)]), "minus": np.array([-1])}
    ports = [tensor("x", [1, 4], TensorProto.INT64)], [tensor("y", [1, 4], TensorProto.INT64)]
    return saved(build(nodes, *ports, **weights), folder)


def hostile_names(text: str) -> Maker:
    """Return a function that makes a valid model with terminal control codes in every name."""

    def make(folder: Path) -> Path:
        into, out, weight = f"{text}i", f"{text}o", f"{text}w"
        node = helper.make_node("MatMul", [into, weight], [out], name=f"{text}n")
        ports = [tensor(into, [f"{text}b", 4])], [tensor(out, [f"{text}b", 4])]
        model = build([node], *ports, **{weight: normal(4, 4)})
        model.producer_name = model.graph.name = model.doc_string = text
        helper.set_model_props(model, {text: text})
        return saved(model, folder, f"{text.replace('/', '_')[:40]}.onnx".replace("\0", "_"))

    return make


def invalid_utf8(folder: Path) -> Path:
    """A name that is not valid UTF-8."""
    model = build([op("Relu", "PORT", "y")], [tensor("PORT", [1, 4])], [tensor("y", [1, 4])])
    data = model.SerializeToString().replace(b"PORT", b"\xff\xfe\x9b1")
    return written(data)(folder)
