"""Estimates of how much faster a model could get, each with its method: measured INT8 or a bound."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from tuibench.core.cell import Estimate
from tuibench.core.profile import RESIDUAL, LayerTime, PerformanceProfile
from tuibench.core.profile_facts import (
    by_operator,
    find_withheld,
    int8_ratio,
    is_product,
    time_of,
    total_ms,
    untold_words,
)
from tuibench.core.reason import Reason
from tuibench.core.units import count_of, percent

BOUND = "Amdahl bound"
"""Speedup of the model if a part took no time; no change to that part can bring more."""
MEASURED_INT8 = "measured INT8"
"""Ratio of each layer in isolation × its time in the model; layers that were not measured stay as they are."""


@dataclass(frozen=True, slots=True)
class Gain:
    """The possible gain of one layer, or of all layers of one operator."""

    key: str
    """Key of the layer, or the operator."""
    ms: float
    share: float
    """Share of the model's time."""
    bound: float | None
    """Speedup of the model if this took no time; None if nothing else takes time, or that is unknown."""
    measured: int
    """Number of layers whose time in INT8 was measured."""
    measured_ms: float
    """Time of those layers as they are."""
    layers: int
    int8_ms: float | None
    """Time with those layers in INT8 and the others as they are; None if none was measured."""
    saved_ms: float | None
    """Time that INT8 saves in the layers where it is faster; None if none was measured."""
    speedup: float | None
    """Speedup of the model by that saving."""
    is_bounded: bool = True
    """True if no more than `ms` can be saved; False if unattributed time may belong here too."""

    @property
    def potential_ms(self) -> float | None:
        """Possible saving: measured, else at most all of it; None if neither is known."""
        return self.saved_ms if self.saved_ms is not None or not self.is_bounded else self.ms

    @property
    def int8_speedup(self) -> float | None:
        """Speedup of the measured layers alone."""
        if self.int8_ms is None or not self.measured_ms:
            return None
        left = self.measured_ms + self.int8_ms - self.ms
        return self.measured_ms / left if left > 0 else None

    @property
    def method(self) -> str:
        """Method of the best estimate there is."""
        return MEASURED_INT8 if self.measured else BOUND


@dataclass(frozen=True, slots=True)
class ModelEstimate:
    """The possible time of the whole model, by one method."""

    method: str
    ms: Estimate
    """Per batch."""
    speedup: Estimate
    words: str
    """Parts that were counted, and parts that were not."""


def layer_gains(profile: PerformanceProfile) -> dict[str, Gain]:
    """Return the gain of each row that takes time, by its key."""
    total, bounded = total_ms(profile), not untold_words(profile)
    timed = [layer for layer in profile.layers if layer.ms.value is not None]
    return {layer.key: _gain(layer.key, (layer,), total, bounded) for layer in timed}


def operator_gains(profile: PerformanceProfile) -> dict[str, Gain]:
    """Return the gain of each operator, the one that takes most time first."""
    total, bounded = total_ms(profile), not untold_words(profile)
    return {op: _gain(op, layers, total, bounded) for op, layers in by_operator(profile.layers).items()}


def model_estimates(profile: PerformanceProfile) -> tuple[ModelEstimate, ...]:
    """Return the INT8 estimate if it was measured, then the bound: as if all matrix operators took no time.

    There is no bound if much of the time is unattributed, since it may belong to matrix operators.
    There is no estimate at all if the rows cannot be trusted.
    """
    total, ms = total_ms(profile), profile.ms.value
    if not total or ms is None or profile.below_resolution or find_withheld(profile) is not None:
        return ()
    found = [_int8_estimate(profile, total, ms), None if untold_words(profile) else _bound_estimate(profile, total, ms)]
    return tuple(estimate for estimate in found if estimate is not None)


def amdahl(share: float) -> float | None:
    """Return the speedup of the whole without a share of its time; None if nothing would be left."""
    return 1 / (1 - share) if share < 1 else None


def _gain(key: str, layers: Sequence[LayerTime], total: float, bounded: bool) -> Gain:
    bounded = bounded and any(layer.kind != RESIDUAL for layer in layers)
    ms = math.fsum(map(time_of, layers))
    share = min(ms / total, 1.0) if total else 0.0
    found = [(layer, ratio.value) for layer in layers if (ratio := int8_ratio(layer)) is not None and ratio.value]
    change = math.fsum(time_of(layer) * (ratio - 1) for layer, ratio in found)
    saved = math.fsum(time_of(layer) * max(1 - ratio, 0.0) for layer, ratio in found)
    return Gain(
        key=key,
        ms=ms,
        share=share,
        bound=amdahl(share) if bounded else None,
        measured=len(found),
        measured_ms=math.fsum(time_of(layer) for layer, _ in found),
        layers=len(layers),
        int8_ms=ms + change if found else None,
        saved_ms=saved if found else None,
        speedup=amdahl(saved / total) if found and total else None,
        is_bounded=bounded,
    )


def _int8_estimate(profile: PerformanceProfile, total: float, ms: float) -> ModelEstimate | None:
    found = [(time_of(layer) / total, ratio) for layer in profile.layers if (ratio := int8_ratio(layer)) is not None]
    if not found:
        return None
    value = _left(found, [ratio.value for _, ratio in found])
    # All ratios at one end at once: wider than the truth, but the correlation of the layers is unknown.
    low = _left(found, [ratio.low for _, ratio in found])
    high = _left(found, [ratio.high for _, ratio in found])
    covered = math.fsum(share for share, _ in found)
    n = min(ratio.n for _, ratio in found)
    known = all(ratio.low is not None and ratio.high is not None for _, ratio in found)
    words = (
        "each layer's ratio in isolation, with all that is fused into it and with what turns its inputs and outputs"
        " into integers and back, which neighbours in INT8 would share, applied to its time in the model where it is"
        f" faster; measured on {percent(covered)} of the time, the other {percent(max(1 - covered, 0.0))} as it is"
    )
    if not known:
        why = Reason("ratio_without_interval")
        return ModelEstimate(
            MEASURED_INT8, Estimate(ms * value, n=n, reason=why), Estimate(1 / value, n=n, reason=why), words
        )
    least, most = profile.ms.low, profile.ms.high
    if least is None or most is None:
        time = Estimate(ms * value, n=n, reason=Reason("time_without_interval"))
    else:
        time = Estimate(ms * value, least * low, most * high, n)
    return ModelEstimate(MEASURED_INT8, time, Estimate(1 / value, 1 / high, 1 / low, n), words)


def _left(found: Sequence[tuple[float, Estimate]], ratios: Sequence[float | None]) -> float:
    """Return the share of the time that is left; a layer that would be slower stays as it is."""
    gone = 0.0
    for (share, estimate), ratio in zip(found, ratios, strict=True):
        used = ratio if ratio is not None else estimate.value
        gone += share * max(1 - max(used or 1.0, 0.0), 0.0)
    return max(1 - gone, 1e-9)


def _bound_estimate(profile: PerformanceProfile, total: float, ms: float) -> ModelEstimate | None:
    share = math.fsum(time_of(layer) for layer in profile.layers if is_product(layer)) / total
    speedup = amdahl(share)
    if not share or speedup is None:
        return None
    unknown = sum(layer.macs is None and bool(time_of(layer)) for layer in profile.layers if is_product(layer))
    named = "all matrix operators" + (f" and {count_of(unknown, 'unknown layer')}" if unknown else "")
    words = f"if {named}, {percent(share)} of the time, took none: no change to them can bring more"
    bound = Reason("bound")
    return ModelEstimate(BOUND, Estimate(ms * (1 - share), reason=bound), Estimate(speedup, reason=bound), words)
