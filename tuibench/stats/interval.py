"""Quantiles of Student's t and of the normal distribution, without a dependency."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

from tuibench.core.cell import Estimate
from tuibench.core.reason import Reason, because

_TINY = 1e-300


def normal_quantile(p: float) -> float:
    """Return the standard normal quantile of `p`, by Newton steps on the error function."""
    if not 0 < p < 1:
        raise ValueError(f"a probability lies between 0 and 1, not {p}")
    tail = min(p, 1 - p)
    z = 0.0
    # The tail is convex above 0, so steps from the left approach the root without passing it.
    for _ in range(200):
        step = (0.5 * math.erfc(z / math.sqrt(2)) - tail) / (math.exp(-z * z / 2) / math.sqrt(2 * math.pi))
        z += step
        if abs(step) < 1e-13 * max(1.0, z):
            break
    return -z if p < 0.5 else z


@lru_cache(maxsize=1024)
def t_quantile(df: float, confidence: float = 0.95) -> float:
    """Return the t with P(|T| <= t) = `confidence` at `df` degrees of freedom, which may be fractional (Welch)."""
    if df < 1:
        raise ValueError(f"at least one degree of freedom is needed, not {df}")
    if not 0 < confidence < 1:
        raise ValueError(f"a confidence lies between 0 and 1, not {confidence}")
    outside = 1 - confidence
    t = normal_quantile(1 - outside / 2)
    norm = math.lgamma((df + 1) / 2) - math.lgamma(df / 2) - 0.5 * math.log(df * math.pi)
    # Both tails are convex in t > 0 and the normal quantile is left of the root, so no step passes it.
    for _ in range(200):
        density = 2 * math.exp(norm - (df + 1) / 2 * math.log1p(t * t / df))
        step = (_both_tails(t, df) - outside) / density
        t += step
        if abs(step) < 1e-10 * t:
            break
    return t


def _both_tails(t: float, df: float) -> float:
    """Return P(|T| > t)."""
    x = df / (df + t * t)
    if t * t < df:
        return 1 - _incomplete_beta(1 - x, 0.5, df / 2)
    return _incomplete_beta(x, df / 2, 0.5)


def _incomplete_beta(x: float, a: float, b: float) -> float:
    """Return the regularized incomplete beta function, by Lentz's continued fraction."""
    if x <= 0:
        return 0.0
    if x > (a + 1) / (a + b + 2):
        return 1 - _incomplete_beta(1 - x, b, a)
    log_front = a * math.log(x) + b * math.log1p(-x)
    log_front -= math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)
    c, d = 1.0, 1 / _away_from_zero(1 - (a + b) * x / (a + 1))
    fraction = d
    for m in range(1, 500):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        for term in (even, odd):
            d = 1 / _away_from_zero(1 + term * d)
            c = _away_from_zero(1 + term / c)
            fraction *= c * d
        if abs(c * d - 1) < 1e-15:
            break
    return math.exp(log_front) * fraction / a


def _away_from_zero(value: float) -> float:
    return value if abs(value) > _TINY else _TINY


LEAST = 3
"""Fewest executions that give an interval: with two it would be too wide to be useful."""


def mean_and_deviation(values: Sequence[float]) -> tuple[float, float]:
    """Return mean and standard deviation (n - 1) of at least one value; the deviation of a single value is 0."""
    mean = math.fsum(values) / len(values)
    if len(values) < 2:
        return mean, 0.0
    return mean, math.sqrt(math.fsum((v - mean) ** 2 for v in values) / (len(values) - 1))


def half_width(logs: Sequence[float], confidence: float = 0.95) -> float:
    """Return half the width of the t-interval of the mean of at least two logs, as a fraction (0.02 is ±2 %)."""
    _, deviation = mean_and_deviation(logs)
    return t_quantile(len(logs) - 1, confidence) * deviation / math.sqrt(len(logs))


def log_interval(values: Sequence[float], scale: float = 1.0, confidence: float = 0.95) -> Estimate:
    """Return exp(mean of logs) x `scale` with its t-interval, or None with a reason."""
    count = len(values)
    if not values:
        return Estimate(None, reason=Reason("no_value"))
    if min(values) <= 0:
        mean = math.fsum(values) / count
        return Estimate(mean * scale, n=count, reason=Reason("zero_value"))
    logs = [math.log(v) for v in values]
    center, _ = mean_and_deviation(logs)
    value = math.exp(center) * scale
    if count < LEAST:
        return Estimate(value, n=count, reason=because("too_few_executions", count=count, least=LEAST))
    half = half_width(logs, confidence)
    return Estimate(value, math.exp(center - half) * scale, math.exp(center + half) * scale, count)


def least_share(count: int, of: int) -> float:
    """Return the lower end of Wilson's 95 % interval of a share, of at least one trial."""
    share, z = count / of, normal_quantile(0.975)
    middle = share + z * z / (2 * of)
    half = z * math.sqrt(share * (1 - share) / of + z * z / (4 * of * of))
    return max(0.0, (middle - half) / (1 + z * z / of))
