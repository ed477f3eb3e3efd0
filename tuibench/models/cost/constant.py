"""Constants of a model: its weights, and all tensors computed from them alone."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import onnx

from tuibench.models.cost.site import Scope, Site
from tuibench.models.cost.tensor import Shape, is_parameter_type, size_of
from tuibench.models.graph import dtype_name, text

_MOST_SOURCES = 16
"""Limit of weights tracked behind one computed constant; with more, its own node keeps them."""
_VARYING = frozenset({"RandomNormal", "RandomUniform", "RandomNormalLike", "RandomUniformLike", "Multinomial",
                      "Bernoulli"})  # fmt: skip


@dataclass(eq=False)
class Constant:
    """One weight stored in the file, or filled there with one value."""

    name: str
    dtype: str
    shape: Shape
    proto: onnx.TensorProto | None
    """None if it is filled with one value or sparse."""
    zeros: int = 0
    """Zeros of a constant without a proto."""
    elements: int = 0
    """Number of elements that count as parameters."""
    zero_point: Constant | None = None
    """The constant that represents 0 in this one, if it has a zero point."""
    packed: bool = False
    """True if one element packs several values, so that zeros cannot be counted."""

    @property
    def size(self) -> int:
        """Size in bytes."""
        return size_of(self.dtype, self.shape) or 0


@dataclass
class Constants:
    """The constant tensors of a model and the weights behind each."""

    behind: dict[tuple[int, str], tuple[Constant, ...]] = field(default_factory=dict)
    """Weights behind each tensor that depends on weights alone, by scope and name."""
    folded: set[int] = field(default_factory=set)
    """Nodes that depend only on constants."""

    def find(self, scope: Scope, name: str) -> tuple[Constant, ...] | None:
        """Return the weights behind a tensor; None if it is not constant."""
        home = scope.home(name)
        return self.behind.get((id(home), name)) if home is not None else None

    def sources(self, site: Site) -> list[Constant]:
        """Return the weights that a node reads, each once, in the order of its inputs."""
        found = (constant for name in site.inputs if name for constant in self.find(site.scope, name) or ())
        return list(dict.fromkeys(found))


def find_constants(sites: list[Site], top: Scope) -> Constants:
    """Find the constants of a model, in the order of its nodes."""
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
    """Return the constant that the node itself creates, or None."""
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
    # Zeros are an initial state or padding; any other value replaces weights that the file does not store.
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
