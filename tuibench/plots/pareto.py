"""The Pareto set of cells: no other cell beats them in both latency and items/s."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tuibench.core.cell import CellResult, Estimate, by_work
from tuibench.plots.quantity import quantity


@dataclass(frozen=True, slots=True)
class Tradeoff:
    """A cell of the Pareto set: more items/s than it has cost more latency."""

    cell: CellResult
    latency: Estimate
    """p50 in ms/batch, as one request waits for its whole batch."""
    rate: Estimate
    """Items/s."""
    is_sure: bool
    """True if its items/s exceed those of every quicker one beyond the intervals."""


def tradeoffs(cells: Sequence[CellResult]) -> tuple[Tradeoff, ...]:
    """Return the Pareto set of latency against items/s by ascending latency, one set per model and dims.

    Include cells with wrong outputs or grade D only if there are no others.
    """
    return tuple(each for group in by_work(cells) for each in _of_one_work(group))


def _of_one_work(cells: Sequence[CellResult]) -> list[Tradeoff]:
    known = [(cell, quantity(cell, "batch-time", "p50"), cell.items_per_sec) for cell in cells]
    known = [row for row in known if row[1].value is not None and row[2].value is not None]
    clean = [row for row in known if _is_clean(row[0])]
    rows = sorted(clean or known, key=lambda row: (row[1].value or 0.0, -(row[2].value or 0.0)))
    found: list[Tradeoff] = []
    for cell, latency, rate in rows:
        most = max((each.rate.value or 0.0 for each in found), default=-1.0)
        same = bool(found) and (found[-1].latency.value, found[-1].rate.value) == (latency.value, rate.value)
        if (rate.value or 0.0) > most or same:
            found.append(Tradeoff(cell, latency, rate, all(_is_more(rate, each.rate) for each in found)))
    return found


def _is_clean(cell: CellResult) -> bool:
    wrong = cell.check is not None and cell.check.state == "differs"
    return not wrong and not (cell.grade is not None and cell.grade.letter == "D")


def _is_more(rate: Estimate, other: Estimate) -> bool:
    """Compare the intervals; a number without an interval counts as exact."""
    low = rate.value if rate.low is None else rate.low
    high = other.value if other.high is None else other.high
    return low is not None and high is not None and low > high
