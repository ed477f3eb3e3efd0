"""What a FLOPS profile shows: a model's costs by its shapes, marked as theory throughout."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from tuibench.core.profile import EXECUTED, NODES, CostProfile, CountBound
from tuibench.core.text import show
from tuibench.core.units import count_of, percent, scaled, short, size
from tuibench.present.column import UNKNOWN
from tuibench.present.csv_export import safe_text
from tuibench.present.plots.depth import Depth
from tuibench.present.plots.drawing import Span
from tuibench.present.profile.costs import (
    COST_COLUMNS,
    CostRow,
    activation_words,
    cost_rows,
    element_words,
    flops_words,
    is_counted,
    macs_words,
    shape_words,
    unknown_words,
)
from tuibench.present.profile.csv import count, number
from tuibench.present.profile.detail import Pair, cost_detail
from tuibench.present.profile.summary import BYTES, COST_TYPES, FLOPS, FLOPS_WORDS, Summary, summarize_costs, unit_of
from tuibench.present.profile.view import DOT, Fact, ProfileView, over_depth

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
        yield f"MACs: {macs_words(costs)} per batch of {count_of(costs.items, 'item')}"
        elements = f", of which {element_words(costs)} on single elements" if flops_words(costs) != UNKNOWN else ""
        yield f"FLOPs: {flops_words(costs)}{elements}"
        yield f"Convention: {FLOPS_WORDS}"
        zeros = f", {percent(costs.zeros / costs.parameters)} of them zero" if costs.parameters else ""
        told = f"{scaled(costs.parameters)} (shared ones once{zeros}), {size(costs.weight_bytes)}"
        yield f"Parameters: {told if is_counted(costs) else UNKNOWN}"
        peak, moved = costs.peak_activation_bytes, activation_words(costs)
        most = f" read and written, at most {size(peak)} at one time" if peak is not None else " read and written"
        yield f"Activations: {moved}{most if moved != UNKNOWN else ''}"
        if costs.bound is not None:
            told = bound_words(costs.bound)
            yield f"{told[:1].upper()}{told[1:]}"
        if unknown := unknown_words(costs):
            yield f"Unknown: {unknown}; the totals are of what is known"
        yield f"Shapes from: {show(costs.shapes_from, 300) or UNKNOWN}"
        yield from (f"Note: {show(note, 500)}" for note in costs.notes)

    def facts(self) -> Iterator[Fact]:
        """Yield operations, parameters, bytes, and unknown nodes."""
        costs = self.costs
        yield _THEORETICAL, f"{flops_words(costs)} FLOPs{DOT}{macs_words(costs)} MACs", "title"
        yield "element-wise", f"{element_words(costs)} operations, estimated, in the FLOPs above", ""
        zeros = f", {percent(costs.zeros / costs.parameters)} zeros" if costs.parameters else ""
        told = f"{scaled(costs.parameters)}{zeros}{DOT}weights {size(costs.weight_bytes)}"
        yield "parameters", told if is_counted(costs) else UNKNOWN, ""
        peak = f", at once {size(costs.peak_activation_bytes)}" if costs.peak_activation_bytes is not None else ""
        yield "activations", f"{activation_words(costs)} read and written{peak}", ""
        sizes = [f"batch {costs.batch}"] if costs.batch is not None else []
        sizes += [f"{name} {value}" for name, value in costs.dims.items()]
        at = DOT.join([*sizes, count_of(costs.items, "item")])
        yield "at", f"{at}; shapes from {costs.shapes_from or UNKNOWN}", ""
        if costs.bound is not None:
            yield "limit", bound_words(costs.bound), "warn"
        if unknown := unknown_words(costs):
            yield "unknown", f"{unknown}: not in the totals", "warn"
        yield from (("note", text, "") for text in costs.notes)

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
            safe_text(shape_words(node.output_shape)), safe_text(node.id), safe_text(node.why),
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
