"""The rows of several processes as one list; rows are matched by their nodes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from tuibench.core.profile import FOLDED, LAYER, KernelRow, LayerRun


@dataclass(frozen=True, slots=True)
class ProcessRow:
    """One row, with the rows that each process found for it."""

    row: KernelRow
    found: tuple[KernelRow, ...]
    """One row per process; without time if the process did not run it."""


def unite_rows(runs: Sequence[LayerRun]) -> list[ProcessRow]:
    """Return every row of any process, each node in one row: layers, then the engine's work, then folded nodes.

    Processes report the same rows, unless a branch ran in some only, or one identified kernels only by name.
    """
    rows: dict[str, KernelRow] = {}
    found: list[dict[str, KernelRow]] = []
    home: dict[str, str] = {}
    for run in runs:
        told: dict[str, KernelRow] = {}
        for row in run.rows:
            if row.kind == FOLDED:
                continue
            key = row.key if row.key in rows else next((home[node] for node in row.nodes if node in home), row.key)
            new = tuple(node for node in row.nodes if node not in home)
            home.update(dict.fromkeys(new, key))
            known = rows.get(key)
            rows[key] = row if known is None else replace(known, nodes=(*known.nodes, *new)) if new else known
            told[key] = _together(told[key], row) if key in told else row
        found.append(told)
    united = [ProcessRow(row, tuple(told.get(key) or _idle(row) for told in found)) for key, row in rows.items()]
    return sorted(united, key=lambda one: one.row.kind != LAYER) + _done_beforehand(runs, home)


def _together(one: KernelRow, other: KernelRow) -> KernelRow:
    calls = None if one.calls is None or other.calls is None else one.calls + other.calls
    return replace(one, raw_us=one.raw_us + other.raw_us, us=one.us + other.us, calls=calls)


def _idle(row: KernelRow) -> KernelRow:
    return replace(row, raw_us=0.0, us=0.0, calls=0.0)


def _done_beforehand(runs: Sequence[LayerRun], home: dict[str, str]) -> list[ProcessRow]:
    """Return the rows of folded nodes, without nodes that some process ran."""
    rows: dict[str, KernelRow] = {}
    for row in (row for run in runs for row in run.rows if row.kind == FOLDED):
        left = tuple(node for node in row.nodes if node not in home)
        home.update(dict.fromkeys(left, row.key))
        known = rows.get(row.key)
        if left:
            rows[row.key] = replace(row, nodes=(*known.nodes, *left) if known is not None else left)
    return [ProcessRow(row, tuple(_idle(row) for _ in runs)) for row in rows.values()]
