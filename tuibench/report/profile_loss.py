"""A loss profile as text: how sensitive outputs are to changing each layer, a proxy being called one."""

from __future__ import annotations

from collections.abc import Iterator

from tuibench.core.profile import LossProfile
from tuibench.core.text import show
from tuibench.core.units import scaled, short
from tuibench.insight.loss import APPROXIMATED, HARM, UNCHANGED, arrange_losses, loss_columns, loss_rows, narrow_of
from tuibench.insight.loss_sentence import loss_notes, loss_sentences
from tuibench.insight.loss_summary import summarize_loss, told_level
from tuibench.report.profile_heading import ProfileHeading, heading_lines
from tuibench.report.profile_table import (
    TOP,
    WIDTH,
    bar_lines,
    capital,
    finished,
    layer_table,
    left_out,
    wrapped,
)


def loss_lines(
    loss: LossProfile,
    heading: ProfileHeading,
    *,
    width: int = WIDTH,
    ascii_only: bool = False,
    sort: str = "worst",
    reverse: bool = False,
    text: str = "",
    top: int | None = TOP,
) -> list[str]:
    """All sections of a loss profile; `top` None shows every row."""
    title = "Loss profile" + (
        " (approximated: a proxy, nothing was run)" if loss.kind == APPROXIMATED else " (measured)"
    )
    said = [*model_lines(loss), *map(capital, loss_sentences(loss))]
    lines = [title, *heading_lines(heading), *(line for each in said for line in wrapped(each, width)), ""]
    if not loss.layers:
        return finished(lines[:-1], ascii_only)
    level = told_level(loss)
    if level:
        shown = summarize_loss(loss, level)
        bars = [(bar.label, bar.length, bar.text) for bar in shown.bars]
        lines += [f"{shown.title}:", *bar_lines(bars, width, ascii_only), *wrapped("; ".join(shown.words), width), ""]
    columns = loss_columns(loss)
    rows = arrange_losses(loss_rows(loss), columns, sort, reverse, text)
    kept = rows if top is None else rows[: max(top, 0)]
    lines += ["Layer results", *(layer_table(columns, kept, width, narrow_of(loss)) if kept else ["No layer to show"])]
    lines += [*left_out(len(kept), len(rows), "--top N"), *wrapped(legend(loss), width)]
    return finished(lines, ascii_only)


def model_lines(loss: LossProfile) -> Iterator[str]:
    """What it was measured on, and how far the form in which layers are changed is from the model."""
    if loss.kind != APPROXIMATED:
        yield f"Data: {show(loss.data, 500)}"
        yield f"Outputs: {'look like classes: KL and top-1, too' if loss.classes else 'do not look like classes'}"
        if loss.float32_db is not None:
            yield f"Weights as inputs, unchanged: {short(loss.float32_db)} dB from the model as it runs"
    layers = len(loss.layers)
    yield f"Layers: {layers} with weights, {scaled(sum(layer.parameters for layer in loss.layers))} parameters"
    yield from (f"Note: {note}" for note in loss_notes(loss))


def legend(loss: LossProfile) -> str:
    """What the figures of the levels are."""
    proxy = loss.kind == APPROXIMATED
    of = "of the weights against themselves changed (proxy)" if proxy else "of the outputs"
    harm = "" if proxy else f"; {HARM}: worse than any dB"
    told = f"less is worse, 20 dB is 10 % of noise; {UNCHANGED}: nothing changed{harm}"
    return f"dB: SQNR {of}, one layer changed at a time; {told}"
