"""The performance profile: the model's time, possible gains, and a row for each layer."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from tuibench.core.cell import Estimate
from tuibench.core.engine import with_version
from tuibench.core.profile import (
    LAYER,
    RESIDUAL,
    CostProfile,
    NodeCost,
    PerformanceProfile,
    Profile,
)
from tuibench.core.profile_facts import find_withheld, int8_of, total_ms, untold_words, work_of
from tuibench.core.text import show
from tuibench.core.units import count_of, cpu_ranges, ms, percent, scaled, short, size
from tuibench.present.amount import with_interval
from tuibench.present.csv_export import count, join_names, number, safe_text
from tuibench.present.plots.depth import Depth
from tuibench.present.plots.drawing import Span
from tuibench.present.profile.costs import (
    count_words,
    parameter_words,
    shape_words,
    shapes_words,
    total_words,
    weight_words,
)
from tuibench.present.profile.estimate import BOUND, amdahl, layer_gains, model_estimates
from tuibench.present.profile.layers import COLUMNS, ROOF_REACHED, LayerRow, columns_of, fused_words, layer_rows
from tuibench.present.profile.machine import roof_lines, zeros_sentence
from tuibench.present.profile.pruned import part_words, pruned_words, whole_points
from tuibench.present.profile.shown import shown_cautions, shown_profile
from tuibench.present.profile.summary import (
    BASELINE,
    BYTES,
    COST_TYPES,
    FLOPS,
    FLOPS_WORDS,
    INT8_TIME,
    PARAMETERS,
    POTENTIAL,
    POTENTIAL_SHARE,
    PRUNED,
    PRUNED_TYPES,
    SUMMARY_TYPES,
    Summary,
    help_sentence,
    sum_words,
    summarize,
    unit_of,
    whole_of,
)  # fmt: skip
from tuibench.present.profile.view import DOT, Fact, Pair, ProfileView, over_depth
from tuibench.present.reason import all_words, export_words, reason_words
from tuibench.present.table import MAX_CHARS, NONE, UNKNOWN

_SORTS = ("ms", "#", "op", "weight", "GFLOP/s", "% roof", "INT8 ms", "FLOPs", "params", "bytes")


class PerformanceView(ProfileView[LayerRow]):
    """A performance profile with its theoretical costs."""

    title, markdown_title = "Model summary", "# Performance profile"
    counted = "layers"
    usual, usual_sort = BASELINE, "ms"
    csv_columns = (
        "number", "kind", "op", "node", "weight", "ms", "ms_low", "ms_high", "share", "macs", "element_flops", "flops",
        "gflop_per_s", "parameters", "zeros", "bytes_moved", "roof", "roof_ms", "roof_share", "roof_reason",
        "int8_ratio", "int8_ms", "int8_around", "int8_reason", "integer", "kernel_op", "input_shapes", "output_shape",
        "nodes", "kernels", "reason",
    )  # fmt: skip

    def __init__(self, profile: Profile) -> None:
        profile = shown_profile(profile)
        assert profile.performance is not None
        self.profile: PerformanceProfile = profile.performance
        self.costs = profile.costs
        super().__init__(layer_rows(self.profile, self.costs), columns_of(self.profile))
        self._nodes = {node.id: node for node in self.costs.nodes}
        # Compute these once: each walks all layers, and the user interface must not wait for it.
        self._estimates, self._work = model_estimates(self.profile), work_of(self.profile)
        self._help = help_sentence(self.profile)
        hidden = {column.title for column in COLUMNS} - {column.title for column in self.columns}
        shares = {point.zeros for point in whole_points(self.profile)}
        measured = [kind for kind, zeros in PRUNED_TYPES.items() if zeros in shares]
        # Times that were measured with zeros replace those that are estimated from other layers.
        usual = [kind for kind in SUMMARY_TYPES if kind not in hidden and not (measured and kind == PRUNED)]
        self.kinds = (*usual, *measured)
        self.sorts = tuple(title for title in _SORTS if title not in hidden)

    # Model

    def model_lines(self) -> Iterator[str]:
        """Yield settings, speed, distance to the roofs, and possible speedups with their method."""
        measured = self.profile
        isa = " ".join(show(name, 20) for name in measured.isa) or "unknown"
        engine = f"{show(with_version(measured.engine, measured.engine_version), 80)}, {show(measured.precision, 40)}"
        threads = count_of(measured.threads, "thread")
        dims = "".join(f", {show(name, 40)}={value}" for name, value in measured.dims.items())
        yield f"Engine: {engine}"
        yield f"Cores: {measured.cores} (CPU {cpu_ranges(measured.cpus)}), {threads}, ISA {isa}"
        yield f"Batch: {'as in the model' if measured.batch is None else measured.batch}{dims}"
        yield from self._speed_lines()
        for estimate in self._estimates:
            time, speedup = (
                with_interval(ms(estimate.ms.value or 0.0), estimate.ms),
                short(estimate.speedup.value or 1.0),
            )
            yield f"Estimate by {estimate.method}: {time} per batch, {speedup}×: {estimate.words}"
        yield from (f"Pruned: {words}" for words in pruned_words(measured))
        yield from (f"Pruned, only {name}: {words}" for name, words in part_words(measured))
        yield from (f"Note: {note}" for note in (*shown_cautions(measured), *all_words(measured.notes)))

    def _speed_lines(self) -> Iterator[str]:
        measured, work = self.profile, self._work
        value, items = measured.ms.value, max(measured.items, 1)
        if value:
            grade = f", grade {show(measured.grade.letter, 4)}" if measured.grade is not None else ""
            yield f"Time: {_amount(measured.ms)} per batch, {short(1000 * items / value, 4)} items/s{grade}"
        elif measured.ms.reason:
            yield f"Time: unknown: {reason_words(measured.ms.reason)}"
        if work.gflops is not None:
            missing = f", {count_of(work.unknown, 'layer')} unknown" if work.unknown else ""
            yield (
                f"Work: {scaled(work.flops)} FLOPs per batch{missing}, {short(work.gflops)} GFLOP/s{self._roof_share()}"
            )
            yield f"Convention: {FLOPS_WORDS}"
        if measured.roofline is not None:
            yield f"Roofs: {'; '.join(roof_lines(measured.roofline))}"
        start = [f"peak {size(measured.peak_bytes)}"] if measured.peak_bytes is not None else []
        start += [f"load {ms(measured.load_ms)}"] if measured.load_ms is not None else []
        if start:
            yield f"Memory and start: {', '.join(start)}"
        named = f", {100 * self._attributed:.1f} % of the time attributed" if self._attributed is not None else ""
        yield (
            f"Measured: {count_of(measured.processes, 'process')} × {count_of(measured.runs, 'run')},"
            f" {short(measured.bias_us)} µs of the profiler taken off each kernel{named}"
        )
        if sum_words(measured):
            yield f"Layers: {sum_words(measured)}"

    @property
    def _attributed(self) -> float | None:
        return None if self.profile.below_resolution else self.profile.attributed

    def _roof_share(self) -> str:
        share = self._work.roof_share
        return f", {percent(min(share, 1.0))} of the measured roofs" if share is not None else ""

    def facts(self) -> Iterator[Fact]:
        """Yield speed, estimates, then conditions of the measurement."""
        profile, work = self.profile, self._work
        grade = f"grade {profile.grade.letter}" if profile.grade is not None and profile.grade.letter else ""
        yield "measured", _joined(self._speed(), grade), "title"
        for estimate in self._estimates:
            best = "at best " if estimate.method == BOUND else ""
            gain = f"{short(estimate.speedup.value or 0)}× ({estimate.method})"
            yield "estimated", f"{best}{_per_batch(estimate.ms)}, {gain}", ""
        yield from (("caution", text, "warn") for text in shown_cautions(profile))
        sizes = [f"batch {profile.batch}" if profile.batch is not None else "", count_of(profile.cores, "core")]
        sizes += [f"{name} {value}" for name, value in profile.dims.items()]
        engine = f"{with_version(profile.engine, profile.engine_version)} {profile.precision}"
        yield "on", _joined(engine, *sizes, " ".join(profile.isa)), ""
        missing = f", {count_of(work.unknown, 'layer')} unknown" if work.unknown else ""
        rate = "unknown" if work.gflops is None else f"{short(work.gflops)} GFLOP/s{missing}{self._roof_share()}"
        yield "achieved", rate, ""
        made = f"{count_of(profile.processes, 'process')}, {profile.runs} profiled runs each"
        scale = f"scaled ×{profile.scale:.3f}" if profile.scale != 1 else "not scaled"
        known = f"{percent(self._attributed)} attributed" if self._attributed is not None else ""
        yield "layers", _joined(made, scale, known, sum_words(profile)), ""
        load = f"load {ms(profile.load_ms)}" if profile.load_ms is not None else ""
        peak = f"peak {size(profile.peak_bytes)}" if profile.peak_bytes is not None else ""
        yield "costs", _joined(load, peak, f"{total_words(self.costs, 'flops')} FLOPs"), ""
        if profile.roofline is not None:
            yield "roofs", _joined(*roof_lines(profile.roofline)), ""
        yield "zeros", zeros_sentence(profile), ""
        yield from (("pruned", words, "") for words in pruned_words(profile))
        yield from (("", f"only {name}: {words}", "") for name, words in part_words(profile))
        yield from (("note", text, "") for text in all_words(profile.notes))
        yield from ((estimate.method, estimate.words, "dim") for estimate in self._estimates)

    def _speed(self) -> str:
        time, items = self.profile.ms, self.profile.items
        if time.value is None:
            return reason_words(time.reason) or "not measured"
        return f"{_per_batch(time)}, {short(1000 * items / time.value)} items/s"

    def conclusions(self) -> Sequence[str]:
        """Return whether optimizing will help, and the gain by zeros."""
        return self._help, zeros_sentence(self.profile)

    def said(self, kind: str) -> Sequence[str]:
        """Return whether optimizing will help."""
        return (f"{self._help}.",)

    def summarize(self, kind: str, display: str) -> Summary:
        """Return a bar for each operator."""
        return summarize(self.profile, kind, display)

    # Layers

    def names(self, row: LayerRow) -> Iterator[str]:
        """Yield the key, the weight, and the nodes with their names."""
        yield from (row.key, row.weight)
        for node in row.layer.nodes:
            yield node
            if node in self._nodes:
                yield self._nodes[node].name

    def detail(self, row: LayerRow, most: int | None = None) -> tuple[Pair, ...]:
        """Return all values of a row and its estimated gains."""
        return layer_detail(self.profile, row, self.costs, most)

    def brief(self, row: LayerRow) -> list[Span]:
        """Return the facts that have no column."""
        nodes = row.layer.nodes
        fused = f"fused {fused_words(row, self._nodes)}" if len(nodes) > 1 else ""
        return [
            (f" {_joined(row.name or (row.key if nodes else row.op), fused, row.reason)}", "title"),
            self.line_of(row, "half", "int8", "bound", "flops", "params", "zeros", "bytes"),
            self.line_of(row, "kernel", "shapes"),
        ]

    def style(self, row: LayerRow) -> str:
        """Return `dim` for the engine's own work and rows without time."""
        return "" if row.layer.nodes and row.ms is not None else "dim"

    def legend(self, rows: Sequence[LayerRow]) -> Iterator[str]:
        """Yield the meaning of the columns; nothing without times."""
        measured = self.profile
        if measured.below_resolution:
            return
        if any(row.is_heavy for row in rows):
            yield "* more than 10 % of the time"
        yield "ms per batch; % of the time of all rows, cum % of a row and those above it"
        if measured.roofline is None:
            yield "% roof: no roof was measured"
        elif any(layer.roof_ms is not None for layer in measured.layers):
            yield "% roof: least time by the peaks and bandwidths measured here / its time"

    def csv_rows(self, row: LayerRow) -> Iterable[tuple[str, ...]]:
        """Return a row's line of the CSV."""
        layer, form, shown = row.layer, int8_of(row.layer), row.ms is not None
        yield (
            count(row.number), *map(safe_text, (layer.kind, layer.op, row.name, layer.weight)),
            *map(number, (row.ms, layer.ms.low if shown else None, layer.ms.high if shown else None, row.share)),
            *map(count, (layer.macs, layer.element_flops, layer.flops)), number(row.gflops),
            *map(count, (layer.parameters, layer.zeros, layer.bytes_moved)), safe_text(layer.roof),
            *map(number, (layer.roof_ms, row.roof_share)), safe_text(export_words(layer.roof_reason)),
            *map(number, (form.ratio.value if form else None, row.int8_ms, form.around if form else None)),
            safe_text(export_words(form.reason if form else None)), str(layer.integer).lower(),
            safe_text(layer.kernel_op),
            safe_text(" ".join(map(shape_words, row.cost.input_shapes)) if row.cost else ""),
            safe_text(shape_words(row.cost.output_shape) if row.cost else ""),
            join_names(layer.nodes), join_names(layer.kernels), safe_text(row.reason),
        )  # fmt: skip

    # Depth

    def depth(self, kind: str, display: str) -> Depth:
        """Return a quantity of the timed layers in the model's order, without the engine's own work."""
        timed = [row for row in self.rows if row.layer.kind == LAYER and row.layer.ms.value is not None]
        values = self._values(timed, kind)
        whole = whole_of(self.profile, kind)
        found = over_depth(kind, [row.key for row in timed], values, unit_of(kind), display, whole)
        if any(value is not None for value in values):
            return found
        return replace(found, empty=self._why_no_value(timed, kind))

    def _why_no_value(self, timed: Sequence[LayerRow], kind: str) -> str:
        """Return why no layer has a value; '' if unknown."""
        summary = summarize(self.profile, kind)
        # For other quantities the summary's words describe its method, not a reason.
        if kind in PRUNED_TYPES:
            return "known by operator only: kernels merge differently at each share of zeros"
        is_told = kind in (INT8_TIME, PRUNED) or (self.profile.below_resolution and kind not in COST_TYPES)
        if kind in (POTENTIAL, POTENTIAL_SHARE) and timed and untold_words(self.profile):
            return untold_words(self.profile)
        if is_told and not summary.bars:
            return " ".join(summary.words)
        if not timed:
            return "no layer was timed"
        return f"{kind} are known of no layer" if kind in COST_TYPES else ""

    def _values(self, rows: Sequence[LayerRow], kind: str) -> list[float | None]:
        if kind in (POTENTIAL, POTENTIAL_SHARE):
            gains, total = layer_gains(self.profile), total_ms(self.profile)
            saved = [None if row.ms is None else gains[row.key].potential_ms for row in rows]
            return saved if kind == POTENTIAL or not total else [None if one is None else one / total for one in saved]
        effect = self.profile.zero_effect
        ratio = effect.ratio.value if effect is not None and effect.exploits else None
        pick: dict[str, Callable[[LayerRow], float | None]] = {
            BASELINE: lambda row: row.ms,
            INT8_TIME: lambda row: row.int8_ms,
            PRUNED: lambda row: None if ratio is None or row.ms is None else row.ms * (ratio if row.layer.macs else 1),
            FLOPS: lambda row: row.layer.flops,
            BYTES: lambda row: row.layer.bytes_moved,
            PARAMETERS: lambda row: row.layer.parameters,
        }
        # Kernels merge differently at each share of zeros, so only whole operators have a time there.
        return [pick[kind](row) if kind in pick else None for row in rows]


def _joined(*texts: str) -> str:
    return DOT.join(filter(None, texts))


def _per_batch(time: Estimate) -> str:
    return with_interval(f"{ms(time.value) if time.value is not None else 'unknown'}/batch", time)


def _amount(estimate: Estimate) -> str:
    value = estimate.value or 0.0
    text = f"{short(value, 4)} ms" if value >= 0.1 else ms(value)
    return with_interval(text, estimate)


MOST_NODES = 40
"""Most nodes that the scrolling view lists."""


def layer_detail(
    profile: PerformanceProfile, row: LayerRow, costs: CostProfile | None = None, most: int | None = None
) -> tuple[Pair, ...]:
    """Return the facts of one row of a performance profile; after `most` nodes, only the number of the others."""
    nodes = {node.id: node for node in costs.nodes} if costs is not None else {}
    return tuple(
        pair for pair in (*_time(row), *_work(row), *_forms(profile, row), *_made_of(row, nodes, most)) if pair[1]
    )


def _time(row: LayerRow) -> Iterator[Pair]:
    yield "operator", show(row.layer.op, MAX_CHARS)
    half = row.layer.ms.half_width
    if row.ms is None:
        yield "time", f"{NONE} ({show(row.reason, MAX_CHARS)})"
    else:
        interval = f" ±{percent(half)} over {count_of(row.layer.ms.n, 'measurement')}" if half is not None else ""
        yield "time", f"{ms(row.ms)} per batch{interval}"
        yield "share", "" if row.share is None else f"{percent(row.share)} of the time"


def _work(row: LayerRow) -> Iterator[Pair]:
    layer = row.layer
    if layer.kind != LAYER:
        return
    yield "MACs", count_words(layer.macs)
    yield "FLOPs", count_words(layer.flops) + (f", {short(row.gflops)} GFLOP/s" if row.gflops is not None else "")
    yield "bytes moved", UNKNOWN if layer.bytes_moved is None else size(layer.bytes_moved)
    if layer.roof_ms is not None:
        share = row.roof_share
        words = "" if share is None else ROOF_REACHED + " %" if share > 0.995 else percent(share)
        yield (
            "roof",
            f"{ms(layer.roof_ms)} by {show(layer.roof, 20) or UNKNOWN}" + (f", {words} reached" if words else ""),
        )
    elif layer.roof_reason:
        yield "roof", f"{NONE} ({reason_words(layer.roof_reason, MAX_CHARS)})"
    yield "parameters", parameter_words(layer.parameters, layer.zeros)


def _forms(profile: PerformanceProfile, row: LayerRow) -> Iterator[Pair]:
    if find_withheld(profile) is not None:
        return
    form, share = int8_of(row.layer), row.share
    if form is not None and form.ratio.value is not None:
        time = f", {ms(row.int8_ms)} in the model" if row.int8_ms is not None else ""
        turned = f", {percent(form.around)} of that between floats and integers" if form.around is not None else ""
        yield (
            "INT8, measured alone",
            f"{with_interval(f'{short(form.ratio.value)} of its time', form.ratio)}{time}{turned}",
        )
    elif form is not None:
        yield "INT8, measured alone", f"{NONE} ({reason_words(form.reason, MAX_CHARS) or UNKNOWN})"
    yield from (("zeros in its weights", words) for _, words in part_words(profile, row.layer))
    bound = amdahl(share) if share is not None else None
    if bound is None or profile.below_resolution or row.layer.kind == RESIDUAL:
        return
    untold = untold_words(profile)
    yield BOUND, f"{NONE} ({untold})" if untold else f"the model {short(bound)}× as fast at most, if it took no time"


def _made_of(row: LayerRow, nodes: dict[str, NodeCost], most: int | None) -> Iterator[Pair]:
    layer = row.layer
    yield (
        "weight",
        (weight_words(row.cost) if row.cost is not None and row.cost.weight else show(layer.weight, MAX_CHARS)),
    )
    yield "shapes", shapes_words(row.cost) if row.cost is not None else ""
    kernels = ", ".join(show(kernel, 120) for kernel in layer.kernels[:most])
    yield "kernel", f"{show(layer.kernel_op, 120)} ({kernels})" if kernels else show(layer.kernel_op, 120)
    for id_ in layer.nodes[:most]:
        node = nodes.get(id_)
        yield (
            "made of",
            show(id_, MAX_CHARS) if node is None else f"{show(node.op, 80)} {show(node.name or id_, MAX_CHARS)}",
        )
    if most is not None and layer.nodes[most:]:
        yield "made of", f"{count_of(len(layer.nodes) - most, 'more node')}: show --layer and CSV list all"
