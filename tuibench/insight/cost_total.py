"""Totals of a FLOPS profile in words; an incomplete sum is marked, and a sum of nothing known is unknown."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from tuibench.core.profile import NODES, CostProfile, NodeCost
from tuibench.core.text import show
from tuibench.core.units import count_of, scaled, size
from tuibench.insight.column import UNKNOWN

_Pick = Callable[[NodeCost], int | None]


def is_counted(costs: CostProfile) -> bool:
    """Return whether nodes were counted; if not, there are no nodes and no shapes.

    A model without nodes is counted, and costs nothing.
    """
    return bool(costs.nodes or costs.shapes_from)


def macs_words(costs: CostProfile) -> str:
    """Return the multiply-accumulates of all nodes."""
    return _sum(costs, costs.macs, lambda node: node.macs)


def flops_words(costs: CostProfile) -> str:
    """Return the operations of all nodes."""
    return _sum(costs, costs.flops, lambda node: node.flops)


def element_words(costs: CostProfile) -> str:
    """Return the operations on single elements of all nodes."""
    return _sum(costs, costs.element_flops, lambda node: node.element_flops)


def activation_words(costs: CostProfile) -> str:
    """Return the bytes that all nodes read and write, without constants."""
    return _sum(costs, costs.activation_bytes, lambda node: node.activation_bytes, size)


def unknown_words(costs: CostProfile) -> str:
    """Return how many nodes have unknown figures, with the first reason; '' if all are known."""
    parts = list(_missing(costs))
    if not parts:
        return ""
    unknown = [node for node in costs.nodes if node.why and None in (node.flops, node.activation_bytes, node.times)]
    reason = next((f"{show(node.op, 40)}: {show(node.why, 200)}" for node in unknown), "")
    return ", ".join(parts) + (f" ({reason})" if reason else "")


def _missing(costs: CostProfile) -> Iterator[str]:
    kinds: tuple[tuple[str, _Pick], ...] = (
        ("operations", lambda node: node.flops),
        ("bytes", lambda node: node.activation_bytes),
    )
    for name, pick in kinds:
        if missing := sum(pick(node) is None for node in costs.nodes):
            yield f"{name} of {count_of(missing, 'node')}"
    once = sum(node.times is None for node in costs.nodes)
    # If the limit on nodes was reached, its own words cover calls that were counted in part.
    if once and (costs.bound is None or costs.bound.code != NODES):
        yield f"how often {count_of(once, 'node')} {'runs' if once == 1 else 'run'}"


def _sum(costs: CostProfile, total: int, pick: _Pick, unit: Callable[[float], str] = scaled) -> str:
    """Return a total, with "at least" if it is incomplete; a node that runs an unknown number of times counts once."""
    if not is_counted(costs):
        return UNKNOWN
    exact = costs.bound is None and all(pick(node) is not None and node.times is not None for node in costs.nodes)
    if exact:
        return unit(total)
    return f"at least {unit(total)}" if total else UNKNOWN
