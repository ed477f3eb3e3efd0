"""Layers of a performance profile as rows: sorted by any column, searched, with a reason for missing values."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from tuibench.core.profile import (
    FOLDED,
    HANDED,
    LAYER,
    RESIDUAL,
    RUNTIME,
    CostProfile,
    LayerTime,
    NodeCost,
    PerformanceProfile,
)
from tuibench.core.profile_facts import HEAVY, find_withheld, int8_of, int8_ratio, time_of, total_ms
from tuibench.core.text import show
from tuibench.core.units import scaled, short, size, table_ms
from tuibench.present.profile.costs import shapes_words
from tuibench.present.reason import reason_words
from tuibench.present.table import (
    MAX_CHARS,
    NONE,
    UNKNOWN,
    Column,
    LayerLike,
    name_column,
    node_column,
    number_column,
    op_column,
    percent_text,
    place_column,
    shapes_column,
    weight_column,
)

BELOW_RESOLUTION = "below the profiler's resolution"
ROOF_REACHED = "~100"
"""Text for a share near 100 %: a layer cannot beat its roof, and the roof is not known more exactly."""


@dataclass(frozen=True, slots=True)
class LayerRow(LayerLike):
    """One row of a table of layers."""

    layer: LayerTime
    name: str
    """Name in the file of the node that represents the row."""
    cost: NodeCost | None
    ms: float | None
    reason: str = ""
    """Reason for a missing time."""

    @property
    def is_heavy(self) -> bool:
        """True if it is a layer that takes more than a tenth of the time."""
        return self.number is not None and self.share is not None and self.share > HEAVY

    @property
    def gflops(self) -> float | None:
        """Operations per second, in 10⁹; None if either is unknown, or there are none."""
        flops = self.layer.flops
        return flops / self.ms / 1e6 if flops and self.ms else None

    @property
    def roof_share(self) -> float | None:
        """Least time by the roofs / its time, at most 1.

        A layer that seems to beat its roof shows only that the roof is not known exactly.
        """
        return min(self.layer.roof_ms / self.ms, 1.0) if self.layer.roof_ms and self.ms else None

    @property
    def int8_ms(self) -> float | None:
        """Its time × the INT8 ratio measured in isolation."""
        ratio = int8_ratio(self.layer)
        return self.ms * ratio.value if ratio is not None and ratio.value is not None and self.ms else None

    @property
    def zeros(self) -> float | None:
        """Share of its parameters that are zero; None if it has none, or they are unknown."""
        zeros, parameters = self.layer.zeros, self.layer.parameters
        return zeros / parameters if zeros is not None and parameters else None


def layer_rows(profile: PerformanceProfile, costs: CostProfile | None = None) -> tuple[LayerRow, ...]:
    """Return all rows in the order of the model; `costs` has the names and shapes of nodes."""
    nodes = {node.id: node for node in costs.nodes} if costs is not None else {}
    total = total_ms(profile)
    rows, number = [], 0
    for layer in profile.layers:
        placed = layer.kind in (LAYER, FOLDED)
        number += placed
        rows.append(_row(profile, layer, number if placed else None, nodes, total))
    return tuple(rows)


def fused_words(row: LayerRow, nodes: Mapping[str, NodeCost]) -> str:
    """Return the operators that one kernel fuses, in the order of the model."""
    return " + ".join(show(nodes[id_].op if id_ in nodes else id_, 60) for id_ in row.layer.nodes)


def _row(
    profile: PerformanceProfile, layer: LayerTime, number: int | None, nodes: Mapping[str, NodeCost], total: float
) -> LayerRow:
    own = [nodes[id_] for id_ in layer.nodes if id_ in nodes]
    cost = max(own, key=lambda node: (node.op == layer.op, node.weight == layer.weight, node.macs or 0), default=None)
    named = [text for id_ in layer.nodes for text in (id_, nodes[id_].name if id_ in nodes else "")]
    words = (layer.op, layer.kernel_op, layer.weight, *named, *layer.kernels)
    value = layer.ms.value
    ms = value if value is not None and math.isfinite(value) and not profile.below_resolution else None
    return LayerRow(
        *(layer.key, _operator(layer), layer.weight, number, " ".join(words).casefold()),
        layer=layer,
        name=cost.name if cost is not None else "",
        cost=cost,
        ms=ms,
        share=time_of(layer) / total if ms is not None and total else None,
        reason="" if ms is not None else _reason(profile, layer),
    )


def _operator(layer: LayerTime) -> str:
    """Return the operator, with a mark if the engine left it to another one inside it."""
    return f"{layer.op} {HANDED}" if layer.kernel_op == HANDED else layer.op


def _reason(profile: PerformanceProfile, layer: LayerTime) -> str:
    if profile.below_resolution and layer.kind != FOLDED:
        return BELOW_RESOLUTION
    return reason_words(layer.ms.reason, MAX_CHARS) or "not measured"


def _number(row: LayerRow) -> str:
    return NONE if row.number is None else f"{'*' if row.is_heavy else ''}{row.number}"


def _digits(value: float | None, otherwise: str = NONE) -> str:
    return otherwise if value is None else short(value)


def _time(row: LayerRow) -> str:
    return NONE if row.ms is None else table_ms(row.ms)


def _weight(row: LayerRow) -> str:
    layer = row.layer
    if layer.weight or layer.kind == LAYER:
        return show(layer.weight, MAX_CHARS) or NONE
    words = {FOLDED: "(not in the run)", RUNTIME: "(runtime)", RESIDUAL: "(not attributed)"}
    return words.get(layer.kind, NONE)


def _rate(row: LayerRow) -> str:
    if row.layer.kind != LAYER or row.ms is None:
        return NONE
    return UNKNOWN if row.layer.flops is None else _digits(row.gflops)


def _roof(row: LayerRow) -> str:
    share = row.roof_share
    if share is None:
        return NONE
    return ROOF_REACHED if share > 0.995 else percent_text(share)


def _count_column(
    key: str, title: str, pick: Callable[[LayerTime], int | None], unit: Callable[[float], str] = scaled, rank: int = 0
) -> Column[LayerRow]:
    def text(row: LayerRow) -> str:
        value = pick(row.layer)
        if row.layer.kind in (RUNTIME, RESIDUAL):
            return NONE
        return UNKNOWN if value is None else unit(value)

    return number_column(key, title, lambda row: pick(row.layer), text, 7, rank=rank)


def _int8(row: LayerRow) -> str:
    form = int8_of(row.layer)
    if row.int8_ms is not None:
        return table_ms(row.int8_ms)
    # The view of a single layer shows the reason; here it would push other columns out.
    return UNKNOWN if form is not None else NONE


def _half(row: LayerRow) -> str:
    return percent_text(row.layer.ms.half_width if row.ms is not None else None)


def _shapes(row: LayerRow) -> str:
    if row.cost is None:
        return NONE
    return shapes_words(row.cost)


COLUMNS: tuple[Column[LayerRow], ...] = (
    place_column(lambda row: row.number, _number, "position in the model; * above 10 %"),
    op_column(lambda row: row.op),
    weight_column(lambda row: row.weight, _weight),
    number_column("ms", "ms", lambda row: row.ms, _time, 7, hint="per batch"),
    number_column("share", "%", lambda row: row.share, lambda row: percent_text(row.share),
                  hint="of the time of all rows"),
    number_column("cumulative", "cum %", lambda row: row.cumulative, lambda row: percent_text(row.cumulative),
                  hint="of this row and all above it"),
    number_column("gflops", "GFLOP/s", lambda row: row.gflops, _rate,
                  hint="2 × MACs + element-wise operations, per second"),
    number_column("roof", "% roof", lambda row: row.roof_share, _roof, hint="of the measured peak of the machine"),
    number_column("int8", "INT8 ms", lambda row: row.int8_ms, _int8, rank=2, hint="ratio in isolation × ms"),
    number_column("half", "±%", lambda row: row.layer.ms.half_width, _half, 4, rank=1,
                  hint="95 % interval over processes"),
    name_column("bound", "bound by", lambda row: row.layer.roof, lambda row: show(row.layer.roof, 20) or NONE, rank=3,
                hint="the roof that binds"),
    _count_column("flops", "FLOPs", lambda layer: layer.flops, rank=4),
    _count_column("macs", "MACs", lambda layer: layer.macs, rank=9),
    _count_column("params", "params", lambda layer: layer.parameters, rank=5),
    number_column("zeros", "zeros %", lambda row: row.zeros, lambda row: percent_text(row.zeros), rank=6),
    _count_column("bytes", "bytes", lambda layer: layer.bytes_moved, size, rank=7),
    name_column("kernel", "kernel", lambda row: row.layer.kernel_op, lambda row: show(row.layer.kernel_op, 60) or NONE,
                12, rank=8, least=8, wide=24),
    node_column(lambda row: row.name, 10),
    shapes_column(_shapes, 11),
)  # fmt: skip
"""A terminal of 80 columns shows the first eight."""

_WITHHELD = ("roof", "int8", "bound")


def columns_of(profile: PerformanceProfile) -> tuple[Column[LayerRow], ...]:
    """Return the columns that a profile may show."""
    withheld = _WITHHELD if find_withheld(profile) is not None else ()
    return tuple(column for column in COLUMNS if column.key not in withheld)
