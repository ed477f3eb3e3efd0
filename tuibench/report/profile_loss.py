"""A loss profile as text: how sensitive outputs are to changing each layer, a proxy being called one."""

from __future__ import annotations

from collections.abc import Iterator

from tuibench.core.profile import INT8, LossProfile
from tuibench.core.text import show
from tuibench.core.units import count_of, scaled, short
from tuibench.insight.bar import VALUES
from tuibench.insight.loss import APPROXIMATED, loss_columns, loss_sentences, narrow_of
from tuibench.insight.loss_summary import summarize_loss
from tuibench.report.profile_heading import ProfileHeading, heading_lines
from tuibench.report.profile_rows import cut, loss_details, shown_losses
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


def loss_lines(loss: LossProfile, heading: ProfileHeading, shown: Shown | None = None) -> list[str]:
    """All sections of a loss profile, or one layer."""
    shown = shown or Shown()
    title = "Loss profile" + (
        " (approximated: a proxy, nothing was run)" if loss.kind == APPROXIMATED else " (measured)"
    )
    if shown.layer:
        return [title, *detail_lines(loss_details(loss, shown), heading, shown)]
    said = [*model_lines(loss), *map(capital, loss_sentences(loss))]
    lines = [title, *heading_lines(heading), *(line for each in said for line in wrapped(each, shown.width)), ""]
    kind = shown.summary or usual_level(loss)
    if kind:
        lines += [*summed_lines(summarize_loss(loss, kind, shown.display or VALUES), shown), ""]
    rows = shown_losses(loss, shown)
    kept = cut(rows, shown)
    table = layer_table(loss_columns(loss), kept, shown.width, narrow_of(loss)) if kept else [nothing_words(shown)]
    lines += [results_title(shown), *table]
    lines += [*left_out(len(kept), len(rows), "--top N"), *wrapped(_legend(loss), shown.width)]
    return finished(lines, shown.ascii_only)


def usual_level(loss: LossProfile) -> str:
    """What bars show where nobody has chosen; '' where there is no level."""
    return INT8 if INT8 in loss.levels else next(iter(loss.levels), "")


def model_lines(loss: LossProfile) -> Iterator[str]:
    """What it was measured on, and how far the form in which layers are changed is from the model."""
    if loss.kind != APPROXIMATED:
        yield f"Data: {show(loss.data, 500)}, {count_of(loss.samples, 'sample')} for each layer and level"
        yield f"Outputs: {'look like classes: KL and top-1, too' if loss.classes else 'do not look like classes'}"
        if loss.float32_db is not None:
            yield f"Form in which layers are changed: {short(loss.float32_db)} dB from the model as it runs"
    layers = len(loss.layers)
    yield f"Layers: {layers} with weights, {scaled(sum(layer.parameters for layer in loss.layers))} parameters"
    yield from (f"Note: {show(note, 500)}" for note in loss.notes)


def _legend(loss: LossProfile) -> str:
    of = "of the weights against themselves changed (proxy)" if loss.kind == APPROXIMATED else "of the outputs"
    return f"dB: SQNR {of}, one layer changed at a time; less is worse, 20 dB is 10 % of noise; same: nothing changed"
