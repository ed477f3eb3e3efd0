"""Nodes of the FLOPS profile as rows: costs by shapes, nothing measured."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from tuibench.core.profile import LEFT_OUT, NODES, CostProfile, NodeCost
from tuibench.core.profile_facts import HEAVY
from tuibench.core.text import show
from tuibench.core.units import count_of, scaled, short, size
from tuibench.present.column import (
    NONE,
    UNKNOWN,
    Column,
    LayerLike,
    node_column,
    number_column,
    op_column,
    percent_text,
    place_column,
    reason_column,
    shapes_column,
    weight_column,
)

_ONE_TURN = "+ of one time: how often is not known"


@dataclass(frozen=True, slots=True)
class CostRow(LayerLike):
    """One node; repeated work counts each time if the number of times is known."""

    node: NodeCost

    @property
    def is_heavy(self) -> bool:
        """True if it has more than a tenth of the operations."""
        return self.share is not None and self.share > HEAVY

    @property
    def macs(self) -> int | None:
        """Multiply-accumulates in one inference."""
        return self.node.macs

    @property
    def flops(self) -> int | None:
        """Operations in one inference."""
        return self.node.flops

    @property
    def bytes_moved(self) -> int | None:
        """Bytes of weights and activations in one inference."""
        return self.node.bytes_moved

    @property
    def zeros(self) -> float | None:
        """Share of its parameters that are zero; None if it has no parameters."""
        return self.node.zeros / self.node.parameters if self.node.parameters else None


def cost_rows(costs: CostProfile) -> tuple[CostRow, ...]:
    """Return all nodes in the order of the file."""
    counted = [node.flops for node in costs.nodes]
    total = sum(flops or 0 for flops in counted)
    return tuple(
        _row(node, number, flops / total if flops is not None and total else None)
        for number, (node, flops) in enumerate(zip(costs.nodes, counted, strict=True), 1)
    )


def _row(node: NodeCost, number: int, share: float | None) -> CostRow:
    searched = f"{node.op} {node.name} {node.weight} {node.id}".casefold()
    return CostRow(node.id, node.op, node.weight, number, searched, node, share=share)


def _count_column(
    key: str,
    title: str,
    pick: Callable[[CostRow], int | None],
    unit: Callable[[float], str] = scaled,
    **more: Any,
) -> Column[CostRow]:
    def text(row: CostRow) -> str:
        value = pick(row)
        return UNKNOWN if value is None else unit(value) + ("+" if row.node.times is None and value else "")

    return number_column(key, title, pick, text, 7, **more)


def shape_words(shape: tuple[int, ...] | None) -> str:
    """Return a shape as text."""
    return UNKNOWN if shape is None else "x".join(map(str, shape)) or "scalar"


def shapes_words(node: NodeCost) -> str:
    """Return the shapes of the first inputs and of the first output."""
    return " ".join(shape_words(shape) for shape in node.input_shapes[:4]) + f" > {shape_words(node.output_shape)}"


def _why(row: CostRow) -> str:
    words = [row.node.why] if row.node.why else []
    return show("; ".join([*words, *([_ONE_TURN] if row.node.times is None and row.node.why != LEFT_OUT else [])]), 200)


COST_COLUMNS: tuple[Column[CostRow], ...] = (
    place_column(lambda row: row.number, lambda row: f"{'*' if row.is_heavy else ''}{row.number}",
                 "place in the file; * above 10 %"),
    op_column(lambda row: row.op),
    weight_column(lambda row: row.weight),
    _count_column("macs", "MACs", lambda row: row.macs, hint="multiply-accumulates"),
    _count_column("flops", "FLOPs", lambda row: row.flops, hint="2 × MACs + element-wise operations"),
    number_column("share", "%", lambda row: row.share, lambda row: percent_text(row.share),
                  hint="of the operations known"),
    number_column("cumulative", "cum %", lambda row: row.cumulative, lambda row: percent_text(row.cumulative),
                  hint="of this row and all above it"),
    _count_column("params", "params", lambda row: row.node.parameters, hint="shared ones once"),
    _count_column("bytes", "bytes", lambda row: row.bytes_moved, size, rank=1, hint="weights and activations"),
    number_column("intensity", "FLOP/B", lambda row: row.node.intensity,
                  lambda row: NONE if row.node.intensity is None else short(row.node.intensity), rank=2,
                  hint="operations per byte moved"),
    number_column("zeros", "zeros %", lambda row: row.zeros, lambda row: percent_text(row.zeros), rank=3),
    node_column(lambda row: row.node.name, 4),
    shapes_column(lambda row: shapes_words(row.node), 5),
    reason_column("why", "unknown because", _why, 6),
)  # fmt: skip
"""A terminal of 80 columns shows the first eight."""


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
