"""Parsed ONNX models: bytes to protobuf, and walks over nodes with unique ids and over weights."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import onnx

from tuibench.core.errors import ModelError
from tuibench.core.value import dataclass

Body = onnx.GraphProto | onnx.FunctionProto
_DTYPES = {"FLOAT": "float32", "DOUBLE": "float64"}


def parse(data: bytes, path: Path) -> onnx.ModelProto:
    """Parse a model; raise ModelError if the bytes are no model. Protobuf itself accepts an empty file."""
    try:
        model: onnx.ModelProto = onnx.ModelProto.FromString(data)
    except MemoryError:
        raise
    except Exception as error:  # the parser's error types are not importable from here
        raise ModelError("model_unparsable", path=str(path), bad_name=_is_encoding_error(error)) from None
    if not model.HasField("graph"):
        raise ModelError("model_without_graph", path=str(path))
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


def _is_encoding_error(error: Exception) -> bool:
    return isinstance(error, UnicodeDecodeError) or "utf-8" in str(error).lower() or "utf8" in str(error).lower()


_ONNX = ("", "ai.onnx")


@dataclass(frozen=True, slots=True)
class Placed:
    """A node and its position."""

    id: str
    """Name of its first output, unique in its graph, prefixed with the ids of enclosing nodes and branches."""
    index: int
    node: onnx.NodeProto
    graph: onnx.GraphProto
    """The graph that contains the node."""
    parent: str = ""
    """Id of the node whose subgraph contains this node; '' at the top."""
    scope: str = ""
    """Common prefix of the ids of all nodes in its graph."""

    @property
    def op(self) -> str:
        """The operator, with its domain unless that is ONNX's own."""
        return op_of(self.node)


def op_of(node: onnx.NodeProto) -> str:
    """Return an operator, with its domain unless that is ONNX's own."""
    return node.op_type if node.domain in _ONNX else f"{node.domain}.{node.op_type}"


def walk(graph: onnx.GraphProto) -> Iterator[Placed]:
    """Yield all nodes in file order, each before the nodes of its subgraphs."""
    counter = 0
    # A stack instead of recursion: the file decides how deep subgraphs are nested.
    waiting: list[tuple[onnx.GraphProto, int, str, str]] = [(graph, 0, "", "")]
    while waiting:
        inside, at, above, parent = waiting.pop()
        if at == len(inside.node):
            continue
        waiting.append((inside, at + 1, above, parent))
        node = inside.node[at]
        own = next((name for name in node.output if name), "") or f"{op_of(node)}#{at}"
        placed = Placed(f"{above}{own}", counter, node, inside, parent, above)
        counter += 1
        yield placed
        for attribute in reversed(node.attribute):
            inner = [attribute.g] if attribute.type == onnx.AttributeProto.GRAPH else list(attribute.graphs)
            for number, graph_in in reversed(list(enumerate(inner))):
                name = attribute.name if len(inner) == 1 else f"{attribute.name}[{number}]"
                waiting.append((graph_in, 0, f"{placed.id}/{name}/", placed.id))
