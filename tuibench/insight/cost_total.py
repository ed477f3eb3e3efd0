"""The sums of a FLOPS profile in words: one that leaves something out says so, and one of nothing known is no zero."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from tuibench.core.profile import NODES, CostProfile, NodeCost
from tuibench.core.text import show
from tuibench.core.units import count_of, scaled, size
from tuibench.insight.column import UNKNOWN

_Pick = Callable[[NodeCost], int | None]


def is_counted(costs: CostProfile) -> bool:
    """Whether the nodes were looked at: else there are no nodes and no shapes; a model without nodes costs nothing."""
    return bool(costs.nodes or costs.shapes_from)


def macs_words(costs: CostProfile) -> str:
    """Multiply-accumulates of all nodes."""
    return _sum(costs, costs.macs, lambda node: node.macs)


def flops_words(costs: CostProfile) -> str:
    """Operations of all nodes."""
    return _sum(costs, costs.flops, lambda node: node.flops)


def element_words(costs: CostProfile) -> str:
    """Operations on single elements of all nodes."""
    return _sum(costs, costs.element_flops, lambda node: node.element_flops)


def activation_words(costs: CostProfile) -> str:
    """What all nodes read and write beside constants."""
    return _sum(costs, costs.activation_bytes, lambda node: node.activation_bytes, size)


def unknown_words(costs: CostProfile) -> str:
    """What is not known of how many nodes, and of the first one why; '' where all is known."""
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
    # A call that was counted in part is told by the limit.
    if once and (costs.bound is None or costs.bound.code != NODES):
        yield f"how often {count_of(once, 'node')} {'runs' if once == 1 else 'run'}"


def _sum(costs: CostProfile, total: int, pick: _Pick, unit: Callable[[float], str] = scaled) -> str:
    """What runs nobody knows how often is counted once, so that such a sum is a least one, too."""
    if not is_counted(costs):
        return UNKNOWN
    exact = costs.bound is None and all(pick(node) is not None and node.times is not None for node in costs.nodes)
    if exact:
        return unit(total)
    return f"at least {unit(total)}" if total else UNKNOWN
