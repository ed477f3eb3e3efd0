"""Cells: one point to measure, with the settings requested and used, and every number with its precision."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import field
from typing import Any, TypeVar

from tuibench.core.reason import Failure, Reason
from tuibench.core.record import to_plain
from tuibench.core.scenario import LATENCY, THROUGHPUT, find
from tuibench.core.value import ADDED_LATER, TEXT, dataclass


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
    supported: float | None = field(default=None, metadata=ADDED_LATER | {"sparse": True})
    """Share of the operators that the engine itself ran, from 0 to 1; None if it has no other engine inside it."""


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
    others_ns: int | None = field(default=None, metadata=ADDED_LATER | {"sparse": True})
    """CPU time of other processes on the CPUs used; read if own threads outnumber them and so wait for each other."""

    @property
    def waited_ns(self) -> int | None:
        """Time for which own threads waited because of others, at most."""
        if self.waiting_ns is None or self.others_ns is None:
            return self.waiting_ns
        return min(self.waiting_ns, self.others_ns)


@dataclass(frozen=True, slots=True)
class Check:
    """Comparison of the outputs with the reference."""

    state: str
    """agrees, differs or unchecked."""
    difference: float | None
    tolerance: float | None
    reason: Reason | None = None


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
    reason: Reason | None = None

    @property
    def half_width(self) -> float | None:
        """Half of the interval as a fraction, on the log scale; None without an interval."""
        if self.low is None or self.high is None or self.low <= 0:
            return None
        return math.log(self.high / self.low) / 2


@dataclass(frozen=True, slots=True)
class Grade:
    """Disturbance of the machine as a letter, with its cause."""

    letter: str
    cause: Reason | None = field(metadata=TEXT)
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
    stopped_by: Reason | None = field(default=None, metadata=TEXT)
    """Why it has no more executions."""
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


Metric = Callable[[CellResult], Estimate]
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Choice:
    """The best of several cells, and the cells whose intervals overlap with its interval."""

    cell: CellResult
    estimate: Estimate
    tied: tuple[CellResult, ...]


def p50_latency(cell: CellResult) -> Estimate:
    """Return the median milliseconds per batch, with its interval."""
    return cell.latency_ms.get("p50", Estimate(None))


def throughput(cell: CellResult) -> Estimate:
    """Return the items per second while every stream is busy."""
    return cell.items_per_sec


@dataclass(frozen=True, slots=True)
class MainNumber:
    """The number of a cell that its scenario's metric names, for headlines and comparisons."""

    unit: str
    title: str
    """Heading of its values, with the unit."""
    estimate: Callable[[CellResult], Estimate]
    of_pooled: Callable[[Pooled], float]
    of_execution: Callable[[CellResult, Execution], float]
    """The value of one execution in any unit; comparisons use its logarithm."""
    is_time: bool = True
    """False for a rate, of which more is better."""

    def ln_time(self, value: float | None) -> float | None:
        """Return the logarithm of the value, of its inverse for a rate; None unless the value is above zero."""
        if value is None or not value > 0:  # NaN, too: imports may hold it
            return None
        return math.log(value) if self.is_time else -math.log(value)


MAIN_NUMBERS = {
    LATENCY: MainNumber(
        "ms", "p50 ms/batch", p50_latency, lambda pooled: pooled.median, lambda _, execution: execution.p50_ns
    ),
    THROUGHPUT: MainNumber(
        "items/s",
        "items/s",
        throughput,
        lambda pooled: pooled.items_per_sec,
        lambda cell, execution: execution.calls_per_s * cell.items,
        is_time=False,
    ),
}
"""By metric, in the order of headlines."""


def metric_of(cell: CellResult) -> str:
    """Return the metric of a cell's scenario."""
    return find(cell.asked.scenario).metric


def main_number(cell: CellResult) -> MainNumber:
    """Return how the main number of this cell is taken."""
    return MAIN_NUMBERS[metric_of(cell)]


def throughput_per_core(cell: CellResult) -> Estimate:
    """Return the items per second and core."""
    whole, cores = cell.items_per_sec, max(cell.asked.cores, 1)
    value, low, high = (None if v is None else v / cores for v in (whole.value, whole.low, whole.high))
    return Estimate(value, low, high, whole.n, whole.reason)


def is_clean(cell: CellResult) -> bool:
    """Return whether a cell may win: it is right, and its grade is not D."""
    return is_right(cell) and not (cell.grade is not None and cell.grade.letter == "D")


def is_right(cell: CellResult) -> bool:
    """Return whether a cell's own engine ran it and its outputs are not wrong."""
    return not ran_elsewhere(cell) and not (cell.check is not None and cell.check.state == "differs")


def ran_elsewhere(cell: CellResult) -> bool:
    """Return whether the engine left the whole model to the other engine inside it."""
    return cell.used is not None and cell.used.supported == 0


def measured(cells: Sequence[CellResult]) -> list[CellResult]:
    """Return the cells that have numbers."""
    return [c for c in cells if p50_latency(c).value is not None]


def eligible(items: Sequence[T], cell_of: Callable[[T], CellResult]) -> list[T]:
    """Return the items whose cells may win: clean ones; if there are none right ones, and if all are wrong all."""
    right = [item for item in items if is_right(cell_of(item))] or list(items)
    return [item for item in right if is_clean(cell_of(item))] or right


def choose(cells: Sequence[CellResult], metric: Metric, *, most: bool) -> Choice | None:
    """Return the cell with the most (or least) of a metric; None if no cell has it."""
    known = [(c, e, e.value) for c in cells for e in [metric(c)] if e.value is not None]
    known = eligible(known, lambda row: row[0])
    if not known:
        return None
    cell, estimate, _ = (max if most else min)(known, key=lambda row: row[2])
    return Choice(cell, estimate, tuple(c for c, e, _ in known if c is not cell and _overlap(e, estimate)))


def _overlap(a: Estimate, b: Estimate) -> bool:
    """Return whether two intervals overlap; without an interval only the value counts."""
    if a.value is None or b.value is None:
        return False
    a_low, a_high = (a.value, a.value) if a.low is None or a.high is None else (a.low, a.high)
    b_low, b_high = (b.value, b.value) if b.low is None or b.high is None else (b.low, b.high)
    return a_low <= b_high and b_low <= a_high


def best_by_metric(cells: Sequence[CellResult]) -> list[tuple[str, Choice]]:
    """Return each metric with the best of the cells whose scenario has it, in the order of headlines."""
    groups = ((metric, main, [c for c in cells if metric_of(c) == metric]) for metric, main in MAIN_NUMBERS.items())
    found = ((metric, choose(group, main.estimate, most=not main.is_time)) for metric, main, group in groups)
    return [(metric, choice) for metric, choice in found if choice is not None]


def headlined(cells: Sequence[CellResult]) -> CellResult | None:
    """Return the cell whose number starts the headline; None without any number."""
    return next((choice.cell for _, choice in best_by_metric(measured(cells))), None)
