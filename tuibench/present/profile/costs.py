"""The FLOPS profile: a model's costs by its shapes, marked as theory throughout."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from tuibench.core.profile import EXECUTED, NODES, CostProfile, CountBound, NodeCost
from tuibench.core.profile_facts import HEAVY
from tuibench.core.reason import LEFT_OUT
from tuibench.core.text import show
from tuibench.core.units import count_of, percent, scaled, short, size
from tuibench.present.csv_export import count, number, safe_text
from tuibench.present.plots.depth import Depth
from tuibench.present.plots.drawing import Span
from tuibench.present.profile.summary import BYTES, COST_TYPES, FLOPS, FLOPS_WORDS, Summary, summarize_costs, unit_of
from tuibench.present.profile.view import DOT, Fact, Pair, ProfileView, over_depth
from tuibench.present.reason import export_words, reason_words
from tuibench.present.table import (
    MAX_CHARS,
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
    why, words = row.node.why, reason_words(row.node.why)
    is_cut = why is not None and why.code == LEFT_OUT
    return show("; ".join(filter(None, (words, _ONE_TURN if row.node.times is None and not is_cut else ""))), 200)


COST_COLUMNS: tuple[Column[CostRow], ...] = (
    place_column(lambda row: row.number, lambda row: f"{'*' if row.is_heavy else ''}{row.number}",
                 "position in the file; * above 10 %"),
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


def is_counted(costs: CostProfile) -> bool:
    """Return whether nodes were counted; if not, there are no nodes and no shapes.

    A model without nodes is counted, and costs nothing.
    """
    return bool(costs.nodes or costs.shapes_from)


Total = Literal["macs", "flops", "element_flops", "activation_bytes"]
"""Figures that a node and the whole model have."""


def total_words(costs: CostProfile, name: Total) -> str:
    """Return a total of all nodes, with "at least" if it is incomplete.

    A node that runs an unknown number of times counts once.
    """
    if not is_counted(costs):
        return UNKNOWN
    words = (size if name == "activation_bytes" else scaled)(getattr(costs, name))
    known = all(getattr(node, name) is not None and node.times is not None for node in costs.nodes)
    if known and costs.bound is None:
        return words
    return f"at least {words}" if getattr(costs, name) else UNKNOWN


def unknown_words(costs: CostProfile) -> str:
    """Return how many nodes have unknown figures, with the first reason; '' if all are known."""
    parts = list(_missing(costs))
    if not parts:
        return ""
    unknown = [node for node in costs.nodes if node.why and None in (node.flops, node.activation_bytes, node.times)]
    reason = next((f"{show(node.op, 40)}: {reason_words(node.why, 200)}" for node in unknown), "")
    return ", ".join(parts) + (f" ({reason})" if reason else "")


def _missing(costs: CostProfile) -> Iterator[str]:
    for name, figures in (("operations", "flops"), ("bytes", "activation_bytes")):
        if missing := sum(getattr(node, figures) is None for node in costs.nodes):
            yield f"{name} of {count_of(missing, 'node')}"
    once = sum(node.times is None for node in costs.nodes)
    # If the limit on nodes was reached, its own words cover calls that were counted in part.
    if once and (costs.bound is None or costs.bound.code != NODES):
        yield f"how often {count_of(once, 'node')} {'runs' if once == 1 else 'run'}"


_THEORETICAL = "theoretical"


class CostView(ProfileView[CostRow]):
    """The costs of one model at one batch and dims."""

    title = detail_title = "FLOPS profile (theoretical: nothing of it is measured)"
    markdown_title, origin = "# FLOPS profile (theoretical)", " (theoretical)"
    counted = "nodes"
    kinds, usual, usual_sort = COST_TYPES, FLOPS, "flops"
    sorts = ("FLOPs", "#", "op", "weight", "MACs", "params", "bytes", "FLOP/B")
    csv_columns = (
        "number", "op", "node", "weight", "macs", "element_flops", "flops", "share", "parameters", "zeros",
        "weight_bytes", "activation_bytes", "flop_per_byte", "times", "input_shapes", "output_shape", "id",
        "unknown_because",
    )  # fmt: skip

    def __init__(self, costs: CostProfile) -> None:
        self.costs = costs
        super().__init__(cost_rows(costs), COST_COLUMNS)
        self.nothing = "" if costs.nodes else "The model has no nodes"
        self._moved = sum(row.bytes_moved or 0 for row in self.rows)

    # Model

    def model_lines(self) -> Iterator[str]:
        """Yield the totals of the model, the parts missing from them, and the source of the shapes."""
        costs = self.costs
        dims = "".join(f", {show(name, 40)}={value}" for name, value in costs.dims.items())
        yield f"Batch: {'as in the model' if costs.batch is None else costs.batch}{dims}"
        yield f"MACs: {total_words(costs, 'macs')} per batch of {count_of(costs.items, 'item')}"
        elements = (
            f", of which {total_words(costs, 'element_flops')} on single elements"
            if total_words(costs, "flops") != UNKNOWN
            else ""
        )
        yield f"FLOPs: {total_words(costs, 'flops')}{elements}"
        yield f"Convention: {FLOPS_WORDS}"
        zeros = f", {percent(costs.zeros / costs.parameters)} of them zero" if costs.parameters else ""
        text = f"{scaled(costs.parameters)} (shared ones once{zeros}), {size(costs.weight_bytes)}"
        yield f"Parameters: {text if is_counted(costs) else UNKNOWN}"
        peak, moved = costs.peak_activation_bytes, total_words(costs, "activation_bytes")
        most = f" read and written, at most {size(peak)} at one time" if peak is not None else " read and written"
        yield f"Activations: {moved}{most if moved != UNKNOWN else ''}"
        if costs.bound is not None:
            text = bound_words(costs.bound)
            yield f"{text[:1].upper()}{text[1:]}"
        if unknown := unknown_words(costs):
            yield f"Unknown: {unknown}; the totals are of what is known"
        yield f"Shapes from: {reason_words(costs.shapes_from, 300) or UNKNOWN}"
        yield from (f"Note: {reason_words(note)}" for note in costs.notes)

    def facts(self) -> Iterator[Fact]:
        """Yield operations, parameters, bytes, and unknown nodes."""
        costs = self.costs
        yield _THEORETICAL, f"{total_words(costs, 'flops')} FLOPs{DOT}{total_words(costs, 'macs')} MACs", "title"
        yield "element-wise", f"{total_words(costs, 'element_flops')} operations, estimated, in the FLOPs above", ""
        zeros = f", {percent(costs.zeros / costs.parameters)} zeros" if costs.parameters else ""
        text = f"{scaled(costs.parameters)}{zeros}{DOT}weights {size(costs.weight_bytes)}"
        yield "parameters", text if is_counted(costs) else UNKNOWN, ""
        peak = f", at once {size(costs.peak_activation_bytes)}" if costs.peak_activation_bytes is not None else ""
        yield "activations", f"{total_words(costs, 'activation_bytes')} read and written{peak}", ""
        sizes = [f"batch {costs.batch}"] if costs.batch is not None else []
        sizes += [f"{name} {value}" for name, value in costs.dims.items()]
        at = DOT.join([*sizes, count_of(costs.items, "item")])
        yield "at", f"{at}; shapes from {reason_words(costs.shapes_from) or UNKNOWN}", ""
        if costs.bound is not None:
            yield "limit", bound_words(costs.bound), "warn"
        if unknown := unknown_words(costs):
            yield "unknown", f"{unknown}: not in the totals", "warn"
        yield from (("note", reason_words(note), "") for note in costs.notes)

    def said(self, kind: str) -> Sequence[str]:
        """Return that these figures are theoretical, with the operations per byte."""
        ratio = f" {short(self.costs.flops / self._moved)} operations per byte." if self._moved else ""
        return (f"Theoretical: no time was measured.{ratio} n measures where the time goes.",)

    def summarize(self, kind: str, display: str) -> Summary:
        """Return a bar for each operator."""
        return summarize_costs(self.costs, kind, display)

    # Nodes

    def names(self, row: CostRow) -> Iterable[str]:
        """Return the id, the name and the weight of a node."""
        return row.node.id, row.node.name, row.node.weight

    def detail(self, row: CostRow, most: int | None = None) -> tuple[Pair, ...]:
        """Return all values of a node."""
        return cost_detail(row)

    def brief(self, row: CostRow) -> list[Span]:
        """Return the facts that have no column."""
        facts = self.line_of(row, "bytes", "intensity", "zeros", "why"), self.line_of(row, "shapes")
        return [(f" {row.node.name or row.key}", "title"), *facts]

    def legend(self, rows: Sequence[CostRow]) -> Iterator[str]:
        """Yield the meaning of the signs."""
        if any(row.is_heavy for row in rows):
            yield "* more than 10 % of the operations"
        if any(row.node.times is None for row in rows):
            is_cut = self.costs.bound is not None and self.costs.bound.code == NODES
            yield (
                "+ at least: not all nodes that it expands to are counted"
                if is_cut
                else "+ counted once: how often it runs is not known"
            )

    def csv_rows(self, row: CostRow) -> Iterator[tuple[str, ...]]:
        """Yield a node's line of the CSV; counts are per inference if a node's number of runs is known."""
        node = row.node
        yield (
            str(row.number), *map(safe_text, (node.op, node.name, node.weight)),
            *map(count, (row.macs, node.element_flops, row.flops)), number(row.share),
            *map(count, (node.parameters, node.zeros, node.weight_bytes, node.activation_bytes)),
            number(node.intensity), count(node.times), safe_text(" ".join(map(shape_words, node.input_shapes))),
            safe_text(shape_words(node.output_shape)), safe_text(node.id), safe_text(export_words(node.why)),
        )  # fmt: skip

    def depth(self, kind: str, display: str) -> Depth:
        """Return a quantity in the order of the file."""
        pick = {FLOPS: lambda row: row.flops, BYTES: lambda row: row.bytes_moved}
        values = [pick.get(kind, lambda row: row.node.parameters)(row) for row in self.rows]
        return over_depth(f"{kind} ({_THEORETICAL})", [row.key for row in self.rows], values, unit_of(kind), display)


def bound_words(bound: CountBound) -> str:
    """Return a description of the limit at which counting stopped."""
    if bound.code == NODES:
        why = f"its functions expand to more than {int(bound.limit):,}"
    elif bound.code == EXECUTED:
        why = f"its loops run more than {int(bound.limit):,} nodes in one inference; one turn of each is counted"
    else:
        why = f"its loops did not end within {short(bound.limit)} s; one turn of each is counted"
    return f"counted up to {count_of(bound.counted, 'node')}: {why}"


def cost_detail(row: CostRow) -> tuple[Pair, ...]:
    """Return the facts of one node of the FLOPS profile."""
    node = row.node
    pairs = [
        ("operator", show(node.op, MAX_CHARS)),
        ("node", show(node.name, MAX_CHARS) or "without a name"),
        ("weight", weight_words(node)),
        ("MACs", count_words(row.macs)),
        ("FLOPs", count_words(row.flops)),
        ("on single elements", count_words(node.element_flops)),
        ("parameters", parameter_words(node.parameters, node.zeros)),
        ("weights", size(node.weight_bytes)),
        ("activations", UNKNOWN if node.activation_bytes is None else size(node.activation_bytes)),
        ("FLOP/byte", "" if node.intensity is None else short(node.intensity)),
        ("runs", _runs(node.times)),
        ("shapes", shapes_words(node)),
        (
            "unknown because" if None in (node.flops, node.activation_bytes) else "note",
            reason_words(node.why, MAX_CHARS),
        ),
    ]
    return tuple(pair for pair in pairs if pair[1])


def weight_words(node: NodeCost) -> str:
    """Return name and shape of a node's weight; '' without one."""
    return f"{show(node.weight, MAX_CHARS)} {'x'.join(map(str, node.weight_shape))}" if node.weight else ""


def count_words(value: int | None) -> str:
    """Return a count with its unit prefix."""
    return UNKNOWN if value is None else scaled(value)


def parameter_words(count: int | None, zeros: int | None) -> str:
    """Return the number of parameters and the share of zeros; '' for none."""
    if count is None or zeros is None:
        return UNKNOWN
    return f"{scaled(count)}, {percent(zeros / count)} of them zero" if count else ""


def _runs(times: int | None) -> str:
    return "" if times == 1 else "how often is not known" if times is None else f"{times} times"
