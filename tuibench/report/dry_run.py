"""The plan of a benchmark: cells, order, seconds, memory; printed instead of measuring."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from tuibench.core.cell import Cell
from tuibench.core.failure import Failure, failure_words
from tuibench.core.label import model_names
from tuibench.core.record import to_plain
from tuibench.core.scenario import find
from tuibench.core.spec import BenchmarkSpec
from tuibench.core.text import show
from tuibench.core.units import count_of, seconds, size
from tuibench.report.style import fit, pad, to_ascii, width_of

SCHEMA = 1


@dataclass(frozen=True, slots=True)
class DryRun:
    """A plan with its expected time and memory."""

    spec: BenchmarkSpec
    cells: tuple[Cell, ...]
    """Cells that will be measured, in the order of the first round."""
    expected_s: float
    limit_s: float
    memory_bytes: Mapping[str, int] = field(default_factory=dict)
    """Expected peak memory by cell key, if known."""
    notes: tuple[str, ...] = ()
    failed: tuple[tuple[Cell, Failure], ...] = ()
    """Cells that will not be measured because their inputs fail already."""


def dry_run_text(plan: DryRun, ascii_only: bool = False) -> str:
    """Return the plan as a table with its totals below."""
    names = model_names(plan.spec.models)
    header = ("", "model", "engine", "scenario", "cores", "batch", "dims", "memory")
    rows = [header, *(_row(str(i), cell, names, plan.memory_bytes) for i, cell in enumerate(plan.cells, 1))]
    every = rows + [_row("-", cell, names, {}) for cell, _ in plan.failed]
    widths = [max(width_of(row[i]) for row in every) for i in range(len(header))]
    right = {0, 4, 5, 7}
    lines = ["  ".join(pad(t, w, i in right) for i, (t, w) in enumerate(zip(row, widths, strict=True))) for row in rows]
    for cell, failure in plan.failed:
        left = _row("-", cell, names, {})[:-1]
        row = "  ".join(pad(t, w, i in right) for i, (t, w) in enumerate(zip(left, widths, strict=False)))
        lines.append(f"{row}  {failure_words(failure)}")
    lines = [line.rstrip() for line in lines] + ["", *_totals(plan)] + [show(note, 500) for note in plan.notes]
    text = "\n".join(lines) + "\n"
    return to_ascii(text) if ascii_only else text


def dry_run_json(plan: DryRun) -> str:
    """Return the plan as one JSON object, with the facts by which a script decides whether to start."""
    sources = plan.spec.models
    cells = [*((cell, None) for cell in plan.cells), *plan.failed]
    document = {
        "schema": SCHEMA,
        "cells": [
            {
                "key": cell.key,
                "model": sources[cell.model].asked if cell.model < len(sources) else None,
                "asked": to_plain(cell.asked),
                "memory_bytes": plan.memory_bytes.get(cell.key),
                "failure": to_plain(failure),
            }
            for cell, failure in cells
        ],
        "order": [cell.key for cell in plan.cells],
        "expected_s": plan.expected_s,
        "limit_s": plan.limit_s,
        "memory_bytes": max(plan.memory_bytes.values(), default=None),
        "notes": list(plan.notes),
    }
    # ASCII, since foreign names may contain terminal escape sequences.
    return json.dumps(document, indent=2, ensure_ascii=True, allow_nan=False) + "\n"


def _row(place: str, cell: Cell, names: list[str], memory: Mapping[str, int]) -> tuple[str, ...]:
    asked = cell.asked
    dims = " ".join(f"{show(name, 24)}={value}" for name, value in asked.dims.items())
    scenario = show(asked.scenario, 12) + (f" x{asked.streams}" if find(asked.scenario).has_streams else "")
    return (
        place,
        fit(names[cell.model] if cell.model < len(names) else "-", 24),
        fit(show(asked.engine, 40), 16),
        scenario,
        str(asked.cores),
        "-" if asked.batch is None else str(asked.batch),
        dims or "-",
        size(memory[cell.key]) if cell.key in memory else "-",
    )


def _totals(plan: DryRun) -> list[str]:
    effort = plan.spec.effort
    low, high = effort.min_executions, effort.max_executions
    times = count_of(low, "execution") if low == high else f"{low} to {high} executions"
    goal = "" if effort.target is None else f", until ±{effort.target * 100:g} % or {seconds(effort.limit_s)} per cell"
    timed = f"each {times} of {effort.timed_s:g} s after a warm-up of at most {effort.warmup_s:g} s{goal}"
    lines = [
        f"{count_of(len(plan.cells), 'cell')}, {timed}",
        *([f"{count_of(len(plan.failed), 'cell')} will fail"] if plan.failed else []),
        f"about {seconds(plan.expected_s)}, at most {seconds(plan.limit_s)}",
        f"order: every round runs each cell once, shuffled from seed {plan.spec.inputs.seed}; above is round 1",
    ]
    peak = max(plan.memory_bytes.values(), default=None)
    return lines + ([f"memory: at most about {size(peak)} in one worker"] if peak is not None else [])
