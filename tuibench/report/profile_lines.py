"""A performance profile as text: model summary, bars per operator, layers."""

from __future__ import annotations

from collections.abc import Iterator

from tuibench.core.cell import Estimate
from tuibench.core.profile import PerformanceProfile, Profile
from tuibench.core.text import show
from tuibench.core.units import count_of, cpu_ranges, ms, percent, scaled, short, size
from tuibench.insight.bar import VALUES
from tuibench.insight.estimate import model_estimates
from tuibench.insight.layer import NARROW, columns_of
from tuibench.insight.portion import work_of
from tuibench.insight.roof import roof_lines
from tuibench.insight.sentence import help_sentence, sum_words, zeros_sentence
from tuibench.insight.summary import BASELINE, FLOPS_WORDS, summarize
from tuibench.report.label import plus_minus
from tuibench.report.profile_heading import ProfileHeading, heading_lines
from tuibench.report.profile_rows import cut, layer_details, shown_layers
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
from tuibench.report.profile_trust import shown_cautions, shown_profile


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
