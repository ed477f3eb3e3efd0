"""Resolves a name in a graph to its source, through the surrounding graphs."""

from __future__ import annotations

from dataclasses import dataclass

import onnx

from tuibench.models.node import walk


@dataclass(frozen=True, slots=True)
class Source:
    """The source of a name's value: an initializer, or the node that outputs it."""

    graph: onnx.GraphProto
    name: str
    tensor: onnx.TensorProto | None
    node: onnx.NodeProto | None


class Scopes:
    """All graphs of a model, each linked to the graph around it."""

    def __init__(self, graph: onnx.GraphProto) -> None:
        self.places = tuple(walk(graph))
        graphs = {place.id: place.graph for place in self.places}
        self._outer = {id(place.graph): graphs[place.parent] for place in self.places if place.parent}
        self._sources: dict[int, dict[str, Source | None]] = {}

    def find(self, graph: onnx.GraphProto, name: str) -> Source | None:
        """Return the source of `name` in `graph`; None for an input or an unknown name."""
        current: onnx.GraphProto | None = graph
        while current is not None:
            known = self._known(current)
            if name in known:
                return known[name]
            current = self._outer.get(id(current))
        return None

    def _known(self, graph: onnx.GraphProto) -> dict[str, Source | None]:
        found = self._sources.get(id(graph))
        if found is None:
            found = {value.name: None for value in graph.input}
            found |= {tensor.name: Source(graph, tensor.name, tensor, None) for tensor in graph.initializer}
            found |= {name: Source(graph, name, None, node) for node in graph.node for name in node.output if name}
            self._sources[id(graph)] = found
        return found
