"""Every node of a model with a unique id, subgraphs included; profiles refer to nodes by these ids."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import onnx

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
