"""Cost of the nodes of one row, and the least time by the machine's roofs."""

from __future__ import annotations

from collections.abc import Sequence

from tuibench.core.profile import KernelRow, LayerTime, NodeCost, Roofline
from tuibench.insight.roof import least_ms


def total_of(own: Sequence[NodeCost], figures: Sequence[int | None]) -> int | None:
    """Return the sum over all nodes; None if a figure or a node's number of runs is unknown."""
    total = 0
    for cost, figure in zip(own, figures, strict=True):
        if figure is None or (cost.times is None and figure):
            return None
        total += figure
    return total


def bytes_moved(row: KernelRow, own: Sequence[NodeCost]) -> int | None:
    """Return the bytes that kernels read and write in one inference, without tensors inside a fused row.

    Constants are read each time a node runs. The result is None if a tensor size or number of runs is unknown.
    """
    weights = total_of(own, [cost.constant_bytes for cost in own])
    activations = row.activation_bytes
    if activations is None:
        activations = total_of(own, [cost.activation_bytes for cost in own])
    return None if activations is None or weights is None else activations + weights


def least_of(
    layer: LayerTime, own: Sequence[NodeCost], roofline: Roofline, precision: str = ""
) -> tuple[float | None, str, str]:
    """Return the least time of one inference, its roof, and the reason for no time.

    In a loop it is the time of one iteration × their number, as only one iteration must fit into a cache.
    """
    turns = max((cost.times or 1 for cost in own), default=1)
    flops = None if layer.flops is None else layer.flops / turns
    moved = None if layer.bytes_moved is None else layer.bytes_moved / turns
    ms, roof, why = least_ms(flops, moved, layer.integer, roofline, precision)
    return None if ms is None else ms * turns, roof, why
