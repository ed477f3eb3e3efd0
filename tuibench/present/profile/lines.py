"""A performance profile as text: model summary, bars per operator, layers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from tuibench.core.cell import Estimate
from tuibench.core.profile import EXECUTED, NODES, CostProfile, CountBound, PerformanceProfile, Profile
from tuibench.core.profile_facts import roof_lines, work_of
from tuibench.core.text import show
from tuibench.core.units import count_of, cpu_ranges, ms, percent, scaled, short, size
from tuibench.present.label import plus_minus
from tuibench.present.profile.costs import (
    COST_COLUMNS,
    UNKNOWN,
    activation_words,
    element_words,
    flops_words,
    is_counted,
    macs_words,
    unknown_words,
)
from tuibench.present.profile.estimate import model_estimates
from tuibench.present.profile.layers import NARROW, columns_of
from tuibench.present.profile.rows import (
    ProfileHeading,
    capital,
    cost_details,
    cut,
    detail_lines,
    finished,
    heading_lines,
    layer_details,
    layer_table,
    left_out,
    nothing_words,
    results_title,
    shown_costs,
    shown_layers,
    summed_lines,
    wrapped,
)
from tuibench.present.profile.shown import Shown, shown_cautions, shown_profile
from tuibench.present.profile.summary import (
    BASELINE,
    FLOPS,
    FLOPS_WORDS,
    VALUES,
    help_sentence,
    sum_words,
    summarize,
    summarize_costs,
    zeros_sentence,
)


def profile_lines(profile: Profile, heading: ProfileHeading, shown: Shown | None = None) -> list[str]:
    """Return all sections of a performance profile, or the details of one layer."""
    profile, shown = shown_profile(profile), shown or Shown()
    measured = profile.performance
    if measured is None:
        return finished([*heading_lines(heading), "Nothing was measured of it"], shown.ascii_only)
    if shown.layer:
        return detail_lines(layer_details(measured, profile.costs, shown), heading, shown)
    model = [line for each in model_lines(measured) for line in wrapped(each, shown.width)]
    lines = ["Model summary", *heading_lines(heading), *model]
    lines += ["", "Layer summaries", *summary_lines(measured, shown)]
    lines += ["", results_title(shown), *result_lines(profile, measured, shown)]
    return finished(lines, shown.ascii_only)


def model_lines(measured: PerformanceProfile) -> list[str]:
    """Return the model summary: settings, speed, distance to the roof, and possible speedups with their method."""
    return [*_setting_lines(measured), *_speed_lines(measured), *_estimate_lines(measured),
            *(f"Note: {show(note, 500)}" for note in (*shown_cautions(measured), *measured.notes))]  # fmt: skip


def summary_lines(measured: PerformanceProfile, shown: Shown) -> list[str]:
    """Return the sentence on whether optimizing will help, the gain by zeros, and a bar per operator."""
    said = (help_sentence(measured), zeros_sentence(measured))
    lines = [line for sentence in said for line in wrapped(capital(sentence), shown.width)]
    found = summarize(measured, shown.summary or BASELINE, shown.display or VALUES)
    if not found.bars and not shown.summary:
        return lines
    return [*lines, "", *summed_lines(found, shown)]


def result_lines(profile: Profile, measured: PerformanceProfile, shown: Shown) -> list[str]:
    """Return the table of layers with its legend."""
    rows = shown_layers(measured, profile.costs, shown)
    kept = cut(rows, shown)
    lines = layer_table(columns_of(measured), kept, shown.width, NARROW) if kept else [nothing_words(shown)]
    lines += left_out(len(kept), len(rows), "--top N")
    return [*lines, *_legend(measured, any(row.is_heavy for row in kept))]


def _setting_lines(measured: PerformanceProfile) -> Iterator[str]:
    isa = " ".join(show(name, 20) for name in measured.isa) or "unknown"
    yield f"Engine: {show(measured.engine, 40)} {show(measured.engine_version, 40)}, {show(measured.precision, 40)}"
    yield (
        f"Cores: {measured.cores} (CPU {cpu_ranges(measured.cpus)}), {count_of(measured.threads, 'thread')}, ISA {isa}"
    )
    dims = "".join(f", {show(name, 40)}={value}" for name, value in measured.dims.items())
    yield f"Batch: {'as in the model' if measured.batch is None else measured.batch}{dims}"


def _speed_lines(measured: PerformanceProfile) -> Iterator[str]:
    value, items = measured.ms.value, max(measured.items, 1)
    if value:
        grade = f", grade {show(measured.grade.letter, 4)}" if measured.grade is not None else ""
        yield f"Time: {_amount(measured.ms)} per batch, {short(1000 * items / value, 4)} items/s{grade}"
    elif measured.ms.reason:
        yield f"Time: unknown: {show(measured.ms.reason)}"
    work = work_of(measured)
    if work.gflops is not None:
        missing = f", {count_of(work.unknown, 'layer')} unknown" if work.unknown else ""
        roof = f", {percent(min(work.roof_share, 1.0))} of the measured roofs" if work.roof_share is not None else ""
        yield f"Work: {scaled(work.flops)} FLOPs per batch{missing}, {short(work.gflops)} GFLOP/s{roof}"
        yield f"Convention: {FLOPS_WORDS}"
    if measured.roofline is not None:
        yield f"Roofs: {'; '.join(roof_lines(measured.roofline))}"
    start = [f"peak {size(measured.peak_bytes)}"] if measured.peak_bytes is not None else []
    start += [f"load {ms(measured.load_ms)}"] if measured.load_ms is not None else []
    if start:
        yield f"Memory and start: {', '.join(start)}"
    processes = f"{measured.processes} process{'' if measured.processes == 1 else 'es'}"
    known = measured.attributed is not None and not measured.below_resolution
    named = f", {100 * (measured.attributed or 0.0):.1f} % of the time attributed" if known else ""
    yield (
        f"Measured: {processes} × {count_of(measured.runs, 'run')},"
        f" {short(measured.bias_us)} µs of the profiler taken off each kernel{named}"
    )
    if sum_words(measured):
        yield f"Layers: {sum_words(measured)}"


def _estimate_lines(measured: PerformanceProfile) -> Iterator[str]:
    for estimate in model_estimates(measured):
        half = plus_minus(estimate.ms)
        time = f"{ms(estimate.ms.value or 0.0)} {half}".rstrip()
        speedup = f"{short(estimate.speedup.value or 1.0)}×"
        yield f"Estimate by {estimate.method}: {time} per batch, {speedup}: {estimate.words}"


def _legend(measured: PerformanceProfile, heavy: bool) -> list[str]:
    if measured.below_resolution:
        return []
    lines = ["* more than 10 % of the time"] if heavy else []
    lines.append("ms per batch; % of the time of all rows, cum % of a row and those above it")
    if measured.roofline is None:
        lines.append("% roof: no roof was measured")
    elif any(layer.roof_ms is not None for layer in measured.layers):
        lines.append("% roof: least time by the peaks and bandwidths measured here / its time")
    return lines


def _amount(estimate: Estimate) -> str:
    half = plus_minus(estimate)
    value = estimate.value or 0.0
    text = f"{short(value, 4)} ms" if value >= 0.1 else ms(value)
    return f"{text} {half}".rstrip()


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
