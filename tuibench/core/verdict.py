"""The comparison of two operands as facts; `report/verdict.py` makes its sentence."""

from __future__ import annotations

from dataclasses import dataclass

from tuibench.core.reason import Reason
from tuibench.core.scenario import LATENCY


@dataclass(frozen=True, slots=True)
class Verdict:
    """The comparison of two operands: ratio is new / base in time, with its 95 % interval."""

    kind: str | None
    """faster, slower, equivalent or undecided; None where `reasons` forbid a verdict."""
    ratio: float
    low: float | None
    high: float | None
    n: int
    """Number of pairs."""
    base: str
    new: str
    """Names of the operands."""
    metric: str = LATENCY
    margin: float = 0.02
    """Differences below it count as equivalent."""
    more_pairs: int | None = None
    """Pairs that would decide an undecided comparison; None if more pairs would not."""
    more_s: float | None = None
    """Seconds for those pairs."""
    reasons: tuple[Reason, ...] = ()
    """Reasons against a verdict."""
    told: str = ""
    """The sentence of a record that lacks the facts above."""
