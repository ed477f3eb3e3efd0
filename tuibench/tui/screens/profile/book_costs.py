"""Book of a FLOPS profile: theoretical costs from shapes, without measurements."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tuibench.core.profile import CostProfile
from tuibench.core.units import count_of, percent, scaled, short, size
from tuibench.present.profile.costs import (
    COST_COLUMNS,
    UNKNOWN,
    CostRow,
    activation_words,
    choose_costs,
    cost_rows,
    element_words,
    flops_words,
    is_counted,
    macs_words,
    unknown_words,
    with_sum,
)
from tuibench.present.profile.detail import cost_detail
from tuibench.present.profile.lines import bound_words
from tuibench.present.profile.summary import BYTES, COST_TYPES, FLOPS, label_of, summarize_costs
from tuibench.tui.glyph import Glyphs
from tuibench.tui.screens.detail.facts import Fact
from tuibench.tui.screens.profile.book import Book, Depth, LayerTable, Summed
from tuibench.tui.screens.profile.depth import over_depth, unit_of
from tuibench.tui.widgets.row import LineLike

_THEORETICAL = "theoretical"


class CostBook(Book):
    """The costs of one model at one batch and dims."""

    kinds = COST_TYPES
    sorts = ("FLOPs", "#", "op", "weight", "MACs", "params", "bytes", "FLOP/B")

    def __init__(self, costs: CostProfile) -> None:
        self.costs = costs
        self._rows = cost_rows(costs)
        self._moved = sum(row.bytes_moved or 0 for row in self._rows)
        self._table = LayerTable(
            COST_COLUMNS, [(row.node.id, row) for row in self._rows], self._arrange, with_sum=with_sum
        )

    def _arrange(self, sort: str, reverse: bool, text: str) -> Sequence[tuple[str, CostRow]]:
        return [(row.node.id, row) for row in choose_costs(self._rows, sort, reverse, text)]

    def is_of(self, bar: str, row: CostRow) -> bool:
        """Compare the operator of the node."""
        return label_of(row.node.op) == bar

    def facts(self, glyphs: Glyphs) -> Sequence[Fact]:
        """Return operations, parameters, bytes, and unknown nodes."""
        return list(self._facts(glyphs))

    def _facts(self, glyphs: Glyphs) -> Iterator[Fact]:
        costs, dot = self.costs, f" {glyphs.dot} "
        yield Fact(_THEORETICAL, f"{flops_words(costs)} FLOPs{dot}{macs_words(costs)} MACs", "title")
        yield Fact("element-wise", f"{element_words(costs)} operations, estimated, in the FLOPs above")
        zeros = f", {percent(costs.zeros / costs.parameters)} zeros" if costs.parameters else ""
        told = f"{scaled(costs.parameters)}{zeros}{dot}weights {size(costs.weight_bytes)}"
        yield Fact("parameters", told if is_counted(costs) else UNKNOWN)
        peak = f", at once {size(costs.peak_activation_bytes)}" if costs.peak_activation_bytes is not None else ""
        yield Fact("activations", f"{activation_words(costs)} read and written{peak}")
        sizes = [f"batch {costs.batch}"] if costs.batch is not None else []
        sizes += [f"{name} {value}" for name, value in costs.dims.items()]
        yield Fact(
            "at", f"{dot.join([*sizes, count_of(costs.items, 'item')])}; shapes from {costs.shapes_from or UNKNOWN}"
        )
        if costs.bound is not None:
            yield Fact("limit", bound_words(costs.bound), "warn")
        if unknown := unknown_words(costs):
            yield Fact("unknown", f"{unknown}: not in the totals", "warn")
        yield from (Fact("note", text) for text in costs.notes)

    def said(self, kind: str) -> Sequence[LineLike]:
        """Say that these figures are theoretical, with the operations per byte."""
        ratio = f" {short(self.costs.flops / self._moved)} operations per byte." if self._moved else ""
        return [
            (
                f"Theoretical: no time was measured.{ratio} n measures where the time goes.",
                "accent",
            )
        ]

    def summed(self, kind: str, display: str) -> Summed:
        """Return one bar per operator."""
        summary = summarize_costs(self.costs, kind, display)
        bars = [(bar.label, bar.length, f"{bar.text}  {bar.layers}") for bar in summary.bars]
        return Summed(f"{summary.title}, number of nodes", bars, summary.words)

    def brief(self, key: str, glyphs: Glyphs) -> Sequence[LineLike]:
        """Return the facts that have no column."""
        row = self._table.row(key)
        return [
            (f" {row.node.name or key}", "title"),
            self._table.brief(key, ("bytes", "intensity", "zeros", "why"), glyphs),
            self._table.brief(key, ("shapes",), glyphs),
        ]

    def details(self, key: str, glyphs: Glyphs) -> Sequence[Fact]:
        """Return all values of a node."""
        return [Fact(*pair) for pair in cost_detail(self._table.row(key))]

    def depth(self, kind: str, display: str) -> Depth:
        """Return the values in the order of the file."""
        values: list[int | None]
        if kind == FLOPS:
            values = [row.flops for row in self._rows]
        else:
            values = [row.bytes_moved if kind == BYTES else row.node.parameters for row in self._rows]
        title = f"{kind} ({_THEORETICAL})"
        return over_depth(title, [row.node.id for row in self._rows], values, unit_of(kind), display)
