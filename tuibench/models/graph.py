"""Parsed ONNX model: converts bytes to protobuf, and walks nodes and weights including subgraphs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import onnx

from tuibench.core.errors import ModelError
from tuibench.core.text import show

Body = onnx.GraphProto | onnx.FunctionProto
_DTYPES = {"FLOAT": "float32", "DOUBLE": "float64"}


def parse(data: bytes, path: Path) -> onnx.ModelProto:
    """Parse a model; raise ModelError if the bytes are no model. Protobuf itself accepts an empty file."""
    try:
        model: onnx.ModelProto = onnx.ModelProto.FromString(data)
    except MemoryError:
        raise
    except Exception as error:  # the parser's error types are not importable from here
        cause = "a name in it is not valid UTF-8" if _is_utf8(error) else "it is truncated, damaged or something else"
        raise ModelError(f"{show(path)} is not a readable ONNX model: {cause}", "fetch or export it again") from None
    if not model.HasField("graph"):
        raise ModelError(f"{show(path)} holds no graph, so there is nothing to run", "export the model again")
    return model


def dtype_name(element: int) -> str:
    """Return the numpy-like name of a TensorProto element type, as used in Port."""
    try:
        name: str = onnx.TensorProto.DataType.Name(element)
    except ValueError:
        return f"type{element}"
    return _DTYPES.get(name, name.lower())


def text(value: str | bytes) -> str:
    """Return a name as text; protobuf returns bytes if a name is not UTF-8."""
    return value.decode("utf-8", "surrogateescape") if isinstance(value, bytes) else value


def walk_bodies(*roots: Body) -> Iterator[Body]:
    """Yield graphs or functions and all their subgraphs; a stack avoids the recursion limit."""
    waiting = list(reversed(roots))
    while waiting:
        current = waiting.pop()
        yield current
        for node in current.node:
            for attribute in node.attribute:
                if attribute.HasField("g"):
                    waiting.append(attribute.g)
                waiting.extend(attribute.graphs)


def walk_nodes(model: onnx.ModelProto) -> Iterator[onnx.NodeProto]:
    """Yield every node once per definition: a body counts once, however often it is called or repeated."""
    for body in walk_bodies(model.graph, *model.functions):
        yield from body.node


def walk_weights(model: onnx.ModelProto) -> Iterator[onnx.TensorProto]:
    """Yield every initializer, and the tensors of Constant nodes."""
    for body in walk_bodies(model.graph, *model.functions):
        if isinstance(body, onnx.GraphProto):
            yield from body.initializer
            yield from (sparse.values for sparse in body.sparse_initializer)
        for node in body.node:
            if node.op_type == "Constant":
                yield from (a.t for a in node.attribute if a.HasField("t"))


def _is_utf8(error: Exception) -> bool:
    return isinstance(error, UnicodeDecodeError) or "utf-8" in str(error).lower() or "utf8" in str(error).lower()
