"""One loss profile out of what the weights tell and what was measured of each layer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from tuibench.core.profile import LEVELS, LayerLoss, LossPoint, LossProfile

APPROXIMATED, MEASURED = "approximated", "measured"


def assemble_loss(
    weights: Sequence[LayerLoss], points: Mapping[tuple[str, str], LossPoint], told: Mapping[str, Any]
) -> LossProfile:
    """Layers with their points by (layer, level); without points it is approximated.

    `told` is what the measuring child said at its beginning and at its end; one that was stopped said no end.
    """
    levels = _levels(weights, points)
    rank = {level: at for at, level in enumerate(levels)}
    found: dict[str, list[LossPoint]] = {}
    for (layer, _), point in points.items():
        found.setdefault(layer, []).append(point)
    known = {layer.id for layer in weights}
    strangers = [LayerLoss(name, "", "", "", (), 0, 0) for name in found if name not in known]
    layers = [
        replace(layer, points=tuple(sorted(found.get(layer.id, ()), key=lambda point: rank[point.level])))
        for layer in (*weights, *strangers)
    ]
    decibel = told.get("float32_db")
    return LossProfile(
        kind=MEASURED if points else APPROXIMATED,
        data=str(told.get("data") or "") if points else "",
        levels=levels,
        layers=tuple(layers),
        samples=max((point.samples for point in points.values()), default=0),
        classes=bool(told.get("classes")),
        float32_db=float(decibel) if decibel is not None else None,
        complete=bool(told.get("complete", False)) if points else True,
        notes=tuple(str(note) for note in told.get("notes") or ()),
    )


def _levels(weights: Sequence[LayerLoss], points: Mapping[tuple[str, str], LossPoint]) -> tuple[str, ...]:
    """Those that anything is known of, the usual ones in their usual order."""
    seen = dict.fromkeys([level for _, level in points] if points else _proxies(weights))
    return (*(level for level in LEVELS if level in seen), *(level for level in seen if level not in LEVELS))


def _proxies(weights: Sequence[LayerLoss]) -> list[str]:
    return [level for layer in weights for level in layer.weight_sqnr_db]
