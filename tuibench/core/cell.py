"""Cells: one point to measure, with the settings requested and used, and every number with its precision."""

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
    """The identity of a cell: the requested settings, not the observed ones."""

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
        """Twelve hex digits, equal in two runs of the same request."""
        canonical = json.dumps(to_plain(self), sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(canonical.encode()).hexdigest()[:12]


@dataclass(frozen=True, slots=True)
class Cell:
    """A planned cell: its requested settings, and the places of its model and inputs."""

    key: str
    asked: Asked
    model: int
    point: str


@dataclass(frozen=True, slots=True)
class Used:
    """Settings read back while measuring; printed beside the requested ones where they differ."""

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
    """Disturbances of one execution by the machine, summed over its blocks."""

    waiting_ns: int | None
    on_cpu_ns: int | None
    steal_share: float | None
    throttled_us: int | None
    canary_drift: float | None
    involuntary_switches: int | None
    disturbed_blocks: int
    blocks: int
    reason: str | None = None
    """Reason why a reading is missing."""
    minor_faults: int | None = None
    major_faults: int | None = None
    """Page faults that needed the disk."""
    pressure_us: dict[str, int] = field(default_factory=dict)
    """Time in which some task of the machine waited for 'cpu', 'memory' or 'io'; empty if not reported."""
    frequency_mhz: tuple[float, ...] = ()
    """Mean over the CPUs used, before and after; empty without cpufreq."""
    load1: float | None = None


@dataclass(frozen=True, slots=True)
class Check:
    """Comparison of the outputs with the reference."""

    state: str
    """agrees, differs or unchecked."""
    difference: float | None
    tolerance: float | None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Samples:
    """Number of iterations stored beside the result, and their file."""

    kept: int
    total: int
    file: str | None


@dataclass(frozen=True, slots=True)
class Warmup:
    """Duration and end of the warm-up."""

    seconds: float
    iterations: int
    settled: bool
    note: str = ""


@dataclass(frozen=True, slots=True)
class Execution:
    """One fresh process that measures one cell once: the statistical unit. Times are in nanoseconds per call."""

    iterations: int
    timed_s: float
    """Seconds inside timed blocks."""
    seconds_ran: float
    """From the first start to the last end, including the drain, as deepsparse.benchmark defines it."""
    p50_ns: float
    mean_ns: float
    std_ns: float
    floor_ns: float
    percentiles_ns: dict[str, float]
    """Keys '25.0' to '99.9'."""
    effective_n: float
    calls_per_s: float
    """Steady rate: for streams, completions while all of them were busy."""
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
    """A number with its 95 % interval; None and a reason if it is missing."""

    value: float | None
    low: float | None = None
    high: float | None = None
    n: int = 0
    reason: str | None = None

    @property
    def half_width(self) -> float | None:
        """Half of the interval as a fraction, on the log scale; None without an interval."""
        if self.low is None or self.high is None or self.low <= 0:
            return None
        return math.log(self.high / self.low) / 2


@dataclass(frozen=True, slots=True)
class Grade:
    """Disturbance of the machine as a letter, with its cause in words."""

    letter: str
    cause: str
    waiting_share: float | None
    steal_share: float | None
    throttled: bool | None


@dataclass(frozen=True, slots=True)
class Pooled:
    """Figures as deepsparse.benchmark defines them: over all iterations of all executions, in milliseconds."""

    items_per_sec: float
    seconds_ran: float
    iterations: int
    median: float
    mean: float
    std: float
    percentiles: dict[str, float | None]
    """None if there are too few iterations for a percentile."""


@dataclass(frozen=True, slots=True)
class CellResult:
    """The result of one cell, as stored, exported and shown."""

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
    """Number of sessions that its executions come from; more than one only if the run was resumed."""


def by_work(cells: Iterable[CellResult]) -> tuple[tuple[CellResult, ...], ...]:
    """Group cells that did the same work: the same model and dims. All other settings are choices."""
    groups: dict[tuple[str, tuple[tuple[str, int], ...]], list[CellResult]] = {}
    for cell in cells:
        groups.setdefault((cell.asked.model_sha256, tuple(sorted(cell.asked.dims.items()))), []).append(cell)
    return tuple(map(tuple, groups.values()))
