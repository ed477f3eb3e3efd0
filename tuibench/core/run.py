"""The result of a benchmark, read from its journal, for reports, exports and screens."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from tuibench.core.cell import CellResult
from tuibench.core.form import BENCHMARK
from tuibench.core.model import ModelSummary, Point
from tuibench.core.profile import Profile
from tuibench.core.spec import BenchmarkSpec


@dataclass(frozen=True, slots=True)
class Comparison:
    """Comparison of two operands: ratio is new / base of latency, with its 95 % interval."""

    base: str
    new: str
    """Keys of the cells."""
    metric: str
    """p50 latency, or items/s for streams."""
    ratio: float
    low: float | None
    high: float | None
    n: int
    interleaved: bool
    verdict: str | None
    """faster, slower, equivalent or undecided; None if a verdict is not allowed."""
    why_no_verdict: str | None
    sentence: str = ""
    """The sentence of a record of an older version, which lacks the fields below; shown unchanged."""
    base_name: str = ""
    new_name: str = ""
    margin: float = 0.02
    """Differences below it count as equivalent."""
    more_pairs: int | None = None
    """Pairs that would decide an undecided comparison; None if more pairs would not."""
    more_s: float | None = None
    """Seconds for those pairs."""


@dataclass(frozen=True, slots=True)
class RunSession:
    """One session of a run: a resumed run has several, perhaps under unequal conditions."""

    started_utc: str
    boot_id: str
    executions: int
    """Executions measured in it, over all cells."""
    mixed: tuple[str, ...] = ()
    """Changes of the machine since the previous session; such a run resumes only with --mixed."""


@dataclass(frozen=True, slots=True)
class RunResult:
    """The result of a finished, cancelled or interrupted run."""

    id: str
    status: str
    """finished, cancelled or interrupted."""
    spec: BenchmarkSpec
    models: tuple[ModelSummary, ...]
    points: tuple[Point, ...]
    cells: tuple[CellResult, ...]
    environment: dict[str, Any]
    versions: dict[str, str]
    started_utc: str
    seconds: float
    warnings: tuple[str, ...] = ()
    comparisons: tuple[Comparison, ...] = ()
    conclusions: tuple[str, ...] = ()
    anchor: dict[str, Any] = field(default_factory=dict)
    """Drift of the cheapest cell over the run."""
    schema: int = BENCHMARK
    """The lowest schema version able to read it."""
    host: str = ""
    """The id of the machine; its name is never stored."""
    sittings: tuple[RunSession, ...] = ()
    waited_s: float = 0.0
    """Time in the queue behind other benchmarks on this machine."""
    shared_host: bool = False
    """True if it was measured beside another benchmark with --share-host."""
    foreign: str = ""
    """The tool that measured it, if another one; its numbers have no grade and no interval."""
    profile: Profile | None = None
    """The result of a profile; then there are no cells."""
