"""Numbers of a cell without an interval or a value, grouped by reason."""

from __future__ import annotations

from collections.abc import Sequence

from tuibench.core.cell import CellResult, Estimate
from tuibench.core.run import RunResult
from tuibench.core.text import show
from tuibench.core.units import count_of

TAILS = {"p90": "p90", "p95": "p95", "p99": "p99", "p99.9": "p99_9"}
"""Display names of percentiles, and their names in a result."""


def reason_of(estimate: Estimate) -> str:
    """Return the reason for a missing interval or value; '' if nothing is missing."""
    if estimate.value is not None and estimate.low is not None and estimate.high is not None:
        return ""
    return show((estimate.reason or "too few executions").removeprefix("no interval: "), 200)


def missing_numbers(cell: CellResult) -> dict[str, list[str]]:
    """Return the names of the numbers by reason, in the order in which they are shown."""
    numbers = {"p50": "p50"} | TAILS
    found = [(name, cell.latency_ms[key]) for name, key in numbers.items() if key in cell.latency_ms]
    found += [("items/s", cell.items_per_sec)] if cell.pooled else []
    reasons: dict[str, list[str]] = {}
    for name, estimate in found:
        if reason := reason_of(estimate):
            reasons.setdefault(reason, []).append(name)
    return reasons


def missing_words(cell: CellResult) -> str:
    """Return all missing numbers of a cell in one line; '' if every number has its interval."""
    return "; ".join(f"{', '.join(names)}: {reason}" for reason, names in missing_numbers(cell).items())


def no_interval_notes(run: RunResult, shown: Sequence[str] = ("p50", "items/s")) -> list[str]:
    """Return a line for each reason why numbers shown in a table have no ±."""
    counts: dict[str, int] = {}
    for cell in run.cells:
        for reason, names in missing_numbers(cell).items() if cell.pooled else ():
            counts[reason] = counts.get(reason, 0) + bool(set(names) & set(shown))
    total = count_of(len(run.cells), "cell")
    return [f"No interval: {reason} ({count} of {total})" for reason, count in counts.items() if count]
