"""The loss profile: the sensitivity of outputs to changes of each layer; proxies are marked."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence

from tuibench.core.profile import PRUNED_LEVELS, LossProfile
from tuibench.core.spec import APPROXIMATED
from tuibench.core.text import show
from tuibench.core.units import count_of, percent, scaled, short
from tuibench.present.csv_export import count, number, safe_text
from tuibench.present.plots.depth import Depth
from tuibench.present.plots.drawing import Span
from tuibench.present.profile.costs import parameter_words, shape_words
from tuibench.present.profile.loss import (
    HARM,
    PARAMETERS,
    UNCHANGED,
    LossRow,
    columns_at_width_80,
    decibels,
    default_level,
    full_level_name,
    loss_columns,
    loss_notes,
    loss_rows,
    loss_sentences,
    loss_types,
    noise_words,
    sensitivities,
    short_level_name,
    summarize_loss,
)  # fmt: skip
from tuibench.present.profile.summary import SHARES, Summary
from tuibench.present.profile.view import DOT, Fact, Pair, ProfileView, over_depth
from tuibench.present.reason import export_words, reason_words
from tuibench.present.table import MAX_CHARS, NONE

_SHARES = range(0, 101, 5)
"""Per cent of a layer's weights at which its curve of |w| / greatest has points."""
_PROXY = " (approximated: a proxy, nothing was run)"


class LossView(ProfileView[LossRow]):
    """A loss profile, measured or approximated."""

    is_ratio = True
    kinds_name, usual_sort = "level", "worst"
    csv_columns = (
        "number", "op", "node", "weight", "shape", "parameters", "zeros", "level", "weight_sqnr_db_proxy", "sqnr_db",
        "cosine", "kl", "top1", "samples", "id", "harm", "reason",
        *(f"weight_quantile_{share}" for share in _SHARES),
    )  # fmt: skip

    def __init__(self, loss: LossProfile) -> None:
        self.loss = loss
        super().__init__(loss_rows(loss), loss_columns(loss))
        self._is_proxy = loss.kind == APPROXIMATED
        self._proxy = " (proxy)" if self._is_proxy else ""
        self.title = self.detail_title = "Loss profile" + (_PROXY if self._is_proxy else " (measured)")
        self.markdown_title = "# Loss profile" + (_PROXY if self._is_proxy else "")
        self.kinds, self.usual, self.narrow = loss_types(loss), default_level(loss), columns_at_width_80(loss)
        self.unit = "dB (proxy)" if self._is_proxy else "dB SQNR"
        self.sorts = ("worst %", "#", "op", "weight", "params", *map(short_level_name, loss.levels))

    # Model

    def model_lines(self) -> Iterator[str]:
        """Yield the data, the distance of the changed form from the original, and the layers to leave alone."""
        loss = self.loss
        if not self._is_proxy:
            yield f"Data: {show(loss.data, 500)}"
            yield f"Outputs: {'look like classes: KL and top-1, too' if loss.classes else 'do not look like classes'}"
            if loss.float32_db is not None:
                yield f"Weights as inputs, unchanged: {short(loss.float32_db)} dB from the model as it runs"
        parameters = scaled(sum(layer.parameters for layer in loss.layers))
        yield f"Layers: {len(loss.layers)} with weights, {parameters} parameters"
        yield from (f"Note: {note}" for note in loss_notes(loss))
        yield from (f"{text[:1].upper()}{text[1:]}" for text in loss_sentences(loss))

    def facts(self) -> Iterator[Fact]:
        """Yield the data of the profile and the average sensitivity at each level."""
        loss = self.loss
        params, zeros = sum(layer.parameters for layer in loss.layers), sum(layer.zeros for layer in loss.layers)
        if self._is_proxy:
            yield "approximated", "from the weights alone: a proxy, nothing was run", "title"
        else:
            yield "measured", f"on {loss.data}", "title"
        share = f", {percent(zeros / params)} zeros" if params else ""
        yield "layers", f"{len(loss.layers)} with weights{DOT}{scaled(params)} parameters{share}", ""
        for each in sensitivities(loss):
            notes = [f"{HARM} with {count_of(len(each.broken), 'layer')}"] if each.broken else []
            if each.average is not None:
                over = count_of(each.layers, "layer")
                notes.append(f"average {percent(each.average)} noise{self._proxy} over {over}")
            yield each.level, "; ".join(notes) or "unknown", ""
        if loss.float32_db is not None:
            yield "floor", f"{short(loss.float32_db)} dB: the unchanged layers against the model as it is", ""
        if not loss.complete:
            yield "stopped", "before all layers were measured", "warn"
        yield from (("note", text, "") for text in loss_notes(loss))

    def said(self, kind: str) -> Sequence[str]:
        """Return the layers to leave unchanged at a level, with notes on a proxy or an incomplete measurement."""
        return [f"{text}." for text in loss_sentences(self.loss, kind)]

    def summarize(self, kind: str, display: str) -> Summary:
        """Return a bar for each operator."""
        return summarize_loss(self.loss, kind, display)

    # Layers

    def names(self, row: LossRow) -> Iterable[str]:
        """Return the id, the name and the weight of a layer."""
        return row.layer.id, row.layer.name, row.layer.weight

    def detail(self, row: LossRow, most: int | None = None) -> tuple[Pair, ...]:
        """Return all results of a layer."""
        return loss_detail(self.loss, row)

    def brief(self, row: LossRow) -> list[Span]:
        """Return the facts that have no column."""
        levels = DOT.join(f"{level} {noise_words(row.noise[level])}" for level in self.loss.levels)
        return [
            (f" {row.weight or row.layer.name or row.key}", "title"),
            (f" noise{self._proxy}: {levels}", "dim"),
            self.line_of(row, "name", "zeros", "reason"),
        ]

    def legend(self, rows: Sequence[LossRow]) -> Iterator[str]:
        """Yield the meaning of the levels' figures."""
        of = "of the weights against themselves changed (proxy)" if self._is_proxy else "of the outputs"
        harm = "" if self._is_proxy else f"; {HARM}: worse than any dB"
        meaning = f"less is worse, 20 dB is 10 % of noise; {UNCHANGED}: nothing changed{harm}"
        yield f"dB: SQNR {of}, one layer changed at a time; {meaning}"

    def csv_rows(self, row: LossRow) -> Iterator[tuple[str, ...]]:
        """Yield a layer's lines of the CSV, one per level."""
        layer = row.layer
        named = str(row.number), *map(safe_text, (layer.op, layer.name, layer.weight, shape_words(layer.shape)))
        curve = tuple(map(number, layer.quantiles)) if len(layer.quantiles) == len(_SHARES) else ("",) * len(_SHARES)
        for level in self.loss.levels:
            point = row.point(level)
            reasons = layer.reason, point.reason if point else None
            measured = (point.sqnr_db, point.cosine, point.kl, point.top1) if point else (None,) * 4
            yield (
                *named, str(layer.parameters), str(layer.zeros), safe_text(level),
                number(layer.weight_sqnr_db.get(level)), *map(number, measured),
                count(point.samples if point else None), safe_text(layer.id), "true" if point and point.harm else "",
                safe_text("; ".join(filter(None, map(export_words, reasons)))), *curve,
            )  # fmt: skip

    def depth(self, kind: str, display: str) -> Depth:
        """Return the values in the order of the model."""
        keys = [row.key for row in self.rows]
        if kind == PARAMETERS:
            return over_depth("parameters", keys, [row.layer.parameters for row in self.rows], scaled, display)
        noise = [row.noise.get(kind) for row in self.rows]
        harmed = {at: HARM for at, one in enumerate(noise) if one == math.inf}
        values = [None if one == math.inf else one for one in noise]
        if display == SHARES:
            # Only powers can be summed for shares, so square the amplitudes.
            values = [None if one is None else one * one for one in values]
        what = "noise power" if display == SHARES else "noise / signal"
        return over_depth(f"{what} at {kind}{self._proxy}", keys, values, percent, display, others=harmed)


_QUANTILES = (5, 25, 50, 75, 90, 95, 100)


def loss_detail(loss: LossProfile, row: LossRow) -> tuple[Pair, ...]:
    """Return the facts of one layer of a loss profile: the measured values of each level and its proxy."""
    layer = row.layer
    pairs = [
        ("operator", show(layer.op, MAX_CHARS)),
        ("node", show(layer.name, MAX_CHARS) or "without a name"),
        ("weight", show(layer.weight, MAX_CHARS)),
        ("shape", "x".join(map(str, layer.shape))),
        ("parameters", parameter_words(layer.parameters, layer.zeros)),
        ("|w| / greatest", _quantiles(layer.quantiles)),
        ("pruning", _pruned(loss.levels, layer.quantiles)),
        ("not known because", reason_words(layer.reason, MAX_CHARS)),
    ]
    pairs += [(full_level_name(level), _level(loss, row, level)) for level in loss.levels]
    return tuple(pair for pair in pairs if pair[1])


def _quantiles(quantiles: tuple[float, ...]) -> str:
    """Return the quantile curve of a layer's weights, in as many points as fit one line."""
    step = 100 / max(len(quantiles) - 1, 1)
    by_percent = {round(at * step): value for at, value in enumerate(quantiles)}
    return ", ".join(f"{share} % {short(by_percent[share])}" for share in _QUANTILES if share in by_percent)


def _pruned(levels: Sequence[str], quantiles: tuple[float, ...]) -> str:
    """Return the weight size up to which each pruning sets zeros, where the curve has that point."""
    places = {share: share * (len(quantiles) - 1) for share in PRUNED_LEVELS if f"pruned {share:g}" in levels}
    parts = [
        f"{percent(share)} up to {short(quantiles[round(place)])}" for share, place in places.items()
        if quantiles and abs(place - round(place)) < 1e-6
    ]  # fmt: skip
    return f"zeroes about {', '.join(parts)} of the greatest" if parts else ""


def _level(loss: LossProfile, row: LossRow, level: str) -> str:
    layer, point = row.layer, row.point(level)
    parts = []
    if level in layer.weight_sqnr_db:
        of_weights = layer.weight_sqnr_db[level]
        parts.append("weights unchanged" if of_weights is None else f"weights {of_weights:.1f} dB (proxy)")
    if loss.kind == APPROXIMATED:
        return ", ".join(parts) or (f"{NONE} ({reason_words(point.reason, 200)})" if point is not None else "")
    if point is None or point.reason:
        words = HARM if point is not None and point.harm else NONE
        reason = reason_words(point.reason, 200) if point is not None else "not measured"
        return ", ".join([f"outputs {words} ({reason})", *parts])
    found = [f"outputs {decibels(row.noise.get(level))}" + ("" if point.sqnr_db is None else " dB")]
    found += [f"cosine {point.cosine:.5f}"] if point.cosine is not None else []
    found += [f"KL {short(point.kl)}"] if point.kl is not None else []
    found += [f"same first class in {percent(point.top1)}"] if point.top1 is not None else []
    return ", ".join([*found, *parts])
