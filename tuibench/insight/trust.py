"""Consistency check of a performance profile: the values it must not show, and the figures that say so."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from tuibench.core.cell import Estimate
from tuibench.core.profile import LayerTime, PerformanceProfile, Roofline
from tuibench.insight.portion import time_of, untold_share

UNATTRIBUTED, ABOVE_PEAK = "unattributed", "above-peak"
"""Codes of `Withheld`."""
MOST_UNATTRIBUTED = 0.1
"""Highest trusted share of the time that is in no layer's row."""
MOST_OF_PEAK = 1.5
"""Highest trusted rate of a row, as a multiple of the measured peak; padding taps count as work up to about this."""


@dataclass(frozen=True, slots=True)
class Withheld:
    """Reason to show neither INT8 estimates nor shares of the roofs of a profile."""

    code: str
    value: float
    """Share of the time that is in no row, or the rate of the fastest row as a multiple of the peak."""
    limit: float
    layer: LayerTime | None = None
    """The fastest row."""
    gflops: float | None = None
    """The rate of that row."""


def find_withheld(profile: PerformanceProfile) -> Withheld | None:
    """Check the stored rows of a profile; None if they can be trusted, or if no times are shown anyway."""
    if profile.below_resolution:
        return None
    share = untold_share(profile)
    if share > MOST_UNATTRIBUTED:
        return Withheld(UNATTRIBUTED, share, MOST_UNATTRIBUTED)
    fastest = max(_multiples(profile), key=lambda found: found[0], default=None)
    if fastest is None or fastest[0] <= MOST_OF_PEAK:
        return None
    multiple, layer, rate = fastest
    return Withheld(ABOVE_PEAK, multiple, MOST_OF_PEAK, layer, rate)


def withhold(profile: PerformanceProfile, reason: str) -> PerformanceProfile:
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


def _without(layer: LayerTime, reason: str) -> LayerTime:
    nothing = Estimate(None, reason=reason)
    forms = tuple(replace(form, ratio=nothing, reason=reason, around=None) for form in layer.what_if)
    why = layer.roof_reason if layer.roof_ms is None else reason
    return replace(layer, what_if=forms, roof_ms=None, roof="", roof_reason=why)
