"""One cell of a run: its executions, and its result with a reason for every missing number."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace

from tuibench.core.cell import Cell, CellResult, Check, Estimate, Execution, Grade, Pooled, Samples, Used
from tuibench.core.reason import Failure, Reason, because
from tuibench.stats.grading import grade_noise
from tuibench.stats.interval import half_width, log_interval
from tuibench.stats.percentile import Part, as_part, median, merged_percentile, needed_samples


@dataclass(frozen=True, slots=True)
class Done:
    """One finished execution."""

    execution: Execution
    wall_s: float
    round: int
    session: int = 0
    """Index from 0."""


@dataclass
class Track:
    """The executions of one cell, and whether it needs more."""

    cell: Cell
    done: list[Done] = field(default_factory=list)
    counted: list[str] = field(default_factory=list)
    """I/O class of each execution where a replay only counts them; then `done` stays empty."""
    failure: Failure | None = None
    stopped_by: Reason | None = None
    """Why it needs no more executions; None while it does."""
    pooled: Pooled | None = None
    turns: int = 0
    """Number of executions started, with any outcome; the n of each."""
    crashes: int = 0
    spent_s: float = 0.0
    limit_s: float | None = None
    """Replaces the effort's limit once more time was requested."""
    most: int | None = None
    """Replaces the effort's maximum of executions in the same case."""
    io: str | None = None
    """The forced I/O class, once a cell it will be compared with supports no better one."""
    unlevel: bool = False
    """True if the cell did not support the forced class."""

    @property
    def live(self) -> bool:
        """Return whether the cell needs more executions."""
        return not self.stopped_by and self.failure is None

    @property
    def count(self) -> int:
        """Return the number of finished executions."""
        return len(self.done) + len(self.counted)

    @property
    def executions(self) -> list[Execution]:
        """Return the finished executions."""
        return [one.execution for one in self.done]

    @property
    def logs(self) -> list[float]:
        """Return ln p50 of each execution."""
        return [math.log(one.execution.p50_ns) for one in self.done]

    @property
    def p50_ns(self) -> float | None:
        """Return the geometric mean of the p50s so far."""
        logs = self.logs
        return math.exp(sum(logs) / len(logs)) if logs else None

    @property
    def half_width(self) -> float | None:
        """Return the half-width of the 95 % interval so far."""
        return half_width(self.logs) if self.count >= 2 else None

    @property
    def execution_s(self) -> float:
        """Return the mean wall time of an execution, start included."""
        return self.spent_s / max(1, len(self.done) + self.crashes)

    @property
    def stream_kind(self) -> str | None:
        """Return the kind of the last execution, which fixes it: near a millisecond the rule would alternate."""
        return self.done[-1].execution.used.stream_kind if self.done else None

    def record(self, done: Done) -> None:
        """Add a finished execution."""
        self.done.append(done)
        self.spent_s += done.wall_s

    def crash(self, wall_s: float, failure: Failure | None) -> None:
        """Count a failed execution; `failure` ends the cell, None repeats the execution."""
        self.crashes += 1
        self.spent_s += wall_s
        self.failure = failure

    def reopen(self) -> None:
        """Let the cell have more executions."""
        self.stopped_by, self.pooled = None, None

    def extend(self, limit_s: float, most: int) -> None:
        """Set new bounds and let the cell have more executions."""
        self.limit_s, self.most = limit_s, most
        self.reopen()

    def keep_io(self, io: str) -> None:
        """Drop executions in other I/O classes, with the time they took."""
        self.done[:] = [one for one in self.done if one.execution.used.io == io]
        self.counted[:] = [one for one in self.counted if one == io]
        self.spent_s, self.crashes = 0.0, 0
        self.reopen()


def new_tracks(cells: Iterable[Cell]) -> dict[str, Track]:
    """Return the tracks of planned cells by their keys, in the order of the plan."""
    return {cell.key: Track(cell) for cell in cells}


def count_cells(tracks: Iterable[Track]) -> dict[str, int]:
    """Return the counts of a run; they are part of its last event, so that lists need not read the whole journal."""
    known = list(tracks)
    return {
        "cells": len(known),
        "cells_done": sum(not track.live for track in known),
        "executions": sum(track.count for track in known),
    }


PERCENTILES = ("25.0", "50.0", "75.0", "90.0", "95.0", "99.0", "99.9")
"""The percentiles of deepsparse.benchmark, by their names in its file."""

_MS = 1e-6
_TAILS = {"p90": "90.0", "p95": "95.0", "p99": "99.0", "p99_9": "99.9"}
_CHECK_ORDER = ("agrees", "unchecked", "differs")
_STEADY = ("threads", "streams", "stream_kind", "batch", "precision", "io", "pinned", "engine_version")


def summarize(
    cell: Cell,
    executions: Sequence[Execution],
    *,
    status: str,
    failure: Failure | None = None,
    stopped_by: Reason | None = None,
    pooled: Pooled | None = None,
    items: int = 1,
    sittings: int = 1,
) -> CellResult:
    """Return the result of a cell from its executions; without any, each missing number has a reason."""
    result = CellResult(cell.key, cell.asked, status, failure=failure, stopped_by=stopped_by, items=items)
    if not executions:
        none = Estimate(None, reason=Reason("no_execution"))
        numbers = dict.fromkeys(("p50", *_TAILS, "mean", "std", "floor"), none)
        return replace(result, latency_ms=numbers, items_per_sec=none, items_per_cpu_sec=none)
    return replace(
        result,
        used=_used(executions),
        latency_ms=_latencies(executions, pooled),
        items_per_sec=log_interval([e.calls_per_s for e in executions], items),
        items_per_cpu_sec=_per_cpu_second(executions, items),
        load_ms=median([e.load_ms for e in executions]),
        first_ms=median([e.first_ms for e in executions]),
        memory_bytes=_most_memory(executions),
        grade=grade_executions(executions),
        check=_worst_check(executions),
        pooled=pooled,
        executions=tuple(executions),
        samples=_samples(executions),
        sittings=sittings,
    )


def grade_executions(executions: Sequence[Execution]) -> Grade | None:
    """Return the present grade, also for the progress line."""
    return grade_noise([e.noise for e in executions], math.fsum(e.timed_s for e in executions))


def pool(executions: Sequence[Execution], samples: Iterable[Sequence[float] | None] = (), items: int = 1) -> Pooled:
    """Return deepsparse.benchmark's figures over at least one execution; `samples` in the order of `executions`, ns.

    Mean and deviation come from the moments of all iterations. Percentiles come from the kept samples, weighted by the
    iterations that each represents, or from the histogram of an execution without samples.
    """
    total = sum(e.iterations for e in executions)
    mean = math.fsum(e.iterations * e.mean_ns for e in executions) / total
    square = math.fsum(e.iterations * (e.std_ns**2 + (e.mean_ns - mean) ** 2) for e in executions) / total
    seconds = math.fsum(e.seconds_ran for e in executions)
    kept = list(samples)
    kept += [None] * (len(executions) - len(kept))
    parts = [_part(e, s) for e, s in zip(executions, kept, strict=True)]
    independent = math.fsum(e.effective_n for e in executions)
    values = {
        name: _pooled_percentile(executions, parts, name) if independent >= needed_samples(float(name)) else None
        for name in PERCENTILES
    }
    return Pooled(
        items_per_sec=items * total / seconds if seconds > 0 else 0.0,
        seconds_ran=seconds,
        iterations=total,
        median=values["50.0"] or 0.0,
        mean=mean * _MS,
        std=math.sqrt(square) * _MS,
        percentiles=values,
    )


def _part(execution: Execution, samples: Sequence[float] | None) -> Part:
    if samples is None or len(samples) == 0:
        return as_part(execution.histogram)
    return Part(sorted(samples), execution.iterations / len(samples))


def _pooled_percentile(executions: Sequence[Execution], parts: Sequence[Part], name: str) -> float | None:
    value = merged_percentile(parts, float(name))
    if math.isfinite(value):
        return value * _MS
    # The value is outside the histogram's bins, so the executions' own percentiles are the best estimate.
    known = [(e.iterations, e.percentiles_ns[name]) for e in executions if name in e.percentiles_ns]
    total = sum(count for count, _ in known)
    return math.fsum(count * value for count, value in known) / total * _MS if total else None


def _latencies(executions: Sequence[Execution], pooled: Pooled | None) -> dict[str, Estimate]:
    def over(read: Callable[[Execution], float]) -> Estimate:
        return log_interval([read(e) for e in executions], _MS)

    numbers = {"p50": over(lambda e: e.p50_ns)}
    for name, stored in _TAILS.items():
        numbers[name] = _tail(executions, stored, pooled)
    numbers["mean"] = over(lambda e: e.mean_ns)
    numbers["std"] = over(lambda e: e.std_ns)
    numbers["floor"] = over(lambda e: e.floor_ns)
    return numbers


def _tail(executions: Sequence[Execution], stored: str, pooled: Pooled | None) -> Estimate:
    """Return a high percentile: with its interval if every execution has it, else pooled over all executions."""
    needed = needed_samples(float(stored))
    effective = math.fsum(e.effective_n for e in executions)
    count = len(executions)
    if effective < needed:
        total = sum(e.iterations for e in executions)
        # Dependent iterations count for less, so more of them are needed.
        more = math.ceil((needed - effective) * max(total / effective, 1.0)) if effective > 0 else needed
        return Estimate(None, n=count, reason=because("too_few_iterations", more=more))
    values = [e.percentiles_ns[stored] for e in executions if stored in e.percentiles_ns]
    if len(values) == count:
        return log_interval(values, _MS)
    # A single execution's percentile would be too low, because it has too few iterations in the tail.
    value = pooled.percentiles.get(stored) if pooled is not None else None
    return Estimate(value, n=count, reason=Reason("pooled" if value is not None else "short_execution"))


def _per_cpu_second(executions: Sequence[Execution], items: int) -> Estimate:
    values = [e.iterations / e.cpu_s for e in executions if e.cpu_s is not None and e.cpu_s > 0]
    if not values:
        return Estimate(None, reason=Reason("cpu_time_unread"))
    return log_interval(values, items)


def _most_memory(executions: Sequence[Execution]) -> dict[str, int]:
    names = dict.fromkeys(name for e in executions for name in e.memory_bytes)
    return {name: max(e.memory_bytes[name] for e in executions if name in e.memory_bytes) for name in names}


def _worst_check(executions: Sequence[Execution]) -> Check:
    def severity(check: Check) -> tuple[int, float]:
        # A missing difference counts as the worst.
        return _CHECK_ORDER.index(check.state), math.inf if check.difference is None else check.difference

    return max((e.check for e in executions), key=severity)


def _used(executions: Sequence[Execution]) -> Used:
    """Return the settings read back by the last execution, with a note on each that varied."""
    last = executions[-1].used
    details = dict(last.details)
    for name in _STEADY:
        seen = list(dict.fromkeys(str(getattr(e.used, name)) for e in executions))
        if len(seen) > 1:
            details[f"{name} varied"] = ", ".join(seen)
    rates = [e.used.cpu_seconds_per_second for e in executions if e.used.cpu_seconds_per_second is not None]
    rate = math.fsum(rates) / len(rates) if rates else None
    return replace(last, cpu_seconds_per_second=rate, details=details)


def _samples(executions: Sequence[Execution]) -> Samples:
    """Return the counts of all executions; the file only if there is one execution, since each has its own."""
    kept, total = (sum(getattr(e.samples, name) for e in executions) for name in ("kept", "total"))
    return Samples(kept, total, executions[0].samples.file if len(executions) == 1 else None)
