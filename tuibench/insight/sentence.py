"""Whether optimizing will help, in one sentence, and what keeps a profile from being taken at face value."""

from __future__ import annotations

import math
from collections.abc import Sequence

from tuibench.core.cell import Estimate
from tuibench.core.profile import LAYER, RESIDUAL, LayerTime, PerformanceProfile
from tuibench.core.text import show
from tuibench.core.units import count_of, ms, percent, short
from tuibench.insight.estimate import Gain, operator_gains
from tuibench.insight.portion import int8_ratio, is_product, time_of, total_ms
from tuibench.insight.roof import machine_cautions, measured_words

_WORTH_NAMING, _MUCH_LEFT = 0.01, 0.05
_DISTURBED = ("C", "D")
_MOST_NAMED = 3
_LONGEST = 60
_LEAST = 3
"""Processes that an interval takes."""
_EVEN = "1.0×"
_SHORT_MS = 1.0
"""A batch that takes longer and whose layers cannot be timed has too many of them."""


def help_sentence(profile: PerformanceProfile) -> str:
    """Where most of the time goes, what INT8 was measured to bring there, and what cannot be made faster."""
    total = total_ms(profile)
    if profile.below_resolution:
        return _too_short(profile)
    if not total:
        return "No layer takes any time that could be measured"
    own = {layer.op for layer in profile.layers if layer.kind == LAYER}
    gains = [gain for op, gain in operator_gains(profile).items() if op in own and gain.ms]
    if not gains:
        return "No layer takes any time that could be measured"
    products = [layer for layer in profile.layers if is_product(layer)]
    heaviest = gains[0]
    parts = [f"{percent(heaviest.share)} of the time is {_named(heaviest.key)}"]
    parts += [_what_helps(heaviest, [layer for layer in products if layer.op == heaviest.key])]
    parts += _fixed(profile, {layer.op for layer in products}, heaviest, total)
    rest = math.fsum(time_of(layer) for layer in profile.layers if layer.kind == RESIDUAL) / total
    parts += [f"{percent(rest)} is in no layer"] if rest >= _MUCH_LEFT else []
    return "; ".join(filter(None, parts))


def cautions(profile: PerformanceProfile) -> tuple[str, ...]:
    """What else must be known before a number is believed, beside the notes of the profile itself."""
    said = []
    grade = profile.grade
    if grade is not None and grade.letter in _DISTURBED:
        named = f"grade {show(grade.letter, 4)}: {show(grade.cause, 200)}"
        said.append(f"{named}; layers that differ by little may be in another order")
    if profile.processes < 2:
        said.append("measured in one process: no layer has an interval")
    elif profile.processes < _LEAST:
        said.append(
            f"measured in {profile.processes} processes: no time has an interval, which takes at least {_LEAST}"
        )
    if round(profile.scale, 3) != 1 and not profile.below_resolution:
        said.append(f"layer times × {profile.scale:.3f}, so that they add up to the time without the profiler")
    return (*said, *machine_cautions(profile))


def zeros_sentence(profile: PerformanceProfile) -> str:
    """What zeros in weights gain on this engine and machine."""
    effect = profile.zero_effect
    if effect is None:
        return "what zeros in weights gain was not measured"
    when = f"; measured {measured_words(effect.measured_utc, effect.grade)}" if effect.measured_utc else ""
    return f"{show(effect.sentence, 300)}{when}"


def sum_words(profile: PerformanceProfile) -> str:
    """How the layers as the profiler told them stand to the time without it; '' where neither means anything."""
    whole = profile.ms.value
    if profile.sum_ms is None or not whole or profile.below_resolution:
        return ""
    share = 100 * profile.sum_ms / whole
    return f"{ms(profile.sum_ms)} in sum before scaling, {share:.1f} % of the unprofiled time"


def _too_short(profile: PerformanceProfile) -> str:
    value = profile.ms.value
    rows = sum(layer.kind == LAYER for layer in profile.layers)
    if value is not None and value >= _SHORT_MS:
        time = f"one batch takes {ms(value)} in {count_of(rows, 'layer')}, which are too small for times of their own"
    else:
        time = (
            f"one batch {f'takes {ms(value)}, which is' if value is not None else 'is'} too short for times per layer"
        )
    return f"{time}: the profiler's own {short(profile.bias_us)} µs per kernel are too much of it, so none are shown"


def _what_helps(gain: Gain, products: list[LayerTime]) -> str:
    if not products:
        return "no matrix operator: smaller number formats and zeros do not help there"
    ratio = gain.int8_speedup
    if ratio is not None:
        return _int8_words(gain, ratio, products)
    if all(layer.integer for layer in products):
        return "its products are of integers already"
    if gain.bound is None:
        return "nothing was measured of it in another form"
    return f"if it took none, the model would be {_times(gain.bound)} as fast (Amdahl bound, nothing measured)"


def _int8_words(gain: Gain, ratio: float, products: Sequence[LayerTime]) -> str:
    """What INT8 was measured to bring the layers of one operator, and by those that it helps the model."""
    found = [(time_of(layer), known) for layer in products if (known := int8_ratio(layer)) is not None]
    part = f" on {gain.measured} of its {gain.layers} layers" if gain.measured < gain.layers else ""
    whole = _times(gain.speedup)
    is_even = _times(ratio) == _EVEN
    unsure = not is_even and _may_be_even(found)
    if unsure:
        return f"INT8 measured {_times(ratio)}{part}, with intervals that hold 1: too disturbed to tell"
    if ratio > 1 and not is_even:
        return f"INT8 measured {_times(ratio)}{part}" + (f" (the model {whole})" if gain.speedup is not None else "")
    helps = whole != _EVEN and any(known.high is not None and known.high < 1 for _, known in found)
    some = f" (the model {whole} by those that are faster)" if helps and gain.speedup is not None else ""
    return f"INT8 measured no faster{part}{some}" if is_even else f"INT8 measured slower{part}: {_times(ratio)}{some}"


def _may_be_even(found: Sequence[tuple[float, Estimate]]) -> bool:
    """Whether all layers, each with its time and ratio, may take together in INT8 what they take as they are.

    Each was measured alone, so that their errors are not all at one end.
    """
    ends = [(time * known.low, time * known.high) for time, known in found if known.low is not None and known.high]
    if not ends or len(ends) < len(found):
        return False
    gained = math.fsum(time * (1 - (known.value or 1.0)) for time, known in found)
    return abs(gained) <= math.hypot(*((most - least) / 2 for least, most in ends))


def _fixed(profile: PerformanceProfile, helped: set[str], heaviest: Gain, total: float) -> list[str]:
    """What no smaller format of numbers makes faster: operators without products, and the engine's own work."""
    times: dict[str, float] = {}
    # Of what nobody knows the products of, nobody can say that either.
    left_out = helped | {heaviest.key} | {layer.op for layer in profile.layers if layer.macs is None}
    for layer in profile.layers:
        if layer.op not in left_out and layer.kind == LAYER:
            times[layer.op] = times.get(layer.op, 0.0) + time_of(layer)
    worth = sorted(((time, op) for op, time in times.items() if time / total >= _WORTH_NAMING), reverse=True)
    if not worth:
        return []
    named = ", ".join(_named(op) for _, op in worth[:_MOST_NAMED]) + (" and others" if worth[_MOST_NAMED:] else "")
    return [f"{percent(math.fsum(time for time, _ in worth) / total)} in {named} cannot be optimized"]


def _named(op: str) -> str:
    return show(op, _LONGEST) or "?"


def _times(ratio: float | None) -> str:
    return "–" if ratio is None else f"{short(ratio, 2)}×"
