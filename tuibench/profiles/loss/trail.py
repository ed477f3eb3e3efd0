"""Traces a node's input back to the stored weight, through transposes, casts and quantization."""

from __future__ import annotations

from dataclasses import dataclass, field

import onnx

from tuibench.profiles.loss.scope import Scopes, Source

_MOST_STEPS = 64
"""Most nodes between a layer and its weight; a longer chain is a loop in a damaged file."""


@dataclass(slots=True)
class Trail:
    """The path from a node's input back to the stored weight."""

    source: Source | None = None
    permutations: list[tuple[int, ...]] = field(default_factory=list)
    """Nearest to the node first; an empty one reverses all axes."""
    dequantizer: onnx.NodeProto | None = None
    dequantizer_graph: onnx.GraphProto | None = None
    permutations_before: int = 0
    quantized: bool = False

    def stored_axis(self, axis: int, rank: int, skip: int = 0) -> int:
        """Return the stored axis behind an axis of the node's view; skip the first `skip` permutations."""
        for permutation in self.permutations[skip:]:
            axis = permutation[axis] if permutation else rank - 1 - axis
        return axis


def follow(scopes: Scopes, graph: onnx.GraphProto, name: str) -> Trail:
    """Trace `name` back as long as a single input determines its value."""
    trail = Trail()
    for _ in range(_MOST_STEPS):
        source = scopes.find(graph, name)
        if source is None or source.tensor is not None:
            trail.source = source
            return trail
        node = source.node
        assert node is not None
        graph = source.graph
        if node.op_type in ("Constant", "ConstantOfShape"):
            trail.source = source
            return trail
        if node.op_type == "Transpose":
            trail.permutations.append(integers_of(node, "perm"))
        elif node.op_type == "DequantizeLinear" and not trail.quantized:
            trail.dequantizer, trail.dequantizer_graph, trail.quantized = node, graph, True
            trail.permutations_before = len(trail.permutations)
        elif node.op_type == "QuantizeLinear":
            # Behind it are the original weights, which have a scale of their own.
            trail.dequantizer = trail.dequantizer_graph = None
            trail.quantized = True
        elif node.op_type not in ("Identity", "Cast"):
            return trail
        if not node.input:
            return trail
        name = node.input[0]
    return trail


def integer_of(node: onnx.NodeProto, name: str, default: int) -> int:
    """Return an integer attribute."""
    return next((int(a.i) for a in node.attribute if a.name == name), default)


def integers_of(node: onnx.NodeProto, name: str) -> tuple[int, ...]:
    """Return an integer-list attribute; empty if it is missing."""
    return next((tuple(a.ints) for a in node.attribute if a.name == name), ())
