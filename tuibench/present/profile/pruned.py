"""Words on a model that was measured with zeros in its weights: in all of them, or in those of one part."""

from __future__ import annotations

from collections.abc import Sequence

from tuibench.core.profile import LayerTime, PerformanceProfile, PrunedPoint
from tuibench.core.text import show
from tuibench.core.units import ms, percent, seconds, short
from tuibench.present.reason import reason_words

_MAX_CHARS = 40
_NEAR = 0.1
"""Speedups nearer to 1 than this get two decimals: of 1.04 no more than 0.04 is gained."""


def gain_words(ratio: float | None) -> str:
    """Return a speedup with enough digits to differ from 1, at most three decimals."""
    if ratio is None:
        return "–"
    if abs(ratio - 1) >= _NEAR:
        return f"{short(ratio, 2)}×"
    near = f"{ratio:.2f}"
    return f"{ratio:.3f}×" if near == "1.00" else f"{near}×"


def whole_points(profile: PerformanceProfile) -> list[PrunedPoint]:
    """Return the points with zeros in all weights."""
    return [point for point in profile.pruned if not point.is_part]


def part_words(profile: PerformanceProfile, layer: LayerTime | None = None) -> list[tuple[str, str]]:
    """Return each part of the model that was measured with zeros of its own, and its times; those of one layer only."""
    parts: dict[tuple[str, str], list[PrunedPoint]] = {}
    for point in profile.pruned:
        if point.is_part and (layer is None or point.layer in layer.nodes):
            parts.setdefault((point.operator, point.layer), []).append(point)
    return [
        (show(operator or _name(profile, node), _MAX_CHARS), _curve(points))
        for (operator, node), points in parts.items()
    ]


def _name(profile: PerformanceProfile, node: str) -> str:
    """Return the operator and the weight of a layer, as the table of layers has them."""
    layer = next((one for one in profile.layers if node in one.nodes), None)
    return f"{layer.op} {layer.weight or node}" if layer is not None else node


def _curve(points: Sequence[PrunedPoint]) -> str:
    """Return the times of one part and the largest gain."""
    times = {point.zeros: point.part_ms for point in points}
    shown = [f"{percent(zeros)} {ms(time) if time is not None else '–'}" for zeros, time in times.items() if zeros]
    dense, known = times.get(0.0), [time for zeros, time in times.items() if time and zeros]
    gain = f"; at best {gain_words(dense / min(known))} as fast" if dense and known else ""
    why = next((f" ({reason_words(point.ms.reason, 120)})" for point in points if point.ms.value is None), "")
    return f"dense {ms(dense) if dense is not None else '–'}; with zeros: {', '.join(shown)}{gain}{why}"


def pruned_words(profile: PerformanceProfile) -> list[str]:
    """Return the time and the speedup at each share of zeros that the engine pretended."""
    points = whole_points(profile)
    dense = next((point for point in points if point.zeros == 0), None)
    found = []
    for point in points:
        value, gain = point.ms.value, point.speedup(dense) if dense is not None else None
        words = f"unknown: {reason_words(point.ms.reason, 120)}" if value is None else ms(value)
        words += f", {gain_words(gain)} as fast" if gain is not None and point is not dense else ""
        words += f", compiled in {seconds(point.load_ms / 1000)}" if point.load_ms is not None else ""
        share = f"{percent(point.zeros)} zeros" if point.zeros else "dense"
        found.append(f"{share}: {words}")
    return found
