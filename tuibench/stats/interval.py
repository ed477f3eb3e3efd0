"""95 % intervals of means over executions, computed on logs because latencies vary by factors."""

from __future__ import annotations

import math
from collections.abc import Sequence

from tuibench.core.cell import Estimate
from tuibench.stats.student import t_quantile

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
        return Estimate(None, reason="no execution gave a value")
    if min(values) <= 0:
        mean = math.fsum(values) / count
        return Estimate(mean * scale, n=count, reason="no interval: a value is zero")
    logs = [math.log(v) for v in values]
    center, _ = mean_and_deviation(logs)
    value = math.exp(center) * scale
    if count < LEAST:
        return Estimate(value, n=count, reason=f"no interval: {count} of at least {LEAST} executions")
    half = half_width(logs, confidence)
    return Estimate(value, math.exp(center - half) * scale, math.exp(center + half) * scale, count)
