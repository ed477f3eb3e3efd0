"""Every node of a model with an id of its own, subgraphs where they stand: what costs, times and losses are told by."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import onnx

_ONNX = ("", "ai.onnx")


@dataclass(frozen=True, slots=True)
class Placed:
    """A node and where it is."""

    id: str
    """The name of its first output, unique in its graph, below the ids of the nodes and branches that it lies in."""
    index: int
    node: onnx.NodeProto
    graph: onnx.GraphProto
    """The one that it lies in."""
    parent: str = ""
    """Id of the node whose subgraph that is; '' at the top."""
    scope: str = ""
    """What the ids of all nodes of its graph begin with."""

    @property
    def op(self) -> str:
        """Its operator, with the domain where that is not ONNX's own."""
        return op_of(self.node)


def op_of(node: onnx.NodeProto) -> str:
    """An operator, with the domain where that is not ONNX's own."""
    return node.op_type if node.domain in _ONNX else f"{node.domain}.{node.op_type}"


def walk(graph: onnx.GraphProto) -> Iterator[Placed]:
    """All nodes in the order of the file, each before those of its subgraphs."""
    counter = 0
    # A stack instead of recursion: how deep subgraphs lie is up to the file.
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
