"""Shares of the time of a model: what every bar, bound and sentence counts with."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from tuibench.core.cell import Estimate
from tuibench.core.profile import INT8, LAYER, RESIDUAL, UNMAPPED, LayerTime, PerformanceProfile, WhatIf
from tuibench.core.units import percent

HEAVY = 0.1
"""Layers above this share of the time are marked."""
_MUCH_UNTOLD = 0.05
"""Of the time: where so much may be any layer's, none is known to take at most what was seen of it."""


def time_of(layer: LayerTime) -> float:
    """Milliseconds of a row; nothing for what costs no time, and a residual below zero takes none away."""
    value = layer.ms.value
    return value if value is not None and math.isfinite(value) and value > 0 else 0.0


def total_ms(profile: PerformanceProfile) -> float:
    """Of all rows: what shares are shares of, so that they add up to one."""
    return math.fsum(time_of(layer) for layer in profile.layers)


def untold_share(profile: PerformanceProfile) -> float:
    """Share of the time of all rows that is in no row of a layer or of known work of the engine."""
    total = total_ms(profile)
    untold = [layer for layer in profile.layers if layer.kind == RESIDUAL or layer.op == UNMAPPED]
    return math.fsum(map(time_of, untold)) / total if total else 0.0


def untold_words(profile: PerformanceProfile) -> str:
    """Why no bound follows from what layers take, where too much of the time was not told apart; else ''."""
    share = untold_share(profile)
    if share < _MUCH_UNTOLD or profile.below_resolution:
        return ""
    return f"{percent(share)} was not told apart: it may be any layer's, so there is no bound"


def by_operator(layers: Iterable[LayerTime]) -> dict[str, tuple[LayerTime, ...]]:
    """The rows of each operator that take time, the heaviest operator first."""
    groups: dict[str, list[LayerTime]] = {}
    for layer in layers:
        if layer.ms.value is not None:
            groups.setdefault(layer.op, []).append(layer)
    ordered = sorted(groups.items(), key=lambda item: -math.fsum(map(time_of, item[1])))
    return {op: tuple(found) for op, found in ordered}


def int8_of(layer: LayerTime) -> WhatIf | None:
    """What was found of a layer in INT8; None where nobody asked."""
    return next((form for form in layer.what_if if form.form == INT8), None)


def int8_ratio(layer: LayerTime) -> Estimate | None:
    """Its time in INT8 / its time as it is, where that was measured."""
    form = int8_of(layer)
    value = form.ratio.value if form is not None else None
    return form.ratio if form is not None and value is not None and math.isfinite(value) and value > 0 else None


def is_product(layer: LayerTime) -> bool:
    """Whether it multiplies matrices: what a smaller number format or fewer weights could make faster at all.

    Of what nobody knows, it may: no bound must leave it out.
    """
    return layer.kind == LAYER and layer.macs != 0


@dataclass(frozen=True, slots=True)
class Work:
    """What the whole model does, and how near to what the machine was seen to deliver."""

    flops: int
    """Of all rows of which it is known."""
    unknown: int
    """Rows of which it is not."""
    gflops: float | None
    """Per second, in 10⁹."""
    roof_ms: float | None
    """The least time that the roofs allow, of the rows that have one."""
    roof_share: float | None
    """That / the time of the same rows."""


def work_of(profile: PerformanceProfile) -> Work:
    """Over all layers; rows without a roof count on neither side of `roof_share`."""
    layers = [layer for layer in profile.layers if layer.kind == LAYER]
    flops = sum(layer.flops or 0 for layer in layers)
    roofed = [(layer.roof_ms, time_of(layer)) for layer in layers if layer.roof_ms is not None and time_of(layer)]
    # A layer that beats its roof, from a cache that the roof does not know, makes up for no other.
    roof_ms = math.fsum(map(min, roofed)) if roofed else None
    time_ms = math.fsum(time for _, time in roofed)
    value = profile.ms.value
    return Work(
        flops=flops,
        unknown=sum(layer.flops is None for layer in layers),
        gflops=flops / value / 1e6 if flops and value else None,
        roof_ms=roof_ms,
        roof_share=roof_ms / time_ms if roof_ms is not None and time_ms and not profile.below_resolution else None,
    )
