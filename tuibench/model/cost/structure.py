"""Structure for counting: nodes with their scopes, tensors, branches and function calls."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property
from typing import Any

import onnx

from tuibench.core.model import ELEMENT_BITS
from tuibench.core.profile import NodeCost
from tuibench.core.reason import LIGHTER_BRANCH, Reason, because
from tuibench.core.value import dataclass
from tuibench.model.graph import Body, dtype_name, text, walk, walk_bodies

Shape = tuple[int, ...]

_PROFILER_NAMES = {"float": "float32", "double": "float64"}

QUANTIZED = ("int8", "uint8", "int16", "uint16", "int4", "uint4", "int2", "uint2")
"""Element types of quantized weights; wider integers are shapes and indices."""
EIGHT_BITS = ("int8", "uint8")


@dataclass(frozen=True, slots=True)
class Tensor:
    """One tensor; '' for an unknown type, None for an unknown shape."""

    dtype: str
    shape: Shape | None

    @property
    def elements(self) -> int | None:
        """Number of elements."""
        return None if self.shape is None else math.prod(self.shape)

    @property
    def size(self) -> int | None:
        """Size in bytes; None if unknown, and for text, which has no fixed size."""
        return size_of(self.dtype, self.shape)


def size_of(dtype: str, shape: Shape | None) -> int | None:
    """Return the bytes of a shape in an element type; types of less than a byte are packed."""
    bits = ELEMENT_BITS.get(dtype)
    return None if bits is None or shape is None else (math.prod(shape) * bits + 7) // 8


def profiler_dtype(name: str) -> str:
    """Return this package's name of an element type in ONNX Runtime's profile."""
    return _PROFILER_NAMES.get(name, name)


def is_parameter_type(dtype: str) -> bool:
    """Return whether elements of this type are learned weights."""
    return dtype.startswith(("float", "bfloat", "complex")) or dtype in QUANTIZED


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


class Unknown(Exception):
    """Raised for a cost that cannot be computed; takes the code and the fields of the reason."""

    def __init__(self, code: str, **fields: Any) -> None:
        super().__init__(code)
        self.reason = because(code, **fields)


@dataclass(frozen=True, slots=True)
class Work:
    """Work of one execution of a node; None if unknown."""

    macs: int | None = 0
    element_flops: int | None = 0
    integer: bool = False
    why: Reason | None = None


@dataclass(frozen=True)
class Call:
    """A node with the tensors that it reads and writes in one execution; None for omitted ones."""

    node: onnx.NodeProto
    inputs: Sequence[Tensor | None]
    outputs: Sequence[Tensor | None]
    quantized: bool = False
    """True if its first two inputs come from 8-bit values, so that an engine may multiply integers."""

    def has(self, number: int) -> bool:
        """Return whether input `number` is present."""
        return number < len(self.inputs) and self.inputs[number] is not None

    def shape(self, number: int) -> Shape:
        """Return the shape of an input; raise Unknown if it is not known."""
        return _shape(self.inputs, number, "input")

    def out(self, number: int = 0) -> Shape:
        """Return the shape of an output; raise Unknown if it is not known."""
        return _shape(self.outputs, number, "output")

    def elements(self, number: int = 0) -> int:
        """Return the number of elements of an input."""
        return math.prod(self.shape(number))

    def written(self, number: int = 0) -> int:
        """Return the number of elements of an output."""
        return math.prod(self.out(number))

    def number(self, name: str, default: int = 0) -> int:
        """Return an integer attribute."""
        found = self._attributes.get(name)
        return int(found.i) if found is not None else default

    def numbers(self, name: str) -> tuple[int, ...]:
        """Return an attribute that is a list of integers."""
        found = self._attributes.get(name)
        return tuple(found.ints) if found is not None else ()

    def words(self, name: str, default: str = "") -> str:
        """Return a text attribute."""
        found = self._attributes.get(name)
        return text(found.s) if found is not None else default

    def floats(self, name: str) -> int:
        """Return the length of an attribute that is a list of floats."""
        found = self._attributes.get(name)
        return len(found.floats) if found is not None else 0

    @cached_property
    def _attributes(self) -> dict[str, onnx.AttributeProto]:
        return {text(attribute.name): attribute for attribute in self.node.attribute}


Count = Callable[[Call], Work]


def _shape(tensors: Sequence[Tensor | None], number: int, what: str) -> Shape:
    found = tensors[number] if number < len(tensors) else None
    if found is None:
        raise Unknown("tensor_missing", what=what, number=number)
    if found.shape is None:
        raise Unknown("shape_unknown", what=what, number=number)
    return found.shape


def choose_branches(sites: Sequence[Site], costs: list[NodeCost]) -> None:
    """Set the costs in all lighter branches to zero, inner branches first, so that outer ones weigh the rest."""
    last, why = ends(sites), Reason(LIGHTER_BRANCH)
    for site in reversed(sites):
        if site.op != "If" or len(site.inner) < 2:
            continue
        weighed = [(_weight(costs, scope, last), scope) for scope in site.inner]
        heaviest = max(weighed, key=lambda pair: pair[0])[1]
        for _, scope in weighed:
            if scope is not heaviest:
                for index in _inside(scope, last):
                    costs[index] = replace(costs[index], macs=0, element_flops=0, activation_bytes=0, times=0, why=why)


def ends(sites: Sequence[Site]) -> list[int]:
    """Return for each node the index after the last node of its subgraphs."""
    last = [site.index + 1 for site in sites]
    for site in reversed(sites):
        if site.scope.owner >= 0:
            last[site.scope.owner] = max(last[site.scope.owner], last[site.index])
    return last


def _inside(scope: Scope, last: Sequence[int]) -> range:
    if not scope.sites:
        return range(0)
    return range(scope.sites[0].index, last[scope.sites[-1].index])


def _weight(costs: Sequence[NodeCost], scope: Scope, last: Sequence[int]) -> tuple[int, int]:
    inside = [costs[index] for index in _inside(scope, last)]
    return sum(c.macs or 0 for c in inside), sum(c.element_flops or 0 for c in inside)


MOST_NODES = 20_000
"""Total limit of nodes that calls expand to: about 2 s and 60 MB of counting."""
UNEXPANDED = "tuibench: left out"
"""Overload of a call that is not expanded; no function has this overload."""
_PART = "tuibench: part "
"""Prefix of the overload of a partly expanded function."""
_ENDLESS = 1 << 62
"""Largest length that is counted."""

Key = tuple[str, str, str]
"""Domain, name and overload; one name may have several overloads."""


def key_of(function: onnx.FunctionProto) -> Key:
    """Return the key of a function."""
    return text(function.domain), text(function.name), text(function.overload)


def called(node: onnx.NodeProto) -> Key:
    """Return the key of the function that a node would call."""
    return text(node.domain), text(node.op_type), text(node.overload)


def expanded_lengths(functions: Iterable[onnx.FunctionProto]) -> dict[Key, int] | None:
    """Return the number of nodes that each function expands to; None if a function calls itself."""
    known = {key_of(function): Counter(map(called, _nodes(function))) for function in functions}
    lengths: dict[Key, int] = {}
    for first in known:
        waiting, open_ = [first], set[Key]()
        while waiting:
            key = waiting[-1]
            missing = [callee for callee in known[key] if callee in known and callee not in lengths]
            if key in lengths or not missing:
                waiting.pop()
                open_.discard(key)
                total = sum(count * lengths.get(callee, 1) for callee, count in known[key].items())
                lengths[key] = min(total, _ENDLESS)
            elif key in open_:
                return None
            else:
                open_.add(key)
                waiting += missing
    return lengths


def limit_calls(model: onnx.ModelProto, lengths: Mapping[Key, int], budget: int = MOST_NODES) -> bool:
    """Leave out calls, in the model's order, so that the rest expands to `budget` nodes; return False if all fit.

    The first call that does not fit is expanded in part, so that its innermost nodes are counted too.
    """
    if sum(lengths.get(called(node), 0) for node in _nodes(model.graph)) <= budget:
        return False
    functions = {key_of(function): function for function in model.functions}
    body: Body | None = model.graph
    depth, left = 0, budget
    while body is not None:
        part: Key | None = None
        nodes = list(_nodes(body))
        left -= sum(called(node) not in lengths for node in nodes) if depth else 0
        for node in nodes:
            key = called(node)
            length = lengths.get(key)
            if length is None:
                continue
            if length <= left:
                left -= length
            elif part is None and left > 0:
                part, node.overload = key, f"{_PART}{depth}"
            else:
                node.overload = UNEXPANDED
        body = None
        if part is not None:
            body = model.functions.add()
            body.CopyFrom(functions[part])
            body.overload = f"{_PART}{depth}"
            depth += 1
    return True


def _nodes(body: Body) -> Iterator[onnx.NodeProto]:
    for inner in walk_bodies(body):
        yield from inner.node
