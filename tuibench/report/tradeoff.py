"""The best trade-offs between cells as a small table, for a benchmark's page and the screen."""

from __future__ import annotations

from tuibench.core.cell import by_work
from tuibench.core.run import RunResult
from tuibench.core.units import short
from tuibench.plots.pareto import tradeoffs
from tuibench.report.label import describe, varying

TITLE = "Best Trade-offs of Latency and Items/s"
HEAD = "ms/batch  items/s"
_FEWEST = 3
"""Fewest cells for a table: one leaves no choice, and the headline covers two."""


def tradeoff_lines(run: RunResult) -> list[str]:
    """Return a head, then a line per cell of the Pareto set; nothing if there are too few cells."""
    rows = tradeoff_rows(run)
    if len(rows) == 1:
        return [f"{rows[0][1]} is best at both"]
    return [HEAD, *(f"{figures}  {name}" for figures, name in rows)] if rows else []


def tradeoff_rows(run: RunResult) -> list[tuple[str, str]]:
    """Return the two numbers below `HEAD` and the name of each cell of the Pareto set."""
    if sum(cell.pooled is not None for cell in run.cells) < _FEWEST:
        return []
    axes = varying(run)
    cells = [cell for group in by_work(run.cells) if len(group) > 1 for cell in group]
    return [
        (
            f"{_text(each.latency.value):>8} {_text(each.rate.value):>8}",
            describe(run, each.cell, axes) + ("" if each.is_sure else " (no sure gain)"),
        )
        for each in tradeoffs(cells)
    ]


def _text(value: float | None) -> str:
    return "-" if value is None else short(value)
