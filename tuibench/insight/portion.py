"""Shares of a model's time, for bars, bounds and sentences."""

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
"""Unattributed share of the time from which no bound is given: any layer may take that time."""


def time_of(layer: LayerTime) -> float:
    """Return the milliseconds of a row; 0 for a row without time or a negative residual."""
    value = layer.ms.value
    return value if value is not None and math.isfinite(value) and value > 0 else 0.0


def total_ms(profile: PerformanceProfile) -> float:
    """Return the time of all rows, the base of shares."""
    return math.fsum(time_of(layer) for layer in profile.layers)


def untold_share(profile: PerformanceProfile) -> float:
    """Return the share of the time that is in no layer and in no known work of the engine."""
    total = total_ms(profile)
    untold = [layer for layer in profile.layers if layer.kind == RESIDUAL or layer.op == UNMAPPED]
    return math.fsum(map(time_of, untold)) / total if total else 0.0


def untold_words(profile: PerformanceProfile) -> str:
    """Return why there is no bound if too much time is unattributed; else ''."""
    share = untold_share(profile)
    if share < _MUCH_UNTOLD or profile.below_resolution:
        return ""
    return f"{percent(share)} was not told apart: it may be any layer's, so there is no bound"


def by_operator(layers: Iterable[LayerTime]) -> dict[str, tuple[LayerTime, ...]]:
    """Return the timed rows of each operator, the heaviest operator first."""
    groups: dict[str, list[LayerTime]] = {}
    for layer in layers:
        if layer.ms.value is not None:
            groups.setdefault(layer.op, []).append(layer)
    ordered = sorted(groups.items(), key=lambda item: -math.fsum(map(time_of, item[1])))
    return {op: tuple(found) for op, found in ordered}


def int8_of(layer: LayerTime) -> WhatIf | None:
    """Return the INT8 measurement of a layer; None if it was not requested."""
    return next((form for form in layer.what_if if form.form == INT8), None)


def int8_ratio(layer: LayerTime) -> Estimate | None:
    """Return its time in INT8 / its time as it is; None if that was not measured."""
    form = int8_of(layer)
    value = form.ratio.value if form is not None else None
    return form.ratio if form is not None and value is not None and math.isfinite(value) and value > 0 else None


def is_product(layer: LayerTime) -> bool:
    """Return whether a layer multiplies matrices, so that smaller number formats or fewer weights could help.

    A layer with unknown operations counts: a bound must include it.
    """
    return layer.kind == LAYER and layer.macs != 0


@dataclass(frozen=True, slots=True)
class Work:
    """Operations of the whole model, and its time compared with the measured roofs."""

    flops: int
    """Sum of the rows with known operations."""
    unknown: int
    """Number of rows with unknown operations."""
    gflops: float | None
    """Operations per second, in 10⁹."""
    roof_ms: float | None
    """Least time by the roofs, for the rows that have one."""
    roof_share: float | None
    """`roof_ms` / the time of the same rows."""


def work_of(profile: PerformanceProfile) -> Work:
    """Return the work of all layers; `roof_share` ignores rows without a roof."""
    layers = [layer for layer in profile.layers if layer.kind == LAYER]
    flops = sum(layer.flops or 0 for layer in layers)
    roofed = [(layer.roof_ms, time_of(layer)) for layer in layers if layer.roof_ms is not None and time_of(layer)]
    # A layer that beats its roof, from an unknown cache, does not compensate for others.
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
