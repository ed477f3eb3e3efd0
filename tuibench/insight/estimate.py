"""How much faster a model could get, always with the method: what INT8 was measured to bring, or a bound."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from tuibench.core.cell import Estimate
from tuibench.core.profile import RESIDUAL, LayerTime, PerformanceProfile
from tuibench.core.units import count_of, percent
from tuibench.insight.portion import by_operator, int8_of, int8_ratio, is_product, time_of, total_ms, untold_words
from tuibench.insight.trust import find_withheld

BOUND = "Amdahl bound"
"""The speedup of the whole if the part took no time at all: nothing that is done to the part can bring more."""
MEASURED_INT8 = "measured INT8"
"""The ratio of each layer in isolation, applied to its time in the model; what was not measured stays as it is."""


@dataclass(frozen=True, slots=True)
class Gain:
    """What one layer, or all layers of one operator, could bring."""

    key: str
    """Of the layer, or the operator."""
    ms: float
    share: float
    """Of the time of the model."""
    bound: float | None
    """Speedup of the model if it took no time; None where nothing else takes any, or that is not known."""
    measured: int
    """Layers whose time in INT8 was measured."""
    measured_ms: float
    """What those take as they are."""
    layers: int
    int8_ms: float | None
    """With those layers in INT8, the others as they are; None where none was measured."""
    saved_ms: float | None
    """By INT8 in the layers where it is faster; None where none was measured."""
    speedup: float | None
    """Of the model by that."""
    reason: str = ""
    """Why there is no measured time of it."""
    is_bounded: bool = True
    """Whether no more than `ms` could be saved; not where more may be its own that was not told apart."""

    @property
    def potential_ms(self) -> float | None:
        """What could be saved: measured, else at most all of it; None where neither is known."""
        return self.saved_ms if self.saved_ms is not None or not self.is_bounded else self.ms

    @property
    def int8_speedup(self) -> float | None:
        """Of the layers that were measured, by themselves."""
        if self.int8_ms is None or not self.measured_ms:
            return None
        left = self.measured_ms + self.int8_ms - self.ms
        return self.measured_ms / left if left > 0 else None

    @property
    def method(self) -> str:
        """By which method the best that can be said of it was found."""
        return MEASURED_INT8 if self.measured else BOUND


@dataclass(frozen=True, slots=True)
class ModelEstimate:
    """What the whole model could take, by one method."""

    method: str
    ms: Estimate
    """Per batch."""
    speedup: Estimate
    words: str
    """What was counted, and what was not."""


def layer_gains(profile: PerformanceProfile) -> dict[str, Gain]:
    """One for each row that takes time, by its key."""
    total, bounded = total_ms(profile), not untold_words(profile)
    timed = [layer for layer in profile.layers if layer.ms.value is not None]
    return {layer.key: _gain(layer.key, (layer,), total, bounded) for layer in timed}


def operator_gains(profile: PerformanceProfile) -> dict[str, Gain]:
    """One for each operator, the one that takes most time first."""
    total, bounded = total_ms(profile), not untold_words(profile)
    return {op: _gain(op, layers, total, bounded) for op, layers in by_operator(profile.layers).items()}


def model_estimates(profile: PerformanceProfile) -> tuple[ModelEstimate, ...]:
    """Measured INT8 where it was asked for, then the bound: as if all matrix operators took no time.

    There is none where much of the time was not told apart: it may be theirs; none at all if the rows are wrong.
    """
    total, ms = total_ms(profile), profile.ms.value
    if not total or ms is None or profile.below_resolution or find_withheld(profile) is not None:
        return ()
    found = [_int8_estimate(profile, total, ms), None if untold_words(profile) else _bound_estimate(profile, total, ms)]
    return tuple(estimate for estimate in found if estimate is not None)


def amdahl(share: float) -> float | None:
    """Speedup of the whole if a share of its time went; None where nothing would be left."""
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
        reason="" if found else _reason(layers),
        is_bounded=bounded,
    )


def _reason(layers: Sequence[LayerTime]) -> str:
    reasons = [form.reason for layer in layers if (form := int8_of(layer)) is not None and form.reason]
    if reasons:
        return reasons[0]
    if layers and all(layer.integer for layer in layers):
        return "its products are of integers already"
    return "INT8 was not measured" if any(map(is_product, layers)) else "no matrix operator"


def _int8_estimate(profile: PerformanceProfile, total: float, ms: float) -> ModelEstimate | None:
    found = [(time_of(layer) / total, ratio) for layer in profile.layers if (ratio := int8_ratio(layer)) is not None]
    if not found:
        return None
    value = _left(found, [ratio.value for _, ratio in found])
    # All at one end at once: wider than the truth, but what the layers share is not known.
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
        why = "no interval: a layer's ratio has none"
        return ModelEstimate(
            MEASURED_INT8, Estimate(ms * value, n=n, reason=why), Estimate(1 / value, n=n, reason=why), words
        )
    least, most = profile.ms.low, profile.ms.high
    if least is None or most is None:
        time = Estimate(ms * value, n=n, reason="no interval: the time has none")
    else:
        time = Estimate(ms * value, least * low, most * high, n)
    return ModelEstimate(MEASURED_INT8, time, Estimate(1 / value, 1 / high, 1 / low, n), words)


def _left(found: Sequence[tuple[float, Estimate]], ratios: Sequence[float | None]) -> float:
    """The share of the time that is left; a layer that would be slower stays as it is."""
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
    return ModelEstimate(
        BOUND, Estimate(ms * (1 - share), reason="a bound"), Estimate(speedup, reason="a bound"), words
    )
