"""What a benchmark would do: cells, order, seconds, memory; printed instead of measuring."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from tuibench.core.cell import Cell
from tuibench.core.label import model_names
from tuibench.core.spec import BenchmarkSpec
from tuibench.core.text import show
from tuibench.core.units import count_of, seconds, size
from tuibench.report.style import fit, pad, to_ascii, width_of


@dataclass(frozen=True, slots=True)
class DryRun:
    """A plan with what it will take."""

    spec: BenchmarkSpec
    cells: tuple[Cell, ...]
    """In the order of the first round."""
    expected_s: float
    limit_s: float
    memory_bytes: Mapping[str, int] = field(default_factory=dict)
    """Expected peak by key, where it can be told."""
    notes: tuple[str, ...] = ()


def dry_run_text(plan: DryRun, ascii_only: bool = False) -> str:
    """Return the plan as a table with its totals below."""
    names = model_names(plan.spec.models)
    header = ("", "model", "engine", "scenario", "cores", "batch", "dims", "memory")
    rows = [header, *(_row(i, cell, names, plan.memory_bytes) for i, cell in enumerate(plan.cells, 1))]
    widths = [max(width_of(row[i]) for row in rows) for i in range(len(header))]
    right = {0, 4, 5, 7}
    lines = ["  ".join(pad(t, w, i in right) for i, (t, w) in enumerate(zip(row, widths, strict=True))) for row in rows]
    lines = [line.rstrip() for line in lines] + ["", *_totals(plan)] + [show(note, 500) for note in plan.notes]
    text = "\n".join(lines) + "\n"
    return to_ascii(text) if ascii_only else text


def _row(place: int, cell: Cell, names: list[str], memory: Mapping[str, int]) -> tuple[str, ...]:
    asked = cell.asked
    dims = " ".join(f"{show(name, 24)}={value}" for name, value in asked.dims.items())
    scenario = show(asked.scenario, 12) + (f" x{asked.streams}" if asked.scenario != "sync" else "")
    return (
        str(place),
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
        f"about {seconds(plan.expected_s)}, at most {seconds(plan.limit_s)}",
        f"order: every round runs each cell once, shuffled from seed {plan.spec.inputs.seed}; above is round 1",
    ]
    peak = max(plan.memory_bytes.values(), default=None)
    return lines + ([f"memory: at most about {size(peak)} in one worker"] if peak is not None else [])
