"""A model as one flat graph: every node with what it reads from, across the borders of subgraphs."""

from __future__ import annotations

from collections import defaultdict

import onnx

from tuibench.models.node import Placed, walk

Tensor = tuple[str, str]
"""(scope, name): names are unique in a graph, and those of outer graphs are seen from within."""


class Flat:
    """The nodes of a graph and of all graphs in it, and the tensors between them."""

    def __init__(self, graph: onnx.GraphProto) -> None:
        self.nodes = list(walk(graph))
        self.producer: dict[Tensor, int] = {}
        self.inputs: list[list[Tensor]] = []
        """Per node what it reads; of one that holds graphs also what these read from outside, and what they give."""
        self.named: dict[Tensor, list[int]] = defaultdict(list)
        """(scope, name of a node) to those that have it."""
        self.giving: dict[str, list[int]] = defaultdict(list)
        """Name of a tensor to all nodes, in whatever graph, that give one called so."""
        self._scope_of: dict[str, str] = {}
        self._by_id = {placed.id: number for number, placed in enumerate(self.nodes)}
        self._own: dict[str, set[str]] = {"": _given(graph)}
        self._given_back: dict[str, set[str]] = {}
        for number, placed in enumerate(self.nodes):
            self._learn(number, placed)
        for placed in self.nodes:
            self.inputs.append(self._read(placed))
        for number, placed in enumerate(self.nodes):
            self._reach_out(number, placed)
        self.fed = {("", value.name) for value in graph.input} - {("", tensor.name) for tensor in graph.initializer}

    def parent(self, number: int) -> int | None:
        """The node that a node lies in."""
        above = self.nodes[number].parent
        return self._by_id[above] if above else None

    def within(self, scope: str) -> str | None:
        """The scope around a scope."""
        return self._scope_of.get(scope)

    def dynamic(self, still: frozenset[int] = frozenset()) -> list[bool]:
        """Per node whether what it gives depends on what is fed; the nodes in `still` are taken not to."""
        found = [False] * len(self.nodes)
        waiting = [number for number, placed in enumerate(self.nodes) if placed.op in _RANDOM or self._is_fed(number)]
        readers: dict[int, list[int]] = defaultdict(list)
        for number, tensors in enumerate(self.inputs):
            for tensor in tensors:
                if (made := self.producer.get(tensor)) is not None:
                    readers[made].append(number)
        # Each node is passed once, however deep graphs lie in it.
        while waiting:
            number = waiting.pop()
            if not found[number] and number not in still:
                found[number] = True
                waiting.extend(readers[number])
        return found

    def _is_fed(self, number: int) -> bool:
        """Whether a node reads what is fed, or what a body is given by its loop, which changes with every turn."""
        for tensor in self.inputs[number]:
            given = tensor[0] and tensor[1] in self._own.get(tensor[0], ())
            if tensor in self.fed or (given and tensor not in self.producer):
                return True
        return False

    def _learn(self, number: int, placed: Placed) -> None:
        if placed.scope not in self._own:
            self._own[placed.scope] = _given(placed.graph)
        if placed.parent:
            self._scope_of[placed.scope] = self.nodes[self._by_id[placed.parent]].scope
        if placed.node.name:
            self.named[placed.scope, placed.node.name].append(number)
        for name in placed.node.output:
            if name:
                self.producer[placed.scope, name] = number
                self.giving[name].append(number)

    def _read(self, placed: Placed) -> list[Tensor]:
        return [self.resolve(placed.scope, name) for name in placed.node.input if name]

    def resolve(self, scope: str, name: str) -> Tensor:
        """The tensor that a name means within a scope."""
        at: str | None = scope
        while at is not None:
            if (at, name) in self.producer or name in self._own.get(at, ()):
                return at, name
            at = self._scope_of.get(at)
        return "", name

    def _reach_out(self, number: int, placed: Placed) -> None:
        """Let the nodes around a node read what it reads beyond them, and what their graphs give."""
        above = self.parent(number)
        while above is not None:
            outer = self.nodes[above]
            for name in placed.node.input:
                tensor = self.resolve(placed.scope, name)
                if name and outer.scope.startswith(tensor[0]):
                    self.inputs[above].append(tensor)
            above = self.parent(above)
        direct = self.parent(number)
        if direct is not None:
            if placed.scope not in self._given_back:
                self._given_back[placed.scope] = {value.name for value in placed.graph.output}
            given = self._given_back[placed.scope]
            self.inputs[direct].extend((placed.scope, name) for name in placed.node.output if name in given)


_RANDOM = frozenset({"RandomNormal", "RandomUniform", "RandomNormalLike", "RandomUniformLike", "Multinomial"})


def _given(graph: onnx.GraphProto) -> set[str]:
    """Names that a graph has without a node of its own."""
    sparse = {tensor.values.name for tensor in graph.sparse_initializer}
    return {value.name for value in graph.input} | {tensor.name for tensor in graph.initializer} | sparse
