"""Selection of the best cell; cells with wrong outputs or grade D never win over a clean cell."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tuibench.core.cell import CellResult, Estimate
from tuibench.core.scenario import find

Metric = Callable[[CellResult], Estimate]


@dataclass(frozen=True, slots=True)
class Choice:
    """The best of several cells, and the cells whose intervals overlap with its interval."""

    cell: CellResult
    estimate: Estimate
    tied: tuple[CellResult, ...]


def latency(cell: CellResult) -> Estimate:
    """Return the milliseconds per batch."""
    return cell.latency_ms.get("p50", Estimate(None))


def throughput(cell: CellResult) -> Estimate:
    """Return the items per second while every stream is busy."""
    return cell.items_per_sec


def throughput_per_core(cell: CellResult) -> Estimate:
    """Return the items per second and core."""
    whole, cores = cell.items_per_sec, max(cell.asked.cores, 1)
    value, low, high = (None if v is None else v / cores for v in (whole.value, whole.low, whole.high))
    return Estimate(value, low, high, whole.n, whole.reason)


def is_clean(cell: CellResult) -> bool:
    """Return whether a cell may win: its outputs are not known to be wrong and its grade is not D."""
    wrong = cell.check is not None and cell.check.state == "differs"
    return not wrong and not (cell.grade is not None and cell.grade.letter == "D")


def measured(cells: Sequence[CellResult]) -> list[CellResult]:
    """Return the cells that have numbers."""
    return [c for c in cells if latency(c).value is not None]


def choose(cells: Sequence[CellResult], metric: Metric, *, most: bool) -> Choice | None:
    """Return the cell with the most (or least) of a metric; None if no cell has it."""
    known = [(c, e, e.value) for c in cells for e in [metric(c)] if e.value is not None]
    if any(is_clean(c) for c, _, _ in known):
        known = [row for row in known if is_clean(row[0])]
    if not known:
        return None
    cell, estimate, _ = (max if most else min)(known, key=lambda row: row[2])
    return Choice(cell, estimate, tuple(c for c, e, _ in known if c is not cell and _overlap(e, estimate)))


def _overlap(a: Estimate, b: Estimate) -> bool:
    """Return whether two intervals overlap; without an interval only the value counts."""
    if a.value is None or b.value is None:
        return False
    a_low, a_high = (a.value, a.value) if a.low is None or a.high is None else (a.low, a.high)
    b_low, b_high = (b.value, b.value) if b.low is None or b.high is None else (b.low, b.high)
    return a_low <= b_high and b_low <= a_high


def least_latency(cells: Sequence[CellResult]) -> Choice | None:
    """Return the fastest of the cells with one request at a time, which the headline shows first."""
    return choose([c for c in cells if find(c.asked.scenario).is_latency], latency, most=False)


def most_of_streams(cells: Sequence[CellResult]) -> Choice | None:
    """Return the cell with the most items/s of those with several streams, which the headline shows second."""
    return choose([c for c in cells if not find(c.asked.scenario).is_latency], throughput, most=True)


def headlined(cells: Sequence[CellResult]) -> CellResult | None:
    """Return the cell whose number starts the headline; None without any number."""
    able = measured(cells)
    best = least_latency(able) or most_of_streams(able)
    return best.cell if best is not None else None
