"""Assembly of a loss profile from the workers' results, and choice of the worst layers."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from tuibench.core.profile import (
    ALREADY_INT8,
    DONE_BEFORE,
    LEVELS,
    LIGHTER_BRANCH,
    NOT_RUN,
    RECURRENT,
    CostProfile,
    LayerLoss,
    LossPoint,
    LossProfile,
)
from tuibench.core.text import show

APPROXIMATED, MEASURED = "approximated", "measured"

MADE_UP = ", which need not rank the layers as real data would"
"""Ending of the description of synthetic data."""
WORST = 10
"""Number of layers that a budget measures at every level."""
_SLOWER = 1.5
"""Slowdown of a model whose weights are inputs; 1.1 to 1.5 was measured."""
_GUESSED = (LIGHTER_BRANCH, DONE_BEFORE)
"""Reasons for a node's count of zero that no run has confirmed."""
_PROXIES = "from the weights alone: proxies, which need not rank the layers as a measurement would"
_WEIGHTS_ONLY = "int8 rounds the weights of one layer, symmetric per output channel; activations stay as they are"


@dataclass(frozen=True, slots=True)
class LossFacts:
    """Facts that apply to a whole loss profile."""

    data: str = ""
    """Description of the input data, see `describe_data`; '' for an approximated profile."""
    levels: tuple[str, ...] = LEVELS
    samples: int = 0
    classes: bool = False
    float32_db: float | None = None
    notes: tuple[str, ...] = ()
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
    return frozenset(node.id for node in nodes if node.times == 0 and node.why not in _GUESSED)


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


def _once(notes: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(notes))
