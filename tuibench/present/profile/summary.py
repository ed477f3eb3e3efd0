"""Bars per operator type, and the sentences on whether optimizing will help."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from tuibench.core.cell import Estimate
from tuibench.core.profile import IMPOSED, LAYER, RESIDUAL, CostProfile, LayerTime, PerformanceProfile
from tuibench.core.profile_facts import (
    by_operator,
    find_withheld,
    int8_of,
    int8_ratio,
    is_product,
    time_of,
    total_ms,
    untold_words,
)
from tuibench.core.text import show
from tuibench.core.units import count_of, ms, percent, scaled, short, size
from tuibench.present.profile.estimate import BOUND, MEASURED_INT8, Gain, operator_gains
from tuibench.present.profile.machine import machine_cautions
from tuibench.present.profile.pruned import gain_words, pruned_words, whole_points
from tuibench.present.reason import reason_words

VALUES, LOG, SHARES = "values", "log", "% of total"
DISPLAYS = (VALUES, LOG, SHARES)

_MAX_CHARS = 40
_DECADES = 5
"""Range of the logarithmic scale below the greatest value; smaller values have short bars or none."""


@dataclass(frozen=True, slots=True)
class Bar:
    """The bar of one operator type."""

    label: str
    """Safe to print."""
    length: float
    """Length in the chosen display; only the ratio to other bars matters."""
    amount: float | None
    """Amount in the unit of the summary type; None if unknown."""
    text: str
    layers: int


@dataclass(frozen=True, slots=True)
class Summary:
    """All bars of one summary type, with notes."""

    kind: str
    display: str
    title: str
    bars: tuple[Bar, ...]
    words: tuple[str, ...]
    """Notes on method and convention; if there are no bars, the reason."""


@dataclass(frozen=True, slots=True)
class Amount:
    """The amount of one operator type, before it is displayed."""

    op: str
    value: float | None
    layers: int
    at_most: bool = False
    at_least: bool = False
    note: str = ""
    is_ahead: bool = False
    """True if its bar comes before longer ones because of its note."""


def make_bars(
    amounts: Sequence[Amount], display: str, unit: Callable[[float], str], total: float | None = None
) -> tuple[Bar, ...]:
    """Return bars that are ahead, then the others, longest first; shares are of `total`, or of the sum without one."""
    known = [amount.value for amount in amounts if amount.value is not None and amount.value > 0]
    summed, most = math.fsum(known), max(known, default=0.0)
    least = min(known, default=0.0)
    bars = [
        Bar(
            label=label_of(amount.op),
            length=_length(amount.value, display, most, least),
            amount=amount.value,
            text=_text(amount, display, total or summed, unit),
            layers=amount.layers,
        )
        for amount in amounts
    ]
    pairs = sorted(zip(amounts, bars, strict=True), key=lambda pair: (not pair[0].is_ahead, -pair[1].length))
    return tuple(bar for _, bar in pairs)


def label_of(op: str) -> str:
    """Return the label of an operator's bar, which also identifies the bar's layers."""
    return show(op, _MAX_CHARS) or "?"


def _length(value: float | None, display: str, most: float, least: float) -> float:
    if value is None or value <= 0:
        return 0.0
    if display != LOG:
        return value
    # The smallest bar drawn is one decade long.
    return max(math.log10(value / max(least, most / 10**_DECADES)) + 1, 0.0)


def _text(amount: Amount, display: str, total: float, unit: Callable[[float], str]) -> str:
    if amount.value is None:
        return amount.note if amount.is_ahead else "unknown"
    shown = percent(amount.value / total if total else 0.0) if display == SHARES else unit(amount.value)
    sign = "≤ " if amount.at_most else "≥ " if amount.at_least else ""
    return f"{sign}{shown}" + (f" ({amount.note})" if amount.note else "")


_WORTH_NAMING = 0.01
_DISTURBED = ("C", "D")
_MOST_NAMED = 3
_MAX_OP_CHARS = 60
_LEAST = 3
"""Fewest processes for an interval."""
_EVEN = "1.000×"
_CLOSE = 1.05
"""Speedups up to this factor from 1, either way, count as no difference."""
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
        named = f"grade {show(grade.letter, 4)}: {reason_words(grade.cause, 200)}"
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
        return "no other number format was measured"
    return f"without it the model would be {gain_words(gain.bound)} as fast (Amdahl bound, not measured)"


def _int8_words(gain: Gain, ratio: float, products: Sequence[LayerTime]) -> str:
    """Return the measured speedup by INT8 of one operator's layers, and of the model by the faster ones."""
    found = [(time_of(layer), known) for layer in products if (known := int8_ratio(layer)) is not None]
    part = f" on {gain.measured} of its {gain.layers} layers" if gain.measured < gain.layers else ""
    times, span = gain_words(ratio), _span(found)
    doubt = _doubt(ratio, span)
    if doubt:
        between = f"{gain_words(span[0])} to {gain_words(span[1])}" if span is not None else "no interval"
        return f"INT8 measured {times} ({between}){part}: {doubt}{_by_faster(gain, found)}"
    if ratio < 1:
        return f"INT8 measured slower{part}: {times}{_by_faster(gain, found)}"
    some = " with the faster layers only" if any((known.value or 0.0) > 1 for _, known in found) else ""
    return f"INT8 measured {times}{part}" + (f" (the model {gain_words(gain.speedup)}{some})" if gain.speedup else "")


def _by_faster(gain: Gain, found: Sequence[tuple[float, Estimate]]) -> str:
    """Return the model's speedup if only the faster layers are in INT8; '' if none is certainly faster."""
    whole = gain_words(gain.speedup)
    helps = whole != _EVEN and any(known.high is not None and known.high < 1 for _, known in found)
    return f" (the model {whole} with the faster layers only)" if helps and gain.speedup else ""


def _doubt(ratio: float, span: tuple[float, float] | None) -> str:
    """Return why a speedup is neither a gain nor a loss; '' if it is one of them, however small."""
    low, high = span or (ratio, ratio)
    is_close = max(high, 1 / low) <= _CLOSE
    holds = low <= 1 <= high if span is not None else is_close
    if not holds and gain_words(ratio) != _EVEN:
        return ""
    return "no clear difference" if is_close else "too disturbed to decide"


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
    return show(op, _MAX_OP_CHARS) or "?"


BASELINE, POTENTIAL, POTENTIAL_SHARE = "baseline ms", "potential ms", "potential %"
INT8_TIME, PRUNED, FLOPS, BYTES, PARAMETERS = "INT8 ms", "pruned", "FLOPs", "bytes", "params"
PRUNED_TYPES = {f"pruned {zeros:.2f} ms": zeros for zeros in IMPOSED}
"""Types of an engine that pretends zeros, with their share."""
SUMMARY_TYPES = (BASELINE, POTENTIAL, POTENTIAL_SHARE, INT8_TIME, PRUNED, FLOPS, BYTES, PARAMETERS)
"""Types of bars of a performance profile, in the order in which a key cycles through them."""
COST_TYPES = (FLOPS, BYTES, PARAMETERS)
"""Types that need no measurement."""

_MOST_SUM = 1.02
"""Sum of bars in ms, as a multiple of the batch time, above which a note is shown."""
FLOPS_WORDS = "FLOPs = 2 × MACs of matrix operators + operations on single elements (estimated)"


def unit_of(kind: str) -> Callable[[float], str]:
    """Return the formatter for a quantity."""
    if kind in (BASELINE, POTENTIAL, INT8_TIME, PRUNED, *PRUNED_TYPES):
        return ms
    return {POTENTIAL_SHARE: percent, BYTES: size}.get(kind, scaled)


def summarize(profile: PerformanceProfile, kind: str = BASELINE, display: str = VALUES) -> Summary:
    """Return the bars of a performance profile."""
    if kind in PRUNED_TYPES:
        return _imposed(profile, kind, display)
    if kind == PRUNED and not profile.below_resolution:
        return _pruned(profile, display)
    if kind in (BASELINE, POTENTIAL, POTENTIAL_SHARE, INT8_TIME, PRUNED):
        return _timed(profile, kind, display)
    counted: dict[str, list[tuple[float | None, bool]]] = {}
    for layer in profile.layers:
        if layer.kind == LAYER:
            counted.setdefault(layer.op, []).append((_amount_of(layer, kind), True))
    return _counts(counted, kind, display)


def summarize_costs(costs: CostProfile, kind: str = FLOPS, display: str = VALUES) -> Summary:
    """Return the bars of the FLOPS profile, without measurements."""
    counted: dict[str, list[tuple[float | None, bool]]] = {}
    for node in costs.nodes:
        amount = {FLOPS: node.flops, BYTES: node.bytes_moved}.get(kind, node.parameters)
        counted.setdefault(node.op, []).append((amount, node.times is not None or kind == PARAMETERS))
    shown = _counts(counted, kind, display)
    return Summary(shown.kind, shown.display, shown.title + " (theoretical)", shown.bars, shown.words)


def _by_operator(kind: str) -> str:
    return f"{kind[:1].upper()}{kind[1:]} by operator"


def _timed(profile: PerformanceProfile, kind: str, display: str) -> Summary:
    if profile.below_resolution:
        return Summary(kind, display, _by_operator(kind), (), (help_sentence(profile),))
    gains = operator_gains(profile)
    measured = any(gain.measured for gain in gains.values())
    if kind == INT8_TIME and not measured:
        return Summary(kind, display, "INT8 ms by operator", (), (_why_no_int8(profile),))
    untold = untold_words(profile) if kind in (POTENTIAL, POTENTIAL_SHARE) else ""
    if untold and not measured:
        return Summary(kind, display, _by_operator(kind), (), (untold,))
    # The residual cannot be optimized.
    rest = (
        {layer.op for layer in profile.layers if layer.kind == RESIDUAL} if kind in (POTENTIAL, POTENTIAL_SHARE) else ()
    )
    amounts = [_timed_amount(gain, kind, total_ms(profile)) for op, gain in gains.items() if op not in rest]
    titles = {
        BASELINE: "Baseline ms by operator",
        POTENTIAL: "Potential ms by operator: what could be saved of each batch",
        POTENTIAL_SHARE: "Potential % by operator: what could be saved of the model's time",
        INT8_TIME: "INT8 ms by operator",
    }
    bars = make_bars(amounts, display, unit_of(kind), whole_of(profile, kind))
    return Summary(kind, display, titles[kind], bars, (*_timed_words(kind, measured, untold), *_beyond(profile, kind)))


def _why_no_int8(profile: PerformanceProfile) -> str:
    products = [layer for layer in profile.layers if is_product(layer)]
    if find_withheld(profile) is not None:
        return "not shown for this profile"
    if not products:
        return "no layer multiplies matrices: INT8 would change none"
    if all(layer.integer for layer in products):
        return "all products are of integers already: there is nothing to make INT8"
    asked = [form.reason for layer in products if (form := int8_of(layer)) is not None and form.reason]
    if not asked:
        return "INT8 was not measured (--what-if int8)"
    return f"INT8 was measured for no layer: {reason_words(asked[0], 200)}"


def whole_of(profile: PerformanceProfile, kind: str) -> float:
    """Return the base of the shares of one type.

    Possible savings are shares of all the time, not of all possible savings.
    """
    if kind == POTENTIAL_SHARE:
        return 1.0
    if kind in (BASELINE, POTENTIAL):
        return total_ms(profile)
    if kind == INT8_TIME:
        gains = operator_gains(profile).values()
        return math.fsum(gain.int8_ms if gain.int8_ms is not None else gain.ms for gain in gains)
    if kind == PRUNED:
        return math.fsum(map(_pruned_ms(profile), profile.layers))
    return math.fsum(_amount_of(layer, kind) or 0.0 for layer in profile.layers if layer.kind == LAYER)


def _pruned_ms(profile: PerformanceProfile) -> Callable[[LayerTime], float]:
    """Return a function for the pruned time of a row: matrix operators × the zero effect, other rows as they are."""
    effect = profile.zero_effect
    ratio = effect.ratio.value if effect is not None and effect.exploits else None
    return lambda layer: time_of(layer) * (ratio if ratio is not None and layer.macs else 1.0)


def _timed_amount(gain: Gain, kind: str, total: float) -> Amount:
    if kind == BASELINE:
        return Amount(gain.key, gain.ms, gain.layers)
    some = f"{gain.measured} of {count_of(gain.layers, 'layer')}"
    if kind == INT8_TIME:
        value = gain.int8_ms if gain.int8_ms is not None else gain.ms
        return Amount(gain.key, value, gain.layers, note=some if gain.measured else "as it is")
    saved, at_most = gain.potential_ms, gain.saved_ms is None
    if saved is None:
        return Amount(gain.key, None, gain.layers)
    value = saved / total if kind == POTENTIAL_SHARE and total else saved
    return Amount(gain.key, value, gain.layers, at_most=at_most, note="bound" if at_most else f"INT8, {some}")


def _timed_words(kind: str, measured: bool, untold: str) -> Iterable[str]:
    if kind == INT8_TIME:
        yield f"{MEASURED_INT8}: each layer's ratio in isolation × its time in the model; the others as they are"
    if kind in (POTENTIAL, POTENTIAL_SHARE):
        if measured:
            yield f"{MEASURED_INT8}: each layer's ratio in isolation × its time in the model, where it is faster"
        yield untold or f"≤ {BOUND}: as if it took no time (not measured)"


def _beyond(profile: PerformanceProfile, kind: str) -> Iterable[str]:
    """Yield a note if the layers take more time in sum than the model without the profiler."""
    total, whole = total_ms(profile), profile.ms.value
    if whole and total > _MOST_SUM * whole:
        # INT8 and pruned times are derived from these times, and have sums of their own.
        of = "the sum of these bars" if kind in (INT8_TIME, PRUNED) else "their sum"
        yield f"the layers add up to {percent(total / whole)} of a batch's time: shares are of {of}"


def _pruned(profile: PerformanceProfile, display: str) -> Summary:
    """Return pruned bars from the zero effect measured on our own layers; no bars if zeros gain nothing."""
    effect = profile.zero_effect
    title = "Pruned ms by operator"
    if effect is None:
        return Summary(PRUNED, display, title, (), ("the gain by zeros in weights was not measured on this machine",))
    if not effect.exploits or effect.ratio.value is None:
        return Summary(PRUNED, display, title, (), (reason_words(effect.sentence, 300),))
    pruned_ms = _pruned_ms(profile)
    operators = by_operator(profile.layers).items()
    amounts = [Amount(op, math.fsum(map(pruned_ms, layers)), len(layers)) for op, layers in operators]
    words = ("estimate: matrix operators × the ratio below, the others as they are", reason_words(effect.sentence, 300))
    bars = make_bars(amounts, display, ms, whole_of(profile, PRUNED))
    return Summary(PRUNED, display, "Pruned 0.9 ms by operator", bars, (*words, *_beyond(profile, PRUNED)))


def _imposed(profile: PerformanceProfile, kind: str, display: str) -> Summary:
    """Return the bars of one share of zeros, measured on this model."""
    point = next((one for one in whole_points(profile) if one.zeros == PRUNED_TYPES[kind]), None)
    title = f"{_by_operator(kind)}, as if each weight had {percent(PRUNED_TYPES[kind])} zeros"
    if point is None:
        return Summary(kind, display, title, (), ("this engine measures no model with zeros that it pretends",))
    if point.ms.value is None:
        return Summary(kind, display, title, (), (reason_words(point.ms.reason, 300),))
    amounts = [Amount(op, value, 1) for op, value in sorted(point.operators.items(), key=lambda item: -item[1])]
    bars = make_bars(amounts, display, ms, math.fsum(point.operators.values()))
    return Summary(kind, display, title, bars, tuple(pruned_words(profile)))


def _amount_of(layer: LayerTime, kind: str) -> float | None:
    return {FLOPS: layer.flops, BYTES: layer.bytes_moved}.get(kind, layer.parameters)


def _counts(counted: dict[str, list[tuple[float | None, bool]]], kind: str, display: str) -> Summary:
    amounts = []
    for op, values in counted.items():
        known = [value for value, _ in values if value is not None]
        missing, inexact = len(values) - len(known), sum(value is not None and not exact for value, exact in values)
        notes = [f"{missing} unknown"] if missing and known else []
        notes += [f"{inexact} counted once"] if inexact else []
        total = math.fsum(known) if known else None
        amounts.append(Amount(op, total, len(values), at_least=bool(missing or inexact), note=", ".join(notes)))
    amounts.sort(key=lambda amount: -(amount.value or 0.0))
    words = {
        FLOPS: (FLOPS_WORDS,),
        BYTES: ("bytes = weights and activations read and written, without a cache",),
    }
    bars = make_bars(amounts, display, unit_of(kind))
    return Summary(kind, display, _by_operator(kind), bars, words.get(kind, ()))
