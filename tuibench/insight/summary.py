"""Bars per operator type: time, operations, bytes, parameters and possible savings."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

from tuibench.core.profile import LAYER, RESIDUAL, CostProfile, LayerTime, PerformanceProfile
from tuibench.core.text import show
from tuibench.core.units import count_of, ms, percent, scaled, size
from tuibench.insight.bar import VALUES, Amount, Summary, make_bars
from tuibench.insight.estimate import BOUND, MEASURED_INT8, Gain, operator_gains
from tuibench.insight.portion import by_operator, int8_of, is_product, time_of, total_ms, untold_words
from tuibench.insight.sentence import help_sentence
from tuibench.insight.trust import find_withheld

BASELINE, POTENTIAL, POTENTIAL_SHARE = "baseline ms", "potential ms", "potential %"
INT8_TIME, PRUNED, FLOPS, BYTES, PARAMETERS = "INT8 ms", "pruned", "FLOPs", "bytes", "params"
SUMMARY_TYPES = (BASELINE, POTENTIAL, POTENTIAL_SHARE, INT8_TIME, PRUNED, FLOPS, BYTES, PARAMETERS)
"""Types of bars of a performance profile, in the order in which a key cycles through them."""
COST_TYPES = (FLOPS, BYTES, PARAMETERS)
"""Types that need no measurement."""

_MOST_SUM = 1.02
"""Sum of bars in ms, as a multiple of the batch time, above which a note is shown."""
FLOPS_WORDS = "FLOPs = 2 × MACs of matrix operators + operations on single elements (estimated)"


def summarize(profile: PerformanceProfile, kind: str = BASELINE, display: str = VALUES) -> Summary:
    """Return the bars of a performance profile."""
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


def _timed(profile: PerformanceProfile, kind: str, display: str) -> Summary:
    if profile.below_resolution:
        return Summary(kind, display, f"{kind[:1].upper()}{kind[1:]} by operator", (), (help_sentence(profile),))
    gains = operator_gains(profile)
    measured = any(gain.measured for gain in gains.values())
    if kind == INT8_TIME and not measured:
        return Summary(kind, display, "INT8 ms by operator", (), (_why_no_int8(profile),))
    untold = untold_words(profile) if kind in (POTENTIAL, POTENTIAL_SHARE) else ""
    if untold and not measured:
        return Summary(kind, display, f"{kind[:1].upper()}{kind[1:]} by operator", (), (untold,))
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
    unit = percent if kind == POTENTIAL_SHARE else ms
    bars = make_bars(amounts, display, unit, whole_of(profile, kind))
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
    return (
        f"INT8 was measured of no layer: {show(asked[0], 200)}" if asked else "INT8 was not measured (--what-if int8)"
    )


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
        yield untold or f"≤ {BOUND}: as if it took no time; nothing was measured of it"


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
        return Summary(PRUNED, display, title, (), ("what zeros in weights gain was not measured on this machine",))
    if not effect.exploits or effect.ratio.value is None:
        return Summary(PRUNED, display, title, (), (show(effect.sentence, 300),))
    pruned_ms = _pruned_ms(profile)
    operators = by_operator(profile.layers).items()
    amounts = [Amount(op, math.fsum(map(pruned_ms, layers)), len(layers)) for op, layers in operators]
    words = ("estimate: matrix operators × the ratio below, the others as they are", show(effect.sentence, 300))
    bars = make_bars(amounts, display, ms, whole_of(profile, PRUNED))
    return Summary(PRUNED, display, "Pruned 0.9 ms by operator", bars, (*words, *_beyond(profile, PRUNED)))


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
        BYTES: ("bytes = weights and activations read and written, were nothing in a cache",),
    }
    unit = size if kind == BYTES else scaled
    return Summary(kind, display, f"{kind[:1].upper()}{kind[1:]} by operator", make_bars(amounts, display, unit),
                   words.get(kind, ()))  # fmt: skip
