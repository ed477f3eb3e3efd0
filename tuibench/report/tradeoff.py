"""The cells worth choosing between as a small table, the same on the page of a benchmark and on the screen."""

from __future__ import annotations

from tuibench.core.cell import by_work
from tuibench.core.run import RunResult
from tuibench.core.units import short
from tuibench.plots.pareto import tradeoffs
from tuibench.report.label import describe, varying

TITLE = "Best Trade-offs of Latency and Items/s"
HEAD = "ms/batch  items/s"
_FEWEST = 3
"""Of a single cell there is nothing to choose, and of two the headline says it all."""


def tradeoff_lines(run: RunResult) -> list[str]:
    """A head, then a line per cell of the Pareto set; nothing where there is hardly a choice."""
    rows = tradeoff_rows(run)
    if len(rows) == 1:
        return [f"{rows[0][1]} is best at both"]
    return [HEAD, *(f"{figures}  {name}" for figures, name in rows)] if rows else []


def tradeoff_rows(run: RunResult) -> list[tuple[str, str]]:
    """Of each cell of the Pareto set its two numbers below `HEAD`, and what it is called."""
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
