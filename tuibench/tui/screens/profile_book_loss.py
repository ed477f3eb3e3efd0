"""Book of a loss profile: the effect on the outputs of changing each layer."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from tuibench.core.profile import CostProfile, LossProfile
from tuibench.core.profile_spec import APPROXIMATED
from tuibench.core.units import count_of, percent, scaled, short
from tuibench.insight.bar import LOG, SHARES, VALUES
from tuibench.insight.detail import loss_detail
from tuibench.insight.loss import (
    HARM,
    LossRow,
    arrange_losses,
    level_title,
    level_words,
    loss_columns,
    loss_rows,
    noise_words,
)
from tuibench.insight.loss_sentence import loss_notes, loss_sentences, sensitivities
from tuibench.insight.loss_summary import PARAMETERS, loss_types, summarize_loss, told_level
from tuibench.tui.glyph import Glyphs
from tuibench.tui.screens.detail_fact import Fact
from tuibench.tui.screens.profile_book import Book, Depth, Summed
from tuibench.tui.screens.profile_book_layers import LayerTable
from tuibench.tui.screens.profile_depth_values import over_depth
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
