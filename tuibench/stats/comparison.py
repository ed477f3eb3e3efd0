"""The one comparison of two sides, for every door: ratio, interval, and a verdict only where one may be given."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from tuibench.core.run import Comparison
from tuibench.core.scenario import LATENCY, THROUGHPUT
from tuibench.core.text import show
from tuibench.core.units import percent, seconds
from tuibench.stats.interval import LEAST, mean_and_deviation
from tuibench.stats.student import t_quantile

DELTA = 0.02
"""Differences below this are of no interest unless the user says otherwise."""

_MOST_PREDICTED = 1000


@dataclass(frozen=True, slots=True)
class Side:
    """One side: its cell, its name for people, and (round, ln of time) per execution; one round may hold several."""

    key: str
    name: str
    logs: Sequence[tuple[int, float]]


@dataclass(frozen=True, slots=True)
class Difference:
    """ln(new / base) with half its 95 % interval; None below three pairs or executions on a side."""

    center: float
    half: float | None
    n: int
    spread: float = 0.0
    """Standard deviation of one pair: what a prediction needs."""


def compare(
    base: Side,
    new: Side,
    *,
    interleaved: bool,
    bars: Sequence[str] = (),
    metric: str = LATENCY,
    delta: float = DELTA,
    pair_s: float | None = None,
) -> Comparison:
    """Hold `new` against `base`; each of `bars` says why no verdict may be given (outputs, precision, I/O class).

    `pair_s`, the seconds one more pair takes, lets an undecided comparison say what deciding it would cost.
    """
    difference = paired(base.logs, new.logs) if interleaved else unpaired(base.logs, new.logs)
    why = list(bars) if interleaved else ["measured at different times", *bars]
    names = (show(base.name), show(new.name))
    verdict = None if why else _verdict(difference, delta)
    if verdict is None:
        sentence = f"{_ratio_words(difference, names, metric)}; no verdict: {'; '.join(show(w) for w in why)}"
    else:
        sentence = _sentence(verdict, difference, names, metric, delta, pair_s) + _bracket(difference)
    half = difference.half
    return Comparison(
        base=base.key,
        new=new.key,
        metric=metric,
        ratio=math.exp(difference.center),
        low=None if half is None else math.exp(difference.center - half),
        high=None if half is None else math.exp(difference.center + half),
        n=difference.n,
        interleaved=interleaved,
        verdict=verdict,
        why_no_verdict="; ".join(why) or None,
        sentence=sentence,
    )


def paired(base: Sequence[tuple[int, float]], new: Sequence[tuple[int, float]]) -> Difference:
    """t over the differences within rounds that both sides have, so that drift over the run cancels."""
    left, right = _by_round(base), _by_round(new)
    shared = sorted(left.keys() & right.keys())
    if not shared:
        raise ValueError("the sides share no round")
    center, deviation = mean_and_deviation([right[r] - left[r] for r in shared])
    count = len(shared)
    half = t_quantile(count - 1) * deviation / math.sqrt(count) if count >= LEAST else None
    return Difference(center, half, count, deviation)


def unpaired(base: Sequence[tuple[int, float]], new: Sequence[tuple[int, float]]) -> Difference:
    """Welch's t over the executions of either side; `n` is that of the side with fewer."""
    (mean_a, dev_a), (mean_b, dev_b) = (mean_and_deviation([v for _, v in side]) for side in (base, new))
    fewer = min(len(base), len(new))
    spread = math.hypot(dev_a, dev_b)
    if fewer < LEAST:
        return Difference(mean_b - mean_a, None, fewer, spread)
    share_a, share_b = dev_a**2 / len(base), dev_b**2 / len(new)
    both = share_a + share_b
    if both == 0:
        return Difference(mean_b - mean_a, 0.0, fewer, spread)
    df = both**2 / (share_a**2 / (len(base) - 1) + share_b**2 / (len(new) - 1))
    return Difference(mean_b - mean_a, t_quantile(df) * math.sqrt(both), fewer, spread)


def _by_round(logs: Sequence[tuple[int, float]]) -> dict[int, float]:
    """One value per round."""
    rounds: dict[int, list[float]] = defaultdict(list)
    for number, value in logs:
        rounds[number].append(value)
    return {number: math.fsum(values) / len(values) for number, values in rounds.items()}


def _verdict(difference: Difference, delta: float) -> str:
    if difference.half is None:
        return "undecided"
    low, high = difference.center - difference.half, difference.center + difference.half
    if math.log1p(-delta) < low and high < math.log1p(delta):
        return "equivalent"
    if low > 0:
        return "slower"
    return "faster" if high < 0 else "undecided"


def _sentence(
    verdict: str, difference: Difference, names: tuple[str, str], metric: str, delta: float, pair_s: float | None
) -> str:
    base, new = names
    if difference.half is None:
        return f"{_ratio_words(difference, names, metric)}; undecided: {difference.n} of at least {LEAST} pairs"
    low, high = difference.center - difference.half, difference.center + difference.half
    margin = f"{delta * 100:g} %"
    if verdict == "equivalent":
        return f"{new} and {base} are equivalent within {margin} in {_of(metric)} ({_span(low, high)})"
    if verdict == "undecided":
        more = _settling(difference, delta, pair_s)
        return f"undecided: {new} may differ from {base} by {_span(low, high)} in {_of(metric)}{more}"
    sure = low > math.log1p(delta) if verdict == "slower" else high < math.log1p(-delta)
    caveat = "" if sure else f", perhaps by less than {margin}"
    return f"{new} is {verdict} than {base}: {_change(difference.center)} {_of(metric)} ({_span(low, high)}){caveat}"


def _ratio_words(difference: Difference, names: tuple[str, str], metric: str) -> str:
    base, new = names
    ratio = f"{new} / {base} in {_of(metric)}: {_digits(math.exp(difference.center))}"
    if difference.half is None:
        return f"{ratio}, no interval"
    low, high = (math.exp(difference.center + side * difference.half) for side in (-1, 1))
    return f"{ratio} ({_digits(low)} to {_digits(high)})"


def _bracket(difference: Difference) -> str:
    """The ratio itself, for those who calculate with it."""
    if difference.half is None:
        return ""
    ratio, low, high = (math.exp(difference.center + side * difference.half) for side in (0, -1, 1))
    return f"; ratio {_digits(ratio)} [{_digits(low)}, {_digits(high)}]"


def _settling(difference: Difference, delta: float, pair_s: float | None) -> str:
    """How many more pairs would leave one of the other words, were the difference what it seems to be."""
    center = abs(difference.center)
    wanted = max(center, delta - center)
    needed = (t_quantile(difference.n - 1) * difference.spread / wanted) ** 2
    more = max(1, math.ceil(needed) - difference.n)
    if more > _MOST_PREDICTED:
        return "; the spread is too large for more pairs to settle it"
    cost = "" if pair_s is None else f" ({seconds(more * pair_s)})"
    return f"; about {more} more {'pair' if more == 1 else 'pairs'}{cost} would settle it"


def _of(metric: str) -> str:
    return "time per item" if metric == THROUGHPUT else metric


def _change(center: float) -> str:
    """A difference in the words of its size: percent when small, a factor when large."""
    ratio = math.exp(center)
    if ratio >= 2 or ratio <= 0.5:
        return f"{_digits(ratio)} times the"
    return f"{percent(abs(ratio - 1))} {'more' if ratio > 1 else 'less'}"


def _span(low: float, high: float) -> str:
    if low > math.log(2) or high < -math.log(2):
        return f"{_digits(math.exp(low))} to {_digits(math.exp(high))} times"
    return f"{_signed(low)} to {_signed(high)} %"


def _signed(log: float) -> str:
    value = math.expm1(log) * 100
    text = f"{abs(value):.1f}" if abs(value) < 99.5 else f"{abs(value):.0f}"
    if float(text) == 0:
        return text
    # A typographic minus: a hyphen between numbers reads as a range.
    return f"+{text}" if value > 0 else f"\N{MINUS SIGN}{text}"


def _digits(ratio: float) -> str:
    return f"{ratio:.3f}" if 0.1 <= ratio < 10 else f"{ratio:.4g}" if ratio >= 10 else f"{ratio:.3g}"
