"""The sentence on whether optimizing will help, and cautions about a profile."""

from __future__ import annotations

import math
from collections.abc import Sequence

from tuibench.core.cell import Estimate
from tuibench.core.profile import LAYER, LayerTime, PerformanceProfile
from tuibench.core.text import show
from tuibench.core.units import count_of, ms, percent, short
from tuibench.insight.estimate import Gain, operator_gains
from tuibench.insight.portion import int8_ratio, is_product, time_of, total_ms, untold_words
from tuibench.insight.roof import machine_cautions, measured_words
from tuibench.insight.trust import find_withheld

_WORTH_NAMING = 0.01
_DISTURBED = ("C", "D")
_MOST_NAMED = 3
_LONGEST = 60
_LEAST = 3
"""Fewest processes for an interval."""
_EVEN = "1.000×"
_CLOSE = 1.05
"""Speedups up to this factor from 1, either way, count as no difference."""
_NEAR = 0.1
"""Speedups nearer to 1 than this get two decimals: of 1.04 no more than 0.04 is gained."""
_SHORT_MS = 1.0
"""If layers cannot be timed in a batch longer than this, there are too many of them."""


def help_sentence(profile: PerformanceProfile) -> str:
    """Return where most time goes, the measured effect of INT8 there, and the part that cannot be made faster."""
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
    if find_withheld(profile) is not None:
        return parts[0]
    parts += [_what_helps(heaviest, [layer for layer in products if layer.op == heaviest.key])]
    parts += _fixed(profile, {layer.op for layer in products}, heaviest, total)
    return "; ".join(filter(None, [*parts, untold_words(profile)]))


def cautions(profile: PerformanceProfile) -> tuple[str, ...]:
    """Return the cautions to read before the numbers, besides the profile's own notes."""
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
    """Return the gain by zeros in weights on this engine and machine."""
    effect = profile.zero_effect
    if effect is None:
        return "what zeros in weights gain was not measured"
    when = f"; measured {measured_words(effect.measured_utc, effect.grade)}" if effect.measured_utc else ""
    return f"{show(effect.sentence, 300)}{when}"


def sum_words(profile: PerformanceProfile) -> str:
    """Return the sum of layers before scaling compared with the unprofiled time; '' if neither means anything."""
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
    """Return the measured speedup by INT8 of one operator's layers, and of the model by the faster ones."""
    found = [(time_of(layer), known) for layer in products if (known := int8_ratio(layer)) is not None]
    part = f" on {gain.measured} of its {gain.layers} layers" if gain.measured < gain.layers else ""
    times, span = _times(ratio), _span(found)
    doubt = _doubt(ratio, span)
    if doubt:
        between = f"{_times(span[0])} to {_times(span[1])}" if span is not None else "no interval"
        return f"INT8 measured {times} ({between}){part}: {doubt}{_by_faster(gain, found)}"
    if ratio < 1:
        return f"INT8 measured slower{part}: {times}{_by_faster(gain, found)}"
    some = " by those that are faster" if any((known.value or 0.0) > 1 for _, known in found) else ""
    return f"INT8 measured {times}{part}" + (f" (the model {_times(gain.speedup)}{some})" if gain.speedup else "")


def _by_faster(gain: Gain, found: Sequence[tuple[float, Estimate]]) -> str:
    """Return the model's speedup if only the faster layers are in INT8; '' if none is certainly faster."""
    whole = _times(gain.speedup)
    helps = whole != _EVEN and any(known.high is not None and known.high < 1 for _, known in found)
    return f" (the model {whole} by those that are faster)" if helps and gain.speedup else ""


def _doubt(ratio: float, span: tuple[float, float] | None) -> str:
    """Return why a speedup is neither a gain nor a loss; '' if it is one of them, however small."""
    low, high = span or (ratio, ratio)
    is_close = max(high, 1 / low) <= _CLOSE
    holds = low <= 1 <= high if span is not None else is_close
    if not holds and _times(ratio) != _EVEN:
        return ""
    return "no clear difference" if is_close else "too disturbed to tell"


def _span(found: Sequence[tuple[float, Estimate]]) -> tuple[float, float] | None:
    """Return the 95 % interval of the speedup of all layers together; None unless each has an interval.

    `found` has the time and the ratio of each layer. They were measured separately, so their errors are independent.
    """
    terms = [(time, known.low, known.value or 1.0, known.high) for time, known in found]
    whole, left = math.fsum(time for time, *_ in terms), math.fsum(time * value for time, _, value, _ in terms)
    least = [time * (value - low) for time, low, value, _ in terms if low is not None and low > 0]
    most = [time * (high - value) for time, _, value, high in terms if high is not None]
    if not whole or len(least) < len(terms) or len(most) < len(terms):
        return None
    return whole / (left + math.hypot(*most)), whole / (left - math.hypot(*least))


def _fixed(profile: PerformanceProfile, helped: set[str], heaviest: Gain, total: float) -> list[str]:
    """Return the work that smaller number formats do not speed up: operators without products, and the engine's own."""
    times: dict[str, float] = {}
    # Operators with an unknown number of products may have some.
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
    """Return a speedup with enough digits to differ from 1, at most three decimals."""
    if ratio is None:
        return "–"
    if abs(ratio - 1) >= _NEAR:
        return f"{short(ratio, 2)}×"
    near = f"{ratio:.2f}"
    return f"{ratio:.3f}×" if near == "1.00" else f"{near}×"
