"""The FLOPS profile as text: a model's costs by its shapes, marked as theory throughout."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from tuibench.core.profile import EXECUTED, NODES, CostProfile, CountBound
from tuibench.core.text import show
from tuibench.core.units import count_of, percent, scaled, short, size
from tuibench.insight.bar import VALUES
from tuibench.insight.column import UNKNOWN
from tuibench.insight.cost import COST_COLUMNS
from tuibench.insight.cost_total import (
    activation_words,
    element_words,
    flops_words,
    is_counted,
    macs_words,
    unknown_words,
)
from tuibench.insight.summary import FLOPS, FLOPS_WORDS, summarize_costs
from tuibench.report.profile_heading import ProfileHeading, heading_lines
from tuibench.report.profile_rows import cost_details, cut, shown_costs
from tuibench.report.profile_shown import Shown
from tuibench.report.profile_table import (
    capital,
    detail_lines,
    finished,
    layer_table,
    left_out,
    nothing_words,
    results_title,
    summed_lines,
    wrapped,
)

_NARROW = 8


def cost_lines(costs: CostProfile, heading: ProfileHeading, shown: Shown | None = None) -> list[str]:
    """Return all sections of the FLOPS profile, or the details of one node."""
    shown = shown or Shown()
    title = "FLOPS profile (theoretical: nothing of it is measured)"
    if shown.layer:
        return [title, *detail_lines(cost_details(costs, shown), heading, shown)]
    totals = [line for each in total_lines(costs) for line in wrapped(each, shown.width)]
    lines = [title, *heading_lines(heading), *totals, ""]
    if not costs.nodes:
        return finished([*lines, "The model has no nodes"], shown.ascii_only)
    found = summarize_costs(costs, shown.summary or FLOPS, shown.display or VALUES)
    # The totals above define FLOPs already.
    lines += summed_lines(found if found.kind != FLOPS else replace(found, words=()), shown)
    lines += ["", results_title(shown, " (theoretical)")]
    rows = shown_costs(costs, shown)
    kept = cut(rows, shown)
    lines += layer_table(COST_COLUMNS, kept, shown.width, _NARROW) if kept else [nothing_words(shown)]
    lines += left_out(len(kept), len(rows), "--top N")
    lines += ["* more than 10 % of the operations"] if any(row.is_heavy for row in kept) else []
    lines += [_plus_words(costs)] if any(row.node.times is None for row in kept) else []
    return finished(lines, shown.ascii_only)


def total_lines(costs: CostProfile) -> Iterator[str]:
    """Yield the totals of the model, the parts missing from them, and the source of the shapes."""
    dims = "".join(f", {show(name, 40)}={value}" for name, value in costs.dims.items())
    yield f"Batch: {'as in the model' if costs.batch is None else costs.batch}{dims}"
    yield f"MACs: {macs_words(costs)} per batch of {count_of(costs.items, 'item')}"
    of_which = f", of which {element_words(costs)} on single elements" if flops_words(costs) != UNKNOWN else ""
    yield f"FLOPs: {flops_words(costs)}{of_which}"
    yield f"Convention: {FLOPS_WORDS}"
    zeros = f", {percent(costs.zeros / costs.parameters)} of them zero" if costs.parameters else ""
    told = f"{scaled(costs.parameters)} (shared ones once{zeros}), {size(costs.weight_bytes)}"
    yield f"Parameters: {told if is_counted(costs) else UNKNOWN}"
    peak = costs.peak_activation_bytes
    most = f" read and written, at most {size(peak)} at one time" if peak is not None else " read and written"
    moved = activation_words(costs)
    yield f"Activations: {moved}{most if moved != UNKNOWN else ''}"
    if costs.bound is not None:
        yield capital(bound_words(costs.bound))
    if unknown := unknown_words(costs):
        yield f"Unknown: {unknown}; the totals are of what is known"
    yield f"Shapes from: {show(costs.shapes_from, 300) or UNKNOWN}"
    yield from (f"Note: {show(note, 500)}" for note in costs.notes)


def bound_words(bound: CountBound) -> str:
    """Return a description of the limit at which counting stopped."""
    if bound.code == NODES:
        why = f"its functions expand to more than {int(bound.limit):,}"
    elif bound.code == EXECUTED:
        why = f"its loops run more than {int(bound.limit):,} nodes in one inference; one turn of each is counted"
    else:
        why = f"its loops did not end within {short(bound.limit)} s; one turn of each is counted"
    return f"counted up to {count_of(bound.counted, 'node')}: {why}"


def _plus_words(costs: CostProfile) -> str:
    if costs.bound is not None and costs.bound.code == NODES:
        return "+ at least: not all nodes that it expands to are counted"
    return "+ counted once: how often it runs is not known"
