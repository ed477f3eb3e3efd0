"""What a model knows beforehand: its weights, and everything that depends on nothing else."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import onnx

from tuibench.models.cost.site import Scope, Site
from tuibench.models.cost.tensor import Shape, is_parameter_type, size_of
from tuibench.models.graph import dtype_name, text

_MOST_SOURCES = 16
"""Weights behind one computed constant; of more, its own node keeps them."""
_VARYING = frozenset({"RandomNormal", "RandomUniform", "RandomNormalLike", "RandomUniformLike", "Multinomial",
                      "Bernoulli"})  # fmt: skip


@dataclass(eq=False)
class Constant:
    """One weight as it lies in the file, or is made there of one value."""

    name: str
    dtype: str
    shape: Shape
    proto: onnx.TensorProto | None
    """None where it is made of one value, or holds only what is not zero."""
    zeros: int = 0
    """Of those without bytes of their own."""
    elements: int = 0
    """What counts as parameters."""
    zero_point: Constant | None = None
    """What stands for 0 in it, where that is a value of its own."""
    packed: bool = False
    """Whether several values lie in one element, so that zeros cannot be told."""

    @property
    def size(self) -> int:
        """Its bytes."""
        return size_of(self.dtype, self.shape) or 0


@dataclass
class Constants:
    """Which tensors are constant, and which weights lie behind each."""

    behind: dict[tuple[int, str], tuple[Constant, ...]] = field(default_factory=dict)
    """By scope and name: of a tensor that depends on weights alone."""
    folded: set[int] = field(default_factory=set)
    """Nodes that depend on nothing but constants."""

    def find(self, scope: Scope, name: str) -> tuple[Constant, ...] | None:
        """The weights behind a tensor; None where it is no constant."""
        home = scope.home(name)
        return self.behind.get((id(home), name)) if home is not None else None

    def sources(self, site: Site) -> list[Constant]:
        """The weights that a node reads, each once, in the order of its inputs."""
        found = (constant for name in site.inputs if name for constant in self.find(site.scope, name) or ())
        return list(dict.fromkeys(found))


def find_constants(sites: list[Site], top: Scope) -> Constants:
    """Follow constants through the model in the order of its nodes."""
    constants = Constants()
    seen: set[int] = set()
    for scope in (top, *(site.scope for site in sites)):
        if id(scope) not in seen:
            seen.add(id(scope))
            _add_initializers(constants, scope)
    for site in sites:
        inputs = [name for name in site.inputs if name]
        found = [constants.find(site.scope, name) for name in inputs]
        made = _made_here(site)
        if made is None and (not inputs or site.inner or site.node.op_type in _VARYING):
            continue
        if any(one is None for one in found):
            continue
        constants.folded.add(site.index)
        sources = (made,) if made is not None else tuple(dict.fromkeys(c for one in found for c in one or ()))
        for name in site.outputs:
            constants.behind[id(site.scope), name] = sources if len(sources) <= _MOST_SOURCES else ()
    return constants


def _add_initializers(constants: Constants, scope: Scope) -> None:
    for proto in scope.graph.initializer:
        constants.behind[id(scope), text(proto.name)] = (_of_proto(text(proto.name), proto),)
    for sparse in scope.graph.sparse_initializer:
        name = text(sparse.values.name)
        constants.behind[id(scope), name] = (_of_sparse(name, sparse),)


def _made_here(site: Site) -> Constant | None:
    """The constant that a node is, whatever it takes."""
    name = site.outputs[0] if site.outputs else ""
    if site.op == "Constant":
        return _of_attribute(site.node, name)
    if site.op != "ConstantOfShape":
        return None
    known = site.scope.tensor(name)
    value = next((a.t for a in site.node.attribute if a.name == "value"), None)
    dtype = "float32" if value is None else dtype_name(value.data_type)
    zero = value is None or (not any(value.raw_data) and not any(value.float_data))
    shape = known.shape or ()
    # A state or a padding begins with zeros; what has another value stands for weights that a file was spared.
    return Constant(name, dtype, shape, None, 0, 0 if zero or known.shape is None else _count(dtype, shape))


def _of_attribute(node: onnx.NodeProto, name: str) -> Constant:
    for attribute in node.attribute:
        if attribute.HasField("t"):
            return _of_proto(name, attribute.t)
        if attribute.HasField("sparse_tensor"):
            return _of_sparse(name, attribute.sparse_tensor)
        if attribute.name in ("value_float", "value_floats"):
            shape = (len(attribute.floats),) if attribute.name == "value_floats" else ()
            return Constant(name, "float32", shape, None, elements=math.prod(shape))
    return Constant(name, "", (), None)


def _of_sparse(name: str, sparse: onnx.SparseTensorProto) -> Constant:
    dtype, shape = dtype_name(sparse.values.data_type), tuple(max(dim, 0) for dim in sparse.dims)
    elements = _count(dtype, shape)
    return Constant(name, dtype, shape, None, max(elements - math.prod(sparse.values.dims), 0), elements)


def _of_proto(name: str, proto: onnx.TensorProto) -> Constant:
    dtype, shape = dtype_name(proto.data_type), tuple(max(dim, 0) for dim in proto.dims)
    return Constant(name, dtype, shape, proto, elements=_count(dtype, shape))


def _count(dtype: str, shape: Shape) -> int:
    return math.prod(shape) if is_parameter_type(dtype) else 0
