"""Book of a performance profile: time of the model, of each type of layer, and of each layer."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from tuibench.core.profile import CostProfile, LossProfile, PerformanceProfile, Profile
from tuibench.core.profile_facts import roof_lines, work_of
from tuibench.core.spec import APPROXIMATED
from tuibench.core.units import count_of, ms, percent, scaled, short, size
from tuibench.present.profile.costs import flops_words
from tuibench.present.profile.detail import MOST_NODES, layer_detail, loss_detail
from tuibench.present.profile.estimate import BOUND, ModelEstimate, model_estimates
from tuibench.present.profile.layers import COLUMNS, LayerRow, choose, columns_of, fused_words, layer_rows, with_sum
from tuibench.present.profile.loss import (
    HARM,
    PARAMETERS,
    LossRow,
    arrange_losses,
    level_title,
    level_words,
    loss_columns,
    loss_notes,
    loss_rows,
    loss_sentences,
    loss_types,
    noise_words,
    sensitivities,
    summarize_loss,
    told_level,
)
from tuibench.present.profile.shown import shown_cautions, shown_profile
from tuibench.present.profile.summary import (
    LOG,
    SHARES,
    SUMMARY_TYPES,
    VALUES,
    help_sentence,
    sum_words,
    summarize,
    zeros_sentence,
)
from tuibench.tui.glyph import Glyphs
from tuibench.tui.screens.detail.facts import Fact
from tuibench.tui.screens.profile.book import Book, Depth, LayerTable, Summed, processes
from tuibench.tui.screens.profile.depth import layer_depth, over_depth
from tuibench.tui.widgets.row import LineLike


class LossBook(Book):
    """One loss profile, measured or approximated; labels approximated values as a proxy."""

    kinds_name = "level"
    displays = (VALUES, LOG, SHARES)

    def __init__(self, loss: LossProfile, costs: CostProfile | None = None) -> None:
        self.loss = loss
        self.costs = costs
        self.kinds, self.usual = loss_types(loss), told_level(loss)
        self.unit = "dB (proxy)" if loss.kind == APPROXIMATED else "dB SQNR"
        self._told = loss_columns(loss)
        self.sorts = ("worst %", "#", "op", "weight", "params", *map(level_title, loss.levels))
        self._rows = loss_rows(loss)
        self._table = LayerTable(self._told, [(row.layer.id, row) for row in self._rows], self._arrange)

    @property
    def _proxy(self) -> str:
        return " (proxy)" if self.loss.kind == APPROXIMATED else ""

    def _arrange(self, sort: str, reverse: bool, text: str) -> Sequence[tuple[str, LossRow]]:
        return [(row.layer.id, row) for row in arrange_losses(self._rows, self._told, sort, reverse, text)]

    def facts(self, glyphs: Glyphs) -> Sequence[Fact]:
        """Return the data of the profile and the average sensitivity at each level."""
        return list(self._facts(glyphs))

    def _facts(self, glyphs: Glyphs) -> Iterator[Fact]:
        loss, dot = self.loss, f" {glyphs.dot} "
        params = sum(layer.parameters for layer in loss.layers)
        zeros = sum(layer.zeros for layer in loss.layers)
        if loss.kind == APPROXIMATED:
            yield Fact("approximated", "from the weights alone: a proxy, nothing was run", "title")
        else:
            yield Fact("measured", f"on {loss.data}", "title")
        share = f", {percent(zeros / params)} zeros" if params else ""
        yield Fact("layers", f"{len(loss.layers)} with weights{dot}{scaled(params)} parameters{share}")
        for each in sensitivities(loss):
            known = each.average is not None
            told = [f"average {percent(each.average or 0.0)} noise{self._proxy} over {count_of(each.layers, 'layer')}"]
            harm = [f"{HARM} with {count_of(len(each.broken), 'layer')}"] if each.broken else []
            yield Fact(each.level, "; ".join([*harm, *(told if known else [])]) or "unknown")
        if loss.float32_db is not None:
            yield Fact("floor", f"{short(loss.float32_db)} dB: the unchanged layers against the model as it is")
        if not loss.complete:
            yield Fact("stopped", "before all layers were measured", "warn")
        yield from (Fact("note", text) for text in loss_notes(loss))

    def said(self, kind: str) -> Sequence[LineLike]:
        """Return the layers to leave unchanged at a level; always include notes on a proxy or an incomplete
        measurement.
        """
        heads = {level: f"{level_words(level)}:" for level in self.loss.levels}
        others = tuple(head for level, head in heads.items() if level != kind)
        told = [text for text in loss_sentences(self.loss) if not text.startswith(others)]
        return [(f"{text}.", "accent") for text in told]

    def summed(self, kind: str, display: str) -> Summed:
        """Return one bar per operator, as in the shell."""
        shown = summarize_loss(self.loss, kind, display)
        return Summed(shown.title, [(bar.label, bar.length, bar.text) for bar in shown.bars], shown.words)

    def brief(self, key: str, glyphs: Glyphs) -> Sequence[LineLike]:
        """Return the facts that have no column."""
        row = self._table.rows[key]
        levels = [f"{level} {noise_words(row.noise[level])}" for level in self.loss.levels]
        dot = f" {glyphs.dot} "
        return [
            (f" {row.layer.weight or row.layer.name or key}", "title"),
            (f" noise{self._proxy}: {dot.join(levels)}", "dim"),
            self._table.brief(key, ("name", "zeros", "reason"), glyphs),
        ]

    def details(self, key: str, glyphs: Glyphs) -> Sequence[Fact]:
        """Return all results of a layer."""
        row = self._table.rows[key]
        return [Fact(*pair) for pair in loss_detail(self.loss, row)]

    def depth(self, kind: str, display: str) -> Depth:
        """Return the values in the order of the model."""
        keys = [row.layer.id for row in self._rows]
        if kind == PARAMETERS:
            return over_depth("parameters", keys, [row.layer.parameters for row in self._rows], scaled, display)
        noise = [row.noise.get(kind) for row in self._rows]
        title = f"noise / signal at {kind}{self._proxy}"
        values = [None if one == math.inf else one for one in noise]
        if display == SHARES:
            # Only powers can be summed for shares, so square the amplitudes.
            values = [None if one is None else one * one for one in values]
            title = f"noise power at {kind}{self._proxy}"
        found = over_depth(title, keys, values, percent, display)
        harmed = {at: HARM for at, one in enumerate(noise) if one == math.inf}
        return replace(found, texts=_Marked(found.texts, harmed)) if harmed else found


class _Marked(Sequence[str]):
    """A sequence of texts with replacements at some places."""

    def __init__(self, texts: Sequence[str], others: Mapping[int, str]) -> None:
        self._texts, self._others = texts, others

    def __len__(self) -> int:
        return len(self._texts)

    def __getitem__(self, at: int) -> str:  # type: ignore[override]
        return self._others.get(at) or self._texts[at]


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
