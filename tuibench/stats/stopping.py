"""Stop rule: after each execution, decides if a cell has been measured enough, and states the reason."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from tuibench.core.spec import Effort
from tuibench.core.units import percent, seconds
from tuibench.stats.interval import LEAST, half_width, mean_and_deviation
from tuibench.stats.student import t_quantile

_HOPELESS = 4
# Larger predictions are shown as out of reach, not as a number.
_NEVER = 100_000


@dataclass(frozen=True, slots=True)
class Decision:
    """The decision to stop or continue, and a prediction for the target."""

    stop: bool
    reason: str
    """target, maximum, limit or hopeless; '' if the cell continues."""
    sentence: str
    half_width: float | None
    """Half of the 95 % interval, as a fraction; None below two executions."""
    more: int | None = None
    """Further executions until the target; None if that cannot be predicted."""


def decide(logs: Sequence[float], effort: Effort, spent_s: float, execution_s: float) -> Decision:
    """Decide after the executions whose ln p50 are `logs`, in order.

    `spent_s` is the cell's wall time so far; `execution_s` is the time of one more execution with its start. The limit
    never prevents the three executions that an interval needs, and is ignored without a target.
    """
    count = len(logs)
    half = half_width(logs) if count >= 2 else None
    needed = _needed(logs, effort) if count >= 2 and count >= effort.min_executions - 1 else None
    more = None if needed is None else max(0, needed - count)
    reason = _reason(logs, effort, spent_s, execution_s, needed)
    return Decision(bool(reason), reason, _sentence(reason, count, half, more, effort, execution_s), half, more)


def _needed(logs: Sequence[float], effort: Effort) -> int | None:
    """Return the number of executions that would reach the target with the spread so far."""
    if not effort.target:
        return None
    _, deviation = mean_and_deviation(logs)
    return math.ceil(min((t_quantile(len(logs) - 1) * deviation / effort.target) ** 2, 1e9))


def _reason(logs: Sequence[float], effort: Effort, spent_s: float, execution_s: float, needed: int | None) -> str:
    count = len(logs)
    if (
        effort.target
        and count >= max(effort.min_executions, LEAST)
        and max(half_width(logs), half_width(logs[:-1])) <= effort.target
    ):
        return "target"
    if count >= effort.max_executions:
        return "maximum"
    if effort.target is None:
        return ""
    if count >= min(effort.min_executions, LEAST) and spent_s + execution_s > effort.limit_s:
        return "limit"
    allowed = effort.limit_s / execution_s if execution_s > 0 else math.inf
    if needed is not None and count >= effort.min_executions and needed > _HOPELESS * allowed:
        return "hopeless"
    return ""


def _sentence(reason: str, count: int, half: float | None, more: int | None, effort: Effort, execution_s: float) -> str:
    executions = "1 execution" if count == 1 else f"{count} executions"
    so_far = f"±{percent(half)} after {executions}" if half is not None else f"{executions}, no interval yet"
    why = {
        "target": f": within the target of ±{percent(effort.target or 0)}",
        "maximum": ", the most allowed",
        "limit": f", stopped by the limit of {seconds(effort.limit_s)} per cell",
        "hopeless": f", given up: the limit of {seconds(effort.limit_s)} per cell does not reach the target",
        "": "",
    }[reason]
    if not more or reason == "target" or effort.target is None:
        return so_far + why
    if more >= _NEVER:
        return f"{so_far}{why}; ±{percent(effort.target)} is out of reach on this machine now"
    noun = "execution" if more == 1 else "executions"
    return (
        f"{so_far}{why}; about {more} more {noun} ({seconds(more * execution_s)}) would give ±{percent(effort.target)}"
    )
