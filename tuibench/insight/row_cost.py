"""What the nodes of one row cost together, and the least time that the roofs of a machine allow them."""

from __future__ import annotations

from collections.abc import Sequence

from tuibench.core.profile import KernelRow, LayerTime, NodeCost, Roofline
from tuibench.insight.roof import least_ms


def total_of(own: Sequence[NodeCost], figures: Sequence[int | None]) -> int | None:
    """Of all nodes; None where one is not known, or not how often it runs."""
    total = 0
    for cost, figure in zip(own, figures, strict=True):
        if figure is None or (cost.times is None and figure):
            return None
        total += figure
    return total


def bytes_moved(row: KernelRow, own: Sequence[NodeCost]) -> int | None:
    """What the kernels read and write in one inference; tensors between nodes that run together are not moved.

    Constants are read each time that a node runs; None where nobody knows how often, or how large a tensor is.
    """
    weights = total_of(own, [cost.constant_bytes for cost in own])
    activations = row.activation_bytes
    if activations is None:
        activations = total_of(own, [cost.activation_bytes for cost in own])
    return None if activations is None or weights is None else activations + weights


def least_of(
    layer: LayerTime, own: Sequence[NodeCost], roofline: Roofline, precision: str = ""
) -> tuple[float | None, str, str]:
    """The least time of one inference, by which roof, or why none.

    In a loop it is that of one turn as often, as one turn alone must fit into a cache.
    """
    turns = max((cost.times or 1 for cost in own), default=1)
    flops = None if layer.flops is None else layer.flops / turns
    moved = None if layer.bytes_moved is None else layer.bytes_moved / turns
    ms, roof, why = least_ms(flops, moved, layer.integer, roofline, precision)
    return None if ms is None else ms * turns, roof, why
