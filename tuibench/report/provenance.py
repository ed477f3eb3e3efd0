"""Origin of a result that is not one uninterrupted tuibench run on an otherwise idle machine."""

from __future__ import annotations

from collections.abc import Iterator

from tuibench.core.cell import CellResult
from tuibench.core.run import RunResult
from tuibench.core.text import show
from tuibench.report.label import describe, varying

_MOST_NAMED = 5


def provenance_lines(run: RunResult) -> list[str]:
    """Return a line for each fact that affects the numbers; empty for most results."""
    return list(_lines(run))


def _lines(run: RunResult) -> Iterator[str]:
    if run.foreign:
        yield f"Imported from {show(run.foreign, 100)}: no grade, no interval"
    if run.shared_host:
        yield "Measured beside another benchmark (--share-host)"
    yield from _resumed(run)
    for session in run.sittings:
        if session.mixed:
            changes = "; ".join(show(change, 200) for change in session.mixed)
            yield f"Changed between sessions (--mixed): {changes}"


def _resumed(run: RunResult) -> Iterator[str]:
    """Yield the cells that were measured in several sessions; without names if all were."""
    counts: dict[int, list[CellResult]] = {}
    for cell in run.cells:
        if cell.sittings > 1:
            counts.setdefault(cell.sittings, []).append(cell)
    axes = varying(run)
    for sessions, cells in sorted(counts.items()):
        named = [describe(run, cell, axes) for cell in cells[:_MOST_NAMED]]
        more = f" and {len(cells) - len(named)} more" if len(cells) > len(named) else ""
        which = "" if len(cells) == len(run.cells) else f": {' / '.join(named)}{more}"
        yield f"Executions from {sessions} sessions{which}"
