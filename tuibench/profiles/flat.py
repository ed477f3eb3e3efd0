"""A model as one flat graph: every node with the tensors it reads, across subgraph borders."""

from __future__ import annotations

from collections import defaultdict

import onnx

from tuibench.models.node import Placed, walk

Tensor = tuple[str, str]
"""(scope, name): names are unique within a graph; inner graphs see the names of outer ones."""


class Flat:
    """The nodes of a graph and of all its subgraphs, with the tensors between them."""

    def __init__(self, graph: onnx.GraphProto) -> None:
        self.nodes = list(walk(graph))
        self.producer: dict[Tensor, int] = {}
        self.inputs: list[list[Tensor]] = []
        """The tensors each node reads; for a node with subgraphs also their outside reads and their outputs."""
        self.named: dict[Tensor, list[int]] = defaultdict(list)
        """Maps (scope, node name) to the nodes with that name."""
        self.giving: dict[str, list[int]] = defaultdict(list)
        """Maps a tensor name to all nodes in any graph that produce a tensor with it."""
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
        """Return the node whose subgraph contains this one, or None at the top."""
        above = self.nodes[number].parent
        return self._by_id[above] if above else None

    def within(self, scope: str) -> str | None:
        """Return the scope that contains a scope."""
        return self._scope_of.get(scope)

    def dynamic(self, still: frozenset[int] = frozenset()) -> list[bool]:
        """Per node, return whether its output depends on the inputs; treat the nodes in `still` as constant."""
        found = [False] * len(self.nodes)
        waiting = [number for number, placed in enumerate(self.nodes) if placed.op in _RANDOM or self._is_fed(number)]
        readers: dict[int, list[int]] = defaultdict(list)
        for number, tensors in enumerate(self.inputs):
            for tensor in tensors:
                if (made := self.producer.get(tensor)) is not None:
                    readers[made].append(number)
        # Visit each node once, however deep its subgraphs are.
        while waiting:
            number = waiting.pop()
            if not found[number] and number not in still:
                found[number] = True
                waiting.extend(readers[number])
        return found

    def _is_fed(self, number: int) -> bool:
        """Return whether a node reads a model input, or a loop variable that changes with each iteration."""
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
        """Return the tensor that a name refers to within a scope."""
        at: str | None = scope
        while at is not None:
            if (at, name) in self.producer or name in self._own.get(at, ()):
                return at, name
            at = self._scope_of.get(at)
        return "", name

    def _reach_out(self, number: int, placed: Placed) -> None:
        """Add a node's outer reads to the nodes that contain it, and its graph's outputs to its parent."""
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
    """Return the names a graph defines without a node: inputs and initializers."""
    sparse = {tensor.values.name for tensor in graph.sparse_initializer}
    return {value.name for value in graph.input} | {tensor.name for tensor in graph.initializer} | sparse
