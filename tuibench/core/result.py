"""The result of a benchmark, read from its journal, for reports, exports and screens."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from tuibench.core.cell import CellResult, Estimate
from tuibench.core.label import CellName
from tuibench.core.model import ModelSummary, Point
from tuibench.core.profile import Profile
from tuibench.core.schema import BENCHMARK
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


@dataclass(frozen=True, slots=True)
class Figure:
    """One operand of a pair, in the unit of the pair."""

    key: str
    """Key of the cell."""
    estimate: Estimate
    grade: str
    """'' if there is none."""
    status: str
    """ok, failed, partial or skipped."""


@dataclass(frozen=True, slots=True)
class CellPair:
    """Two cells with the same requested settings, or with all but one in common."""

    cell: CellName
    bars: tuple[str, ...]
    """Reasons against a verdict, even if both had been measured at the same time: unequal conditions."""
    unit: str
    """ms or items/s."""
    old: Figure
    new: Figure
    comparison: Comparison | None
    """Ratio of times, new / old; None if an operand has no numbers."""
    reason: str = ""
    """Reason for a missing ratio or a missing interval."""

    @property
    def name(self) -> str:
        """Return the settings in words, safe to print."""
        return self.cell.words()


@dataclass(frozen=True, slots=True)
class SideBySide:
    """All cells of two results, paired where possible, and the differences of their environments."""

    old_id: str
    new_id: str
    pairs: tuple[CellPair, ...]
    old_only: tuple[str, ...]
    """Names of cells without a partner."""
    new_only: tuple[str, ...]
    environment: tuple[str, ...]
    """Differences of the machines, or of one machine's states, that affect the speed."""

    @property
    def comparisons(self) -> tuple[Comparison, ...]:
        """Comparisons of the pairs that have one."""
        return tuple(pair.comparison for pair in self.pairs if pair.comparison is not None)
