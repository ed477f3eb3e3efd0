"""Facts derived from a profile: shares of a model's time, bounds, and losses put together from their parts."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from tuibench.core.cell import Estimate, Grade
from tuibench.core.profile import (
    ALREADY_INT8,
    INT8,
    LAYER,
    LEVELS,
    NOT_RUN,
    RECURRENT,
    RESIDUAL,
    UNMAPPED,
    CostProfile,
    LayerLoss,
    LayerTime,
    LossPoint,
    LossProfile,
    PerformanceProfile,
    Roofline,
    WhatIf,
)
from tuibench.core.reason import DONE_BEFORE, LIGHTER_BRANCH, Reason, because
from tuibench.core.text import show
from tuibench.core.units import percent
from tuibench.core.value import dataclass

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
    return f"{percent(share)} of the time is in no layer, so there is no bound"


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


MOST_UNATTRIBUTED = 0.1
"""Highest trusted share of the time that is in no layer's row."""
MOST_OF_PEAK = 1.5
"""Highest trusted rate of a row, as a multiple of the measured peak; padding taps count as work up to about this."""


def find_withheld(profile: PerformanceProfile) -> Reason | None:
    """Return the reason to show neither INT8 estimates nor shares of the roofs.

    Return None if the stored rows can be trusted, or if no times are shown anyway.
    """
    if profile.below_resolution:
        return None
    share = untold_share(profile)
    if share > MOST_UNATTRIBUTED:
        return because("unattributed", share=share, limit=MOST_UNATTRIBUTED)
    fastest = max(_multiples(profile), key=lambda found: found[0], default=None)
    if fastest is None or fastest[0] <= MOST_OF_PEAK:
        return None
    multiple, layer, rate = fastest
    return because("above_peak", op=layer.op, gflops=rate, multiple=multiple, limit=MOST_OF_PEAK)


def withhold(profile: PerformanceProfile, reason: Reason) -> PerformanceProfile:
    """Return the profile without roofs of rows and INT8 ratios, with the reason in their place."""
    return replace(profile, layers=tuple(_without(layer, reason) for layer in profile.layers))


def _multiples(profile: PerformanceProfile) -> Iterator[tuple[float, LayerTime, float]]:
    """Yield each row's rate as a multiple of its peak, with the row and the rate."""
    for layer in profile.layers:
        time_ms, peak = time_of(layer), _peak(profile.roofline, layer)
        if layer.flops and time_ms and peak:
            rate = layer.flops / time_ms / 1e6
            yield rate / peak, layer, rate


def _peak(roofline: Roofline | None, layer: LayerTime) -> float | None:
    if roofline is None:
        return None
    return roofline.int8_gops if layer.integer else roofline.f32_gflops


def _without(layer: LayerTime, reason: Reason) -> LayerTime:
    nothing = Estimate(None, reason=reason)
    forms = tuple(replace(form, ratio=nothing, reason=reason, around=None) for form in layer.what_if)
    why = layer.roof_reason if layer.roof_ms is None else reason
    return replace(layer, what_if=forms, roof_ms=None, roof="", roof_reason=why)


F32, _ROOF_INT8, DRAM, CACHE = "f32", "int8", "DRAM", "cache"
"""Names of the roofs that can bind a layer."""
_QUIET = ("A", "B")


def least_ms(
    flops: float | None, bytes_moved: float | None, integer: bool, roofline: Roofline, precision: str = ""
) -> tuple[float | None, str, Reason | None]:
    """Return the longer of the least times for operations and for bytes, its roof, and the reason for no time.

    There is no time if either is unknown: the other one would wrongly be called the bound.
    """
    peak = roofline.int8_gops if integer else roofline.f32_gflops
    bandwidth, level = bandwidth_for(bytes_moved or 0, roofline)
    if flops is None or bytes_moved is None:
        return None, "", Reason("work_unknown")
    if precision and flops:
        return None, "", because("no_peak_of_precision", precision=precision)
    missing = [_ROOF_INT8 if integer else F32] if flops and not peak else []
    missing += [level] if bytes_moved and not bandwidth else []
    if missing:
        return None, "", because("roofs_not_measured", names=missing)
    computing = flops / peak / 1e6 if peak else 0.0
    moving = bytes_moved / bandwidth / 1e6 if bandwidth else 0.0
    value, roof = max((computing, _ROOF_INT8 if integer else F32), (moving, level))
    return (value, roof, None) if value > 0 else (None, "", None)


def bandwidth_for(bytes_moved: float, roofline: Roofline) -> tuple[float | None, str]:
    """Return GB/s and the level of the smallest memory that a layer's tensors fit into."""
    for held, gb_s in roofline.cache_gb_s:
        if bytes_moved <= held:
            return gb_s, CACHE
    return roofline.dram_gb_s, DRAM


def is_disturbed(grade: Grade) -> bool:
    """Return whether a measurement was too disturbed to be compared with later ones."""
    return grade.letter not in _QUIET


APPROXIMATED, MEASURED = "approximated", "measured"

MADE_UP = ", which need not rank the layers as real data would"
"""Ending of the description of synthetic data."""
WORST = 10
"""Number of layers that a budget measures at every level."""
_SLOWER = 1.5
"""Slowdown of a model whose weights are inputs; 1.1 to 1.5 was measured."""
_GUESSED = (LIGHTER_BRANCH, DONE_BEFORE)
"""Codes of reasons for a node's count of zero that no run has confirmed."""
_PROXIES = Reason("from_weights_alone")
_WEIGHTS_ONLY = Reason("rounds_weights_only")


@dataclass(frozen=True, slots=True)
class LossFacts:
    """Facts that apply to a whole loss profile."""

    data: str = ""
    """Description of the input data, see `describe_data`; '' for an approximated profile."""
    levels: tuple[str, ...] = LEVELS
    samples: int = 0
    classes: bool = False
    float32_db: float | None = None
    notes: tuple[Reason, ...] = ()
    budget: bool = False
    """True if only the worst layers were measured at more than the first level."""
    worst: tuple[str, ...] = ()
    """Layers that a budget measured at all levels."""
    idle: frozenset[str] = frozenset()
    """Layers whose nodes did not run, see `find_idle`."""
    data_sha256: str = ""
    """Checksum of the data file; '' for synthetic data."""


def assemble_loss(
    weights: Sequence[LayerLoss], points: Iterable[tuple[str, LossPoint]] | None, facts: LossFacts
) -> LossProfile:
    """Return every layer with its proxies and measurements; without points, an approximated profile.

    Points come in the order of measurement: the last one of a layer and level counts.
    """
    if points is None:
        notes = _once((_PROXIES, _WEIGHTS_ONLY, *facts.notes))
        return LossProfile(APPROXIMATED, "", facts.levels, tuple(weights), notes=notes)
    found: dict[str, dict[str, LossPoint]] = {}
    for node, point in points:
        found.setdefault(node, {})[point.level] = point
    layers = tuple(
        replace(layer, points=_seen(_ordered(found.get(layer.id, {}), facts.levels), layer.id in facts.idle))
        for layer in weights
    )
    return LossProfile(
        MEASURED,
        facts.data,
        facts.levels,
        layers,
        samples=facts.samples,
        classes=facts.classes,
        float32_db=facts.float32_db,
        complete=all(_is_complete(layer, facts) for layer in layers),
        notes=_once((_WEIGHTS_ONLY, *facts.notes)),
        data_sha256=facts.data_sha256,
    )


def find_idle(costs: CostProfile | None) -> frozenset[str]:
    """Return the nodes that are known not to have run."""
    nodes = costs.nodes if costs is not None else ()
    idle = (node for node in nodes if node.times == 0)
    return frozenset(node.id for node in idle if node.why is None or node.why.code not in _GUESSED)


def worst_layers(points: Iterable[tuple[str, LossPoint]], n: int = WORST) -> tuple[str, ...]:
    """Return the ids of the `n` layers whose change harms the outputs most, worst first, each by its worst point.

    A change that left no comparable outputs is worse than any noise. A change that changed nothing does not count.
    """
    worst: dict[str, float] = {}
    for node, point in points:
        kept_db = -math.inf if point.harm else point.sqnr_db
        if kept_db is not None:
            worst[node] = min(worst.get(node, math.inf), kept_db)
    return tuple(sorted(worst, key=worst.__getitem__)[: max(n, 0)])


def first_points(points: Iterable[tuple[str, LossPoint]], levels: Sequence[str]) -> list[tuple[str, LossPoint]]:
    """Return the points by which a budget finds the worst layers.

    Each layer counts at the first level, or at the second if its weights already have the form of the first.
    """
    known = {(node, point.level): point for node, point in points}
    first, second = levels[0], levels[1] if len(levels) > 1 else levels[0]
    found = []
    for (node, level), point in known.items():
        if level == first:
            at = second if point.reason == ALREADY_INT8 else first
            found += [(node, known[node, at])] if (node, at) in known else []
    return found


def count_layers(costs: CostProfile) -> int:
    """Return the number of layers that a loss profile changes; nodes that share a weight count once.

    Zero does not prove that there are none: nodes that depend on constants alone cost nothing, but can be changed.
    """
    return len({node.weight for node in costs.nodes if node.weight and node.macs != 0 and node.op not in RECURRENT})


def count_points(layers: int, levels: int, budget: bool = False, worst: int = WORST) -> int:
    """Return the number of points; a budget has one level for all layers and the others for the worst."""
    if not budget or not levels:
        return layers * levels
    return layers + (levels - 1) * min(layers, worst)


def estimate_s(points: int, samples: int, latency_ms: float) -> float:
    """Return the expected seconds for a number of points of a model with that latency."""
    return points * samples * latency_ms * _SLOWER / 1000


def describe_data(samples: int, seed: int, file: str | None = None) -> str:
    """Describe the data of a profile; synthetic data is never described as the user's."""
    count = f"{samples} {'sample' if samples == 1 else 'samples'}"
    if file is not None:
        return f"{count} from {show(file, 80)}"
    return f"{count} of synthetic data (seed {seed}){MADE_UP}"


def _ordered(points: dict[str, LossPoint], levels: Sequence[str]) -> tuple[LossPoint, ...]:
    return tuple(points[level] for level in levels if level in points)


def _seen(points: tuple[LossPoint, ...], is_idle: bool) -> tuple[LossPoint, ...]:
    """Replace points that changed nothing because the layer never ran; any change proves that it ran."""
    if not is_idle or any(point.harm or point.sqnr_db is not None for point in points):
        return points
    return tuple(point if point.reason else LossPoint(point.level, None, None, reason=NOT_RUN) for point in points)


def _is_complete(layer: LayerLoss, facts: LossFacts) -> bool:
    if layer.reason:
        return True
    wanted = facts.levels
    if facts.budget and layer.id not in facts.worst:
        is_made = any(point.level == wanted[0] and point.reason == ALREADY_INT8 for point in layer.points)
        wanted = wanted[: 2 if is_made else 1]
    return {point.level for point in layer.points} >= set(wanted)


def _once(notes: Iterable[Reason]) -> tuple[Reason, ...]:
    return tuple(dict.fromkeys(notes))
