"""The cells worth choosing between as a small table, the same on the page of a benchmark and on the screen."""

from __future__ import annotations

from tuibench.core.run import RunResult
from tuibench.core.units import short
from tuibench.plots.pareto import tradeoffs
from tuibench.report.label import describe, varying

TITLE = "Best Trade-offs of Latency and Items/s"
_FEWEST = 3
"""Of a single cell there is nothing to choose, and of two the headline says it all."""


def tradeoff_lines(run: RunResult) -> list[str]:
    """A head, then a line per cell of the Pareto set; nothing where there is hardly a choice."""
    if sum(cell.pooled is not None for cell in run.cells) < _FEWEST:
        return []
    axes = varying(run)
    found = tradeoffs(run.cells)
    names = [describe(run, each.cell, axes) for each in found]
    if not found:
        return []
    if len(found) == 1:
        return [f"{names[0]} is best at both"]
    rows = [
        f"{_text(each.latency.value):>8} {_text(each.rate.value):>8}  {name}{'' if each.is_sure else ' (no sure gain)'}"
        for each, name in zip(found, names, strict=True)
    ]
    return [f"{'ms/batch':>8} {'items/s':>8}", *rows]


def _text(value: float | None) -> str:
    return "-" if value is None else short(value)
