"""A loss profile as text: the sensitivity of outputs to changes of each layer; proxies are marked."""

from __future__ import annotations

from collections.abc import Iterator

from tuibench.core.profile import LossProfile
from tuibench.core.spec import APPROXIMATED
from tuibench.core.text import show
from tuibench.core.units import scaled, short
from tuibench.present.profile.loss import (
    HARM,
    UNCHANGED,
    loss_columns,
    loss_notes,
    loss_sentences,
    narrow_of,
    summarize_loss,
    told_level,
)
from tuibench.present.profile.rows import (
    ProfileHeading,
    capital,
    cut,
    detail_lines,
    finished,
    heading_lines,
    layer_table,
    left_out,
    loss_details,
    nothing_words,
    results_title,
    shown_losses,
    summed_lines,
    wrapped,
)
from tuibench.present.profile.shown import Shown
from tuibench.present.profile.summary import VALUES


def loss_lines(loss: LossProfile, heading: ProfileHeading, shown: Shown | None = None) -> list[str]:
    """Return all sections of a loss profile, or the details of one layer."""
    shown = shown or Shown()
    title = "Loss profile" + (
        " (approximated: a proxy, nothing was run)" if loss.kind == APPROXIMATED else " (measured)"
    )
    if shown.layer:
        return [title, *detail_lines(loss_details(loss, shown), heading, shown)]
    said = [*model_lines(loss), *map(capital, loss_sentences(loss))]
    lines = [title, *heading_lines(heading), *(line for each in said for line in wrapped(each, shown.width)), ""]
    if not loss.layers:
        return finished(lines[:-1], shown.ascii_only)
    kind = shown.summary or told_level(loss)
    if kind:
        lines += [*summed_lines(summarize_loss(loss, kind, shown.display or VALUES), shown), ""]
    rows = shown_losses(loss, shown)
    kept = cut(rows, shown)
    table = layer_table(loss_columns(loss), kept, shown.width, narrow_of(loss)) if kept else [nothing_words(shown)]
    lines += [results_title(shown), *table]
    lines += [*left_out(len(kept), len(rows), "--top N"), *wrapped(legend(loss), shown.width)]
    return finished(lines, shown.ascii_only)


def model_lines(loss: LossProfile) -> Iterator[str]:
    """Yield the data of the measurement, and the distance of the changed form from the original model."""
    if loss.kind != APPROXIMATED:
        yield f"Data: {show(loss.data, 500)}"
        yield f"Outputs: {'look like classes: KL and top-1, too' if loss.classes else 'do not look like classes'}"
        if loss.float32_db is not None:
            yield f"Weights as inputs, unchanged: {short(loss.float32_db)} dB from the model as it runs"
    layers = len(loss.layers)
    yield f"Layers: {layers} with weights, {scaled(sum(layer.parameters for layer in loss.layers))} parameters"
    yield from (f"Note: {note}" for note in loss_notes(loss))


def legend(loss: LossProfile) -> str:
    """Return the meaning of the levels' figures."""
    proxy = loss.kind == APPROXIMATED
    of = "of the weights against themselves changed (proxy)" if proxy else "of the outputs"
    harm = "" if proxy else f"; {HARM}: worse than any dB"
    told = f"less is worse, 20 dB is 10 % of noise; {UNCHANGED}: nothing changed{harm}"
    return f"dB: SQNR {of}, one layer changed at a time; {told}"
