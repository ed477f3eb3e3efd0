"""Comparison of two operands: the ratio, its interval, and a verdict unless something forbids it."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence

from tuibench.core.reason import Reason, Verdict
from tuibench.core.result import Comparison
from tuibench.core.scenario import LATENCY
from tuibench.core.value import dataclass
from tuibench.stats.interval import LEAST, mean_and_deviation, t_quantile

DELTA = 0.02
"""Default margin: smaller differences count as equivalent."""

_MOST_PREDICTED = 1000


@dataclass(frozen=True, slots=True)
class Operand:
    """One operand: its cell, a name to show, and (round, ln of time) of each execution; a round may have several."""

    key: str
    name: str
    logs: Sequence[tuple[int, float]]


@dataclass(frozen=True, slots=True)
class Difference:
    """ln(new / base) with half its 95 % interval; the half is None below three pairs (or executions each)."""

    center: float
    half: float | None
    n: int
    spread: float = 0.0
    """Standard deviation of one pair, for predictions."""


def compare(
    base: Operand,
    new: Operand,
    *,
    interleaved: bool,
    bars: Sequence[Reason] = (),
    metric: str = LATENCY,
    delta: float = DELTA,
    pair_s: float | None = None,
) -> Comparison:
    """Compare `new` with `base`; each of `bars` is a reason against a verdict (outputs, precision, I/O class).

    With `pair_s`, the seconds of one more pair, an undecided comparison states the time it needs for a verdict.
    """
    difference = paired(base.logs, new.logs) if interleaved else unpaired(base.logs, new.logs)
    reasons = (*(() if interleaved else (Reason("different_times"),)), *bars)
    kind = None if reasons else _kind(difference, delta)
    half = difference.half
    more = _more_pairs(difference, delta) if kind == "undecided" and half is not None else None
    verdict = Verdict(
        kind=kind,
        ratio=math.exp(difference.center),
        low=None if half is None else math.exp(difference.center - half),
        high=None if half is None else math.exp(difference.center + half),
        n=difference.n,
        base=base.name,
        new=new.name,
        metric=metric,
        margin=delta,
        more_pairs=more,
        more_s=None if more is None or pair_s is None else more * pair_s,
        reasons=reasons,
    )
    return Comparison(base.key, new.key, interleaved, verdict)


def paired(base: Sequence[tuple[int, float]], new: Sequence[tuple[int, float]]) -> Difference:
    """Return the t-interval over the differences within shared rounds, so that drift over the run cancels."""
    left, right = _by_round(base), _by_round(new)
    shared = sorted(left.keys() & right.keys())
    if not shared:
        raise ValueError("the operands share no round")
    center, deviation = mean_and_deviation([right[r] - left[r] for r in shared])
    count = len(shared)
    half = t_quantile(count - 1) * deviation / math.sqrt(count) if count >= LEAST else None
    return Difference(center, half, count, deviation)


def unpaired(base: Sequence[tuple[int, float]], new: Sequence[tuple[int, float]]) -> Difference:
    """Return Welch's t-interval over the executions of both operands; `n` is the smaller count."""
    (mean_a, dev_a), (mean_b, dev_b) = (mean_and_deviation([v for _, v in operand]) for operand in (base, new))
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
    """Return the mean of each round."""
    rounds: dict[int, list[float]] = defaultdict(list)
    for number, value in logs:
        rounds[number].append(value)
    return {number: math.fsum(values) / len(values) for number, values in rounds.items()}


def _kind(difference: Difference, delta: float) -> str:
    if difference.half is None:
        return "undecided"
    low, high = difference.center - difference.half, difference.center + difference.half
    if math.log1p(-delta) < low and high < math.log1p(delta):
        return "equivalent"
    if low > 0:
        return "slower"
    return "faster" if high < 0 else "undecided"


def _more_pairs(difference: Difference, delta: float) -> int | None:
    """Return the number of further pairs that would decide the comparison; None if it is too large."""
    center = abs(difference.center)
    wanted = max(center, delta - center)
    needed = (t_quantile(difference.n - 1) * difference.spread / wanted) ** 2
    more = max(1, math.ceil(needed) - difference.n)
    return more if more <= _MOST_PREDICTED else None
