"""From a node's input back to the weight that is stored, through what turns, rounds or only renames it."""

from __future__ import annotations

from dataclasses import dataclass, field

import onnx

from tuibench.profiles.loss.scope import Scopes, Source

_MOST_STEPS = 64
"""Nodes between a layer and its weight: more are a loop of a damaged file."""


@dataclass(slots=True)
class Trail:
    """From a node's input back to what is stored."""

    source: Source | None = None
    permutations: list[tuple[int, ...]] = field(default_factory=list)
    """Nearest to the node first; an empty one reverses all axes."""
    dequantizer: onnx.NodeProto | None = None
    dequantizer_graph: onnx.GraphProto | None = None
    permutations_before: int = 0
    quantized: bool = False

    def stored_axis(self, axis: int, rank: int, skip: int = 0) -> int:
        """Where an axis of what the node sees lies in what is stored; `skip` permutations come before that sight."""
        for permutation in self.permutations[skip:]:
            axis = permutation[axis] if permutation else rank - 1 - axis
        return axis


def follow(scopes: Scopes, graph: onnx.GraphProto, name: str) -> Trail:
    """Go back from `name` as far as there is only one input that says what it is."""
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
            # Behind it are the weights as they were: their scale is their own.
            trail.dequantizer = trail.dequantizer_graph = None
            trail.quantized = True
        elif node.op_type not in ("Identity", "Cast"):
            return trail
        if not node.input:
            return trail
        name = node.input[0]
    return trail


def integer_of(node: onnx.NodeProto, name: str, default: int) -> int:
    """An attribute that is a whole number."""
    return next((int(a.i) for a in node.attribute if a.name == name), default)


def integers_of(node: onnx.NodeProto, name: str) -> tuple[int, ...]:
    """An attribute that is several; none where it is not there."""
    return next((tuple(a.ints) for a in node.attribute if a.name == name), ())
