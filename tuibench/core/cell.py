"""One point to measure and what came of it: asked, used, and every number with how far it can be trusted."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from tuibench.core.failure import Failure
from tuibench.core.record import to_plain


@dataclass(frozen=True, slots=True)
class Asked:
    """The identity of a cell: what was asked, never what was found."""

    engine: str
    model_sha256: str
    version: str
    scenario: str
    cores: int
    batch: int | None
    dims: dict[str, int]
    streams: int
    pin: str
    precision: str
    options: dict[str, str]

    @property
    def key(self) -> str:
        """Twelve hex digits that two runs of the same request share."""
        canonical = json.dumps(to_plain(self), sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(canonical.encode()).hexdigest()[:12]


@dataclass(frozen=True, slots=True)
class Cell:
    """A planned cell: what was asked plus where its model and inputs are."""

    key: str
    asked: Asked
    model: int
    point: str


@dataclass(frozen=True, slots=True)
class Used:
    """What was read back while measuring; printed beside what was asked where the two differ."""

    cpus: tuple[int, ...]
    threads: int | None
    streams: int
    stream_kind: str | None
    batch: int | None
    precision: str | None
    io: str
    cpu_seconds_per_second: float | None
    pinned: str
    engine_version: str
    distinct_inputs: int
    details: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Noise:
    """What the machine did to one execution, summed over its blocks."""

    waiting_ns: int | None
    on_cpu_ns: int | None
    steal_share: float | None
    throttled_us: int | None
    canary_drift: float | None
    involuntary_switches: int | None
    disturbed_blocks: int
    blocks: int
    reason: str | None = None
    """Why a reading is missing."""
    minor_faults: int | None = None
    major_faults: int | None = None
    """Pages that had to come from a disk."""
    pressure_us: dict[str, int] = field(default_factory=dict)
    """Time in which somebody on the machine waited for 'cpu', 'memory' or 'io'; empty where the kernel does not say."""
    frequency_mhz: tuple[float, ...] = ()
    """Mean over the CPUs used, before and after; empty without cpufreq."""
    load1: float | None = None


@dataclass(frozen=True, slots=True)
class Check:
    """Whether the outputs are those of the reference."""

    state: str
    """agrees, differs or unchecked."""
    difference: float | None
    tolerance: float | None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Samples:
    """How many iterations were kept beside the result, and where."""

    kept: int
    total: int
    file: str | None


@dataclass(frozen=True, slots=True)
class Warmup:
    """How the warm-up ended."""

    seconds: float
    iterations: int
    settled: bool
    note: str = ""


@dataclass(frozen=True, slots=True)
class Execution:
    """One fresh process measuring one cell once: the statistical unit. Times in nanoseconds per call."""

    iterations: int
    timed_s: float
    """Seconds inside timed blocks."""
    seconds_ran: float
    """First start to last end, with the drain: deepsparse.benchmark's definition."""
    p50_ns: float
    mean_ns: float
    std_ns: float
    floor_ns: float
    percentiles_ns: dict[str, float]
    """'25.0' … '99.9'."""
    effective_n: float
    calls_per_s: float
    """Steady: for streams, completions while all of them were busy."""
    cpu_s: float | None
    load_ms: float
    first_ms: float
    memory_bytes: dict[str, int]
    harness_ns: float
    warmup: Warmup
    noise: Noise
    used: Used
    check: Check
    samples: Samples
    histogram: dict[str, Any]
    """{'low_ns', 'ratio', 'counts'}: at most 256 bins, each at most 1 % wide, plus 'under' and 'over'."""
    series: tuple[tuple[float, float, float], ...]
    """At most 512 points of (min, p50, max) over time."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number with its 95 % interval; None and a reason where it cannot be had."""

    value: float | None
    low: float | None = None
    high: float | None = None
    n: int = 0
    reason: str | None = None

    @property
    def half_width(self) -> float | None:
        """The ± of the value as a fraction, on the log scale the interval was made on; None without an interval."""
        if self.low is None or self.high is None or self.low <= 0:
            return None
        return math.log(self.high / self.low) / 2


@dataclass(frozen=True, slots=True)
class Grade:
    """How disturbed the machine was, with the cause in words."""

    letter: str
    cause: str
    waiting_share: float | None
    steal_share: float | None
    throttled: bool | None


@dataclass(frozen=True, slots=True)
class Pooled:
    """deepsparse.benchmark's definitions: over all iterations of all executions, in milliseconds."""

    items_per_sec: float
    seconds_ran: float
    iterations: int
    median: float
    mean: float
    std: float
    percentiles: dict[str, float | None]
    """None where there are too few iterations for one."""


@dataclass(frozen=True, slots=True)
class CellResult:
    """All of one cell, as stored, exported and shown."""

    key: str
    asked: Asked
    status: str
    """ok, failed, partial or skipped."""
    used: Used | None = None
    failure: Failure | None = None
    latency_ms: dict[str, Estimate] = field(default_factory=dict)
    """p50, p90, p95, p99, p99_9, mean, std, floor."""
    items_per_sec: Estimate = Estimate(None)
    items_per_cpu_sec: Estimate = Estimate(None)
    items: int = 1
    """Items per call."""
    load_ms: float | None = None
    first_ms: float | None = None
    memory_bytes: dict[str, int] = field(default_factory=dict)
    grade: Grade | None = None
    check: Check | None = None
    stopped_by: str = ""
    pooled: Pooled | None = None
    executions: tuple[Execution, ...] = ()
    samples: Samples | None = None
    sittings: int = 1
    """How many stretches of the run its executions come from; more than one only where the run was resumed."""


def by_work(cells: Iterable[CellResult]) -> tuple[tuple[CellResult, ...], ...]:
    """The cells in groups that did the same work: a model and its dims are what is asked for, all else is a choice."""
    groups: dict[tuple[str, tuple[tuple[str, int], ...]], list[CellResult]] = {}
    for cell in cells:
        groups.setdefault((cell.asked.model_sha256, tuple(sorted(cell.asked.dims.items()))), []).append(cell)
    return tuple(map(tuple, groups.values()))
