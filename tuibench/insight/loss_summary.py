"""Bars per operator type of a loss profile: how sensitive its layers are at one level, and where parameters are."""

from __future__ import annotations

import math

from tuibench.core.profile import LayerLoss, LossProfile
from tuibench.core.units import percent, scaled
from tuibench.insight.bar import VALUES, Amount, Summary, make_bars
from tuibench.insight.loss import APPROXIMATED, level_words, noise_of

PARAMETERS = "params"


def loss_types(loss: LossProfile) -> tuple[str, ...]:
    """What the bars can show, in the order in which a key goes through them."""
    return (*loss.levels, PARAMETERS)


def summarize_loss(loss: LossProfile, kind: str, display: str = VALUES) -> Summary:
    """The bars of one level, or of parameters."""
    groups: dict[str, list[LayerLoss]] = {}
    for layer in loss.layers:
        groups.setdefault(layer.op, []).append(layer)
    if kind == PARAMETERS:
        counts = [Amount(op, sum(one.parameters for one in layers), len(layers)) for op, layers in groups.items()]
        return Summary(kind, display, "Params by operator", make_bars(counts, display, scaled), ())
    amounts = []
    for op, layers in groups.items():
        known = [value for layer in layers if (value := noise_of(loss, layer, kind)) is not None]
        mean = math.fsum(known) / len(known) if known else None
        note = f"{len(known)} of {len(layers)} layers" if 0 < len(known) < len(layers) else ""
        amounts.append(Amount(op, mean, len(layers), note=note))
    of = "weights, a proxy" if loss.kind == APPROXIMATED else "outputs"
    words = (f"mean over the layers of noise / signal of the {of}, one layer changed at a time",)
    title = f"Sensitivity by operator, {level_words(kind)}"
    return Summary(kind, display, title, make_bars(amounts, display, percent), words)
