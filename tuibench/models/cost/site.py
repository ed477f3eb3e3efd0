"""Graph for counting: every node with the scope in which its names are looked up."""

from __future__ import annotations

from dataclasses import dataclass, field

import onnx

from tuibench.models.cost.tensor import Tensor
from tuibench.models.graph import dtype_name, text
from tuibench.models.node import walk


@dataclass(eq=False)
class Scope:
    """The names of one graph; other names are looked up in the enclosing graph."""

    graph: onnx.GraphProto
    owner: int = -1
    """Index of the node whose subgraph this is; -1 at the top."""
    around: Scope | None = None
    sites: list[Site] = field(default_factory=list)
    tensors: dict[str, Tensor] = field(default_factory=dict)
    makers: dict[str, Site] = field(default_factory=dict)
    weights: dict[str, onnx.TensorProto] = field(default_factory=dict)

    def home(self, name: str) -> Scope | None:
        """Return the scope that defines a name."""
        found: Scope | None = self
        while found is not None and name not in found.tensors and name not in found.makers:
            found = found.around
        return found

    def tensor(self, name: str) -> Tensor:
        """Return the known type and shape of a tensor by its name in this scope."""
        scope: Scope | None = self
        while scope is not None:
            found = scope.tensors.get(name)
            if found is not None:
                return found
            if name in scope.makers:
                break
            scope = scope.around
        return _NOTHING_KNOWN

    def learn(self, name: str, tensor: Tensor) -> None:
        """Add the type or shape of a name of this scope; a known shape stays."""
        old = self.tensors.get(name)
        if old is None:
            self.tensors[name] = tensor
        elif old.shape is None or not old.dtype:
            shape = tensor.shape if old.shape is None else old.shape
            self.tensors[name] = Tensor(old.dtype or tensor.dtype, shape)

    def maker(self, name: str) -> Site | None:
        """Return the node that makes a tensor."""
        scope = self.home(name)
        return scope.makers.get(name) if scope is not None else None


@dataclass(eq=False)
class Site:
    """One node and its scope."""

    index: int
    id: str
    op: str
    name: str
    """Name in the file."""
    node: onnx.NodeProto
    scope: Scope
    inputs: tuple[str, ...]
    """Names of the inputs, '' for omitted ones."""
    outputs: tuple[str, ...]
    inner: list[Scope] = field(default_factory=list)
    """The subgraphs of the node."""


_NOTHING_KNOWN = Tensor("", None)


def find_sites(graph: onnx.GraphProto) -> tuple[list[Site], Scope]:
    """Return every node of a model in the order of `walk`, and the top scope."""
    top = _scope(graph)
    scopes: dict[int, Scope] = {id(graph): top}
    by_id: dict[str, Site] = {}
    sites: list[Site] = []
    for placed in walk(graph):
        scope = scopes.get(id(placed.graph))
        if scope is None:
            owner = by_id[placed.parent]
            scope = _scope(placed.graph, owner)
            scopes[id(placed.graph)] = scope
            owner.inner.append(scope)
        node = placed.node
        names = tuple(text(name) for name in node.input), tuple(text(name) for name in node.output)
        site = Site(placed.index, placed.id, placed.op, text(node.name), node, scope, *names)
        sites.append(site)
        scope.sites.append(site)
        scope.makers.update((name, site) for name in site.outputs if name)
        if any(a.type in _GRAPHS for a in node.attribute):
            by_id[placed.id] = site
    return sites, top


_GRAPHS = (onnx.AttributeProto.GRAPH, onnx.AttributeProto.GRAPHS)


def _scope(graph: onnx.GraphProto, owner: Site | None = None) -> Scope:
    """Return a scope filled with its weights and inputs."""
    if owner is None:
        scope = Scope(graph)
    else:
        scope = Scope(graph, owner.index, owner.scope)
    for weight in graph.initializer:
        scope.weights[text(weight.name)] = weight
        scope.tensors[text(weight.name)] = Tensor(dtype_name(weight.data_type), tuple(weight.dims))
    for sparse in graph.sparse_initializer:
        scope.tensors[text(sparse.values.name)] = Tensor(dtype_name(sparse.values.data_type), tuple(sparse.dims))
    for value in graph.input:
        kind = value.type.tensor_type.elem_type if value.type.WhichOneof("value") == "tensor_type" else 0
        scope.tensors.setdefault(text(value.name), Tensor(dtype_name(kind), None) if kind else _NOTHING_KNOWN)
    return scope
