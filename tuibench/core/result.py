"""The result of a benchmark, read from its journal, for reports, exports and screens."""

from __future__ import annotations

from dataclasses import field
from typing import Any

from tuibench.core.cell import CellResult, Estimate
from tuibench.core.label import CellName
from tuibench.core.model import ModelSummary, Point
from tuibench.core.profile import Profile
from tuibench.core.reason import Reason, Verdict
from tuibench.core.schema import BENCHMARK
from tuibench.core.spec import BenchmarkSpec
from tuibench.core.value import dataclass


@dataclass(frozen=True, slots=True)
class Comparison:
    """Comparison of two cells."""

    base: str
    new: str
    """Keys of the cells."""
    interleaved: bool
    """True if they were measured in turns."""
    verdict: Verdict

    @staticmethod
    def upgrade(data: Any) -> Any:
        """Return the plain form of what older versions and exports have: all facts in one object."""
        if isinstance(data.get("verdict"), dict):
            return data
        why, named = data.get("why_no_verdict"), data.get("base_name")
        facts = {name: data[name] for name in ("ratio", "low", "high", "n", "metric")}
        facts |= {name: data[name] for name in ("margin", "more_pairs", "more_s", "drift") if name in data}
        facts |= {"kind": data["verdict"], "base": named or "", "new": data.get("new_name") or ""}
        # Comparisons that name their operands have every fact of their sentence.
        facts |= {"reasons": [why] if why else [], "told": "" if named else data.get("sentence", "")}
        return {name: data[name] for name in ("base", "new", "interleaved")} | {"verdict": facts}


@dataclass(frozen=True, slots=True)
class RunSession:
    """One session of a run: a resumed run has several, perhaps under unequal conditions."""

    started_utc: str
    boot_id: str
    executions: int
    """Executions measured in it, over all cells."""
    mixed: tuple[Reason, ...] = ()
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
    warnings: tuple[Reason, ...] = ()
    comparisons: tuple[Comparison, ...] = ()
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
    """True if it was measured concurrently with another benchmark (--share-host)."""
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
    bars: tuple[Reason, ...]
    """Reasons against a verdict, even if both had been measured at the same time: unequal conditions."""
    unit: str
    """ms or items/s."""
    old: Figure
    new: Figure
    comparison: Comparison | None
    """Ratio of times, new / old; None if an operand has no numbers."""
    reason: Reason | None = None
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
    """Names of cells without a matching cell."""
    new_only: tuple[str, ...]
    environment: tuple[Reason, ...]
    """Differences of the machines, or of one machine's states, that affect the speed."""

    @property
    def comparisons(self) -> tuple[Comparison, ...]:
        """Comparisons of the pairs that have one."""
        return tuple(pair.comparison for pair in self.pairs if pair.comparison is not None)

    @property
    def has_wrong_outputs(self) -> bool:
        """True if the outputs of a compared cell differ from the reference."""
        bars = (bar for pair in self.pairs if pair.comparison is not None for bar in pair.bars)
        return any(bar.code == "outputs_differ" for bar in bars)
