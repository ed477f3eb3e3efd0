"""Book of a performance profile: time of the model, of each type of layer, and of each layer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tuibench.core.profile import PerformanceProfile, Profile
from tuibench.core.units import count_of, ms, percent, short, size
from tuibench.insight.cost_total import flops_words
from tuibench.insight.detail import MOST_NODES, layer_detail
from tuibench.insight.estimate import BOUND, ModelEstimate, model_estimates
from tuibench.insight.layer import COLUMNS, LayerRow, choose, columns_of, fused_words, layer_rows, with_sum
from tuibench.insight.portion import work_of
from tuibench.insight.roof import roof_lines
from tuibench.insight.sentence import help_sentence, sum_words, zeros_sentence
from tuibench.insight.summary import SUMMARY_TYPES, summarize
from tuibench.report.profile_trust import shown_cautions, shown_profile
from tuibench.tui.glyph import Glyphs
from tuibench.tui.screens.detail_fact import Fact
from tuibench.tui.screens.profile_book import Book, Depth, Summed
from tuibench.tui.screens.profile_book_layers import LayerTable
from tuibench.tui.screens.profile_depth_values import layer_depth
from tuibench.tui.screens.profile_words import processes
from tuibench.tui.widgets.row import LineLike

_SORTS = ("ms", "#", "op", "weight", "GFLOP/s", "% roof", "INT8 ms", "FLOPs", "params", "bytes")


class PerformanceBook(Book):
    """One profile with its theoretical costs."""

    def __init__(self, profile: Profile) -> None:
        profile = shown_profile(profile)
        assert profile.performance is not None
        self.profile: PerformanceProfile = profile.performance
        self.costs = profile.costs
        # Compute these once: each walks all layers, and the user interface must not wait for it.
        self._estimates = model_estimates(self.profile)
        self._work, self._help = work_of(self.profile), help_sentence(self.profile)
        self._rows = layer_rows(self.profile, self.costs)
        self._nodes = {node.id: node for node in self.costs.nodes}
        columns = columns_of(self.profile)
        self._table = LayerTable(columns, [(row.layer.key, row) for row in self._rows], self._arrange, _style, with_sum)
        hidden = {column.title for column in COLUMNS} - {column.title for column in columns}
        self.kinds = tuple(kind for kind in SUMMARY_TYPES if kind not in hidden)
        self.sorts = tuple(title for title in _SORTS if title not in hidden)

    def _arrange(self, sort: str, reverse: bool, text: str) -> Sequence[tuple[str, LayerRow]]:
        return [(row.layer.key, row) for row in choose(self._rows, sort, reverse, text)]

    # Model summary

    def facts(self, glyphs: Glyphs) -> Sequence[Fact]:
        """Return speed, estimates, then conditions of the measurement."""
        return list(self._facts(glyphs))

    def _facts(self, glyphs: Glyphs) -> Iterator[Fact]:
        profile, dot = self.profile, f" {glyphs.dot} "
        grade = profile.grade
        letter = f"grade {grade.letter}" if grade is not None and grade.letter else ""
        yield Fact("measured", dot.join(filter(None, (_speed(profile), letter))), "title")
        yield from (Fact("estimated", _estimated(estimate)) for estimate in self._estimates)
        yield from (Fact("caution", text, "warn") for text in shown_cautions(profile))
        sizes = [f"batch {profile.batch}" if profile.batch is not None else "", count_of(profile.cores, "core")]
        sizes += [f"{name} {value}" for name, value in profile.dims.items()]
        engine = f"{profile.engine} {profile.engine_version} {profile.precision}"
        yield Fact("on", dot.join(filter(None, (engine, *sizes, " ".join(profile.isa)))))
        yield Fact("achieved", dot.join(self._achieved()))
        made = f"{processes(profile.processes)}, {profile.runs} profiled runs each"
        scale = f"scaled {glyphs.times}{profile.scale:.3f}" if profile.scale != 1 else "not scaled"
        known = profile.attributed is not None and not profile.below_resolution
        told = f"{percent(profile.attributed or 0.0)} attributed" if known else ""
        yield Fact("layers", dot.join(filter(None, (made, scale, told, sum_words(profile)))))
        held = [f"load {ms(profile.load_ms)}"] if profile.load_ms is not None else []
        held += [f"peak {size(profile.peak_bytes)}"] if profile.peak_bytes is not None else []
        yield Fact("costs", dot.join([*held, f"{flops_words(self.costs)} FLOPs"]))
        if profile.roofline is not None:
            yield Fact("roofs", dot.join(roof_lines(profile.roofline)))
        yield Fact("zeros", zeros_sentence(profile))
        yield from (Fact("note", text) for text in profile.notes)
        yield from (Fact(estimate.method, estimate.words, "dim") for estimate in self._estimates)

    def _achieved(self) -> Iterator[str]:
        work = self._work
        if work.gflops is None:
            yield "unknown"
        else:
            missing = f", {count_of(work.unknown, 'layer')} unknown" if work.unknown else ""
            share = work.roof_share
            roof = f", {percent(min(share, 1.0))} of the measured roofs" if share is not None else ""
            yield f"{short(work.gflops)} GFLOP/s{missing}{roof}"

    def said(self, kind: str) -> Sequence[LineLike]:
        """Say whether optimizing will help."""
        return [(f"{self._help}.", "accent")]

    def summed(self, kind: str, display: str) -> Summed:
        """Return one bar per operator."""
        summary = summarize(self.profile, kind, display)
        bars = [(bar.label, bar.length, f"{bar.text}  {bar.layers}") for bar in summary.bars]
        return Summed(f"{summary.title}, number of layers", bars, summary.words)

    # Layers

    def brief(self, key: str, glyphs: Glyphs) -> Sequence[LineLike]:
        """Return the facts that have no column."""
        row = self._table.row(key)
        nodes = row.layer.nodes
        fused = f"fused {fused_words(row, self._nodes)}" if len(nodes) > 1 else ""
        words = [row.name or (key if nodes else row.layer.op), fused, row.reason]
        return [
            (f" {f' {glyphs.dot} '.join(filter(None, words))}", "title"),
            self._table.brief(key, ("half", "int8", "bound", "flops", "params", "zeros", "bytes"), glyphs),
            self._table.brief(key, ("kernel", "shapes"), glyphs),
        ]

    def details(self, key: str, glyphs: Glyphs) -> Sequence[Fact]:
        """Return all values of a row and its estimated gains."""
        return [Fact(*pair) for pair in layer_detail(self.profile, self._table.row(key), self.costs, MOST_NODES)]

    def depth(self, kind: str, display: str) -> Depth:
        """Return the values in the order of the model."""
        return layer_depth(self.profile, self._rows, kind, display)


def _style(row: LayerRow) -> str:
    return "" if row.layer.nodes and row.ms is not None else "dim"


def _speed(profile: PerformanceProfile) -> str:
    value = profile.ms.value
    if value is None:
        return profile.ms.reason or "not measured"
    half = profile.ms.half_width
    near = f" ±{percent(half)}" if half is not None else ""
    return f"{ms(value)}/batch{near}, {short(1000 * profile.items / value)} items/s"


def _estimated(estimate: ModelEstimate) -> str:
    sign = "at best " if estimate.method == BOUND else ""
    time = ms(estimate.ms.value) if estimate.ms.value is not None else "unknown"
    half = estimate.ms.half_width
    near = f" ±{percent(half)}" if half is not None else ""
    return f"{sign}{time}/batch{near}, {short(estimate.speedup.value or 0)}× ({estimate.method})"
