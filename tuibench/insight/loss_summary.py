"""Bars per operator type of a loss profile: sensitivity at one level, or parameters."""

from __future__ import annotations

import math
from collections.abc import Sequence

from tuibench.core.profile import INT8, LayerLoss, LossProfile
from tuibench.core.profile_spec import APPROXIMATED
from tuibench.core.units import count_of, percent, scaled
from tuibench.insight.bar import SHARES, VALUES, Amount, Summary, make_bars
from tuibench.insight.loss import HARM, level_words, noise_of

PARAMETERS = "params"


def loss_types(loss: LossProfile) -> tuple[str, ...]:
    """Return the types of bars, in the order in which a key cycles through them."""
    return (*loss.levels, PARAMETERS)


def told_level(loss: LossProfile) -> str:
    """Return the level for a page with space for one: INT8, else the first with a known value; '' without levels."""
    order = sorted(loss.levels, key=lambda level: level != INT8)
    known = (level for level in order if any(noise_of(loss, layer, level) is not None for layer in loss.layers))
    return next(known, next(iter(order), ""))


def summarize_loss(loss: LossProfile, kind: str, display: str = VALUES) -> Summary:
    """Return the bars of one level, or of parameters."""
    groups: dict[str, list[LayerLoss]] = {}
    for layer in loss.layers:
        groups.setdefault(layer.op, []).append(layer)
    if kind == PARAMETERS:
        counts = [Amount(op, sum(one.parameters for one in layers), len(layers)) for op, layers in groups.items()]
        return Summary(kind, display, "Params by operator", make_bars(counts, display, scaled), ())
    amounts = [_amount(loss, op, layers, kind, display) for op, layers in groups.items()]
    of = "weights, a proxy" if loss.kind == APPROXIMATED else "outputs"
    # Only powers add up, so only they have shares.
    what = "summed noise power" if display == SHARES else "mean noise / signal"
    words = (f"{what} of the {of}, one layer changed at a time",)
    title = f"Sensitivity by operator, {level_words(kind)}"
    return Summary(kind, display, title, make_bars(amounts, display, percent), words)


def _amount(loss: LossProfile, op: str, layers: Sequence[LayerLoss], level: str, display: str) -> Amount:
    noise = [noise_of(loss, layer, level) for layer in layers]
    known = [value for value in noise if value is not None and value < math.inf]
    harmed = noise.count(math.inf)
    value = math.fsum(one * one for one in known) if display == SHARES else math.fsum(known) / max(len(known), 1)
    told = [f"{HARM} with {harmed}"] if harmed else []
    told += [f"{len(known)} of {count_of(len(layers), 'layer')}"] if len(known) < len(layers) and known else []
    return Amount(op, value if known else None, len(layers), note=", ".join(told), is_ahead=harmed > 0)
