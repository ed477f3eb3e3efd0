"""The progress line, a pure function of one snapshot, and a painter that hardly disturbs the measurement."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TextIO

from tuibench.core.cell import Cell
from tuibench.core.label import model_names
from tuibench.core.reason import Failure, failure_words
from tuibench.core.record import to_plain
from tuibench.core.scenario import find
from tuibench.core.spec import BenchmarkSpec
from tuibench.core.text import cut, pad, show, to_ascii, width_of
from tuibench.core.units import count_of, ms, seconds, size
from tuibench.present.amount import with_interval

WIDTH = 79
PAINT_EVERY_S = 1.0
"""1 Hz, so that repainting does not disturb a measurement on the same machine."""
SPEAK_EVERY_S = 30.0


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The state of a run after its last event."""

    done: int
    """Number of finished cells."""
    cells: int
    label: str = ""
    """The cell being measured."""
    p50_ms: float | None = None
    half_width: float | None = None
    """Half width of the 95 % interval, as a fraction."""
    grade: str | None = None
    eta_s: float | None = None
    activity: str = ""
    """Current activity: inspecting, loading, warming up, execution 3 of 5 …"""


def progress_line(snapshot: Snapshot, width: int = WIDTH) -> str:
    """Return one line of at most `width` columns; the least important parts are dropped first."""
    place = f"{min(snapshot.done + 1, snapshot.cells)}/{snapshot.cells}" if snapshot.cells else ""
    estimate = "" if snapshot.p50_ms is None else with_interval(ms(snapshot.p50_ms), snapshot.half_width)
    grade = show(snapshot.grade, 4) if snapshot.grade else ""
    eta = "" if snapshot.eta_s is None else f"{seconds(max(snapshot.eta_s, 0.0))} left"
    label, activity = show(snapshot.label, 60), show(snapshot.activity, 60)
    if not any((place, label, estimate, grade, eta)):
        return cut(show(snapshot.activity, 500), width)
    for parts in ((place, label, estimate, grade, eta, activity), (place, label, estimate, grade, eta)):
        line = " · ".join(filter(None, parts))
        if width_of(line) <= width:
            return line
    # Cut the name rather than the numbers.
    numbers = " · ".join(filter(None, (place, estimate, grade, eta)))
    room = width - width_of(numbers) - 3
    return f"{numbers} · {cut(label, room)}" if label and room >= 8 else cut(numbers, width)


class ProgressPainter:
    """Writes progress to stderr: repainted in place on a terminal, elsewhere as occasional whole lines."""

    def __init__(self, stream: TextIO, clock: Callable[[], float], in_place: bool, ascii_only: bool = False) -> None:
        self._stream = stream
        self._clock = clock
        self._in_place = in_place
        self._ascii_only = ascii_only
        self._spoken_at = clock()
        self._painted_at: float | None = None
        self._shown = ""
        self._gone = False

    def update(self, snapshot: Snapshot) -> None:
        """Show a snapshot if it is time; cheap enough to call at every event."""
        now = self._clock()
        if not self._in_place:
            if now - self._spoken_at >= SPEAK_EVERY_S:
                self._speak(progress_line(snapshot), now)
            return
        if self._painted_at is not None and now - self._painted_at < PAINT_EVERY_S:
            return
        self._painted_at = now
        line = self._encode(progress_line(snapshot))
        if line != self._shown:
            # Blanks overwrite a longer old line: unlike escape codes, every terminal supports them.
            self.write(f"\r{line}{' ' * (width_of(self._shown) - width_of(line))}")
            self._shown = line

    def say(self, text: str) -> None:
        """Print a permanent line, for a finished cell or a warning."""
        self.clear()
        self._speak(show(text, 500), self._clock())

    def cell_done(self, text: str) -> None:
        """Report a finished cell if there is no terminal; on a terminal the repainted line is enough."""
        if not self._in_place:
            self._speak(show(text, 500), self._clock())

    def clear(self) -> None:
        """Erase the line before results or errors are printed."""
        if self._shown:
            self.write(f"\r{' ' * width_of(self._shown)}\r")
            self._shown = ""
            self._painted_at = None

    def _speak(self, line: str, now: float) -> None:
        self.write(self._encode(line) + "\n")
        self._spoken_at = now

    def _encode(self, line: str) -> str:
        # ASCII replacements such as +- are longer than the original.
        return to_ascii(line)[: WIDTH if self._in_place else None] if self._ascii_only else line

    def write(self, text: str) -> None:
        """Print text as it is; after a failed write print nothing more: a closed stderr must not end a measurement."""
        if self._gone:
            return
        try:
            self._stream.write(text)
            self._stream.flush()
        except OSError:
            self._gone = True


def can_repaint(stream: TextIO, term: str) -> bool:
    """Return whether a line can be repainted: the terminal can move its cursor."""
    return stream.isatty() and term not in ("", "dumb")


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
        cut(names[cell.model] if cell.model < len(names) else "-", 24),
        cut(show(asked.engine, 40), 16),
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
