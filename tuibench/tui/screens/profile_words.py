"""Words that several pages of profiles share."""

from __future__ import annotations

from tuibench.core.cell import Estimate
from tuibench.core.units import ms


def processes(count: int) -> str:
    """A number of them."""
    return f"{count} process" if count == 1 else f"{count} processes"


def interval_words(estimate: Estimate) -> str:
    """A time's interval, or why there is none."""
    if estimate.value is None or estimate.low is None or estimate.high is None:
        return estimate.reason or "none: it was measured once"
    return f"{ms(estimate.low)} to {ms(estimate.high)}, over {processes(estimate.n)}"
