"""A whole benchmark as read back from its journal: what reports, exports and screens show."""

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
    """Two sides held against each other: ratio is new / base of latency, with its 95 % interval."""

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
    """faster, slower, equivalent or undecided; None where no verdict may be given."""
    why_no_verdict: str | None
    sentence: str = ""
    """Of a record of an older version, which lacks what follows; shown as it is."""
    base_name: str = ""
    new_name: str = ""
    margin: float = 0.02
    """Differences below it count as equivalent."""
    more_pairs: int | None = None
    """Pairs that would settle an undecided comparison; None where more pairs would not."""
    more_s: float | None = None
    """Seconds that they take."""


@dataclass(frozen=True, slots=True)
class Sitting:
    """One uninterrupted stretch of a run: a run that was resumed has several, perhaps not under equal conditions."""

    started_utc: str
    boot_id: str
    executions: int
    """Measured in it, over all cells."""
    mixed: tuple[str, ...] = ()
    """What had changed on the machine since the sitting before; only --mixed lets a run go on then."""


@dataclass(frozen=True, slots=True)
class RunResult:
    """Everything a finished, cancelled or broken run has to say."""

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
    """The least form whose readers understand it."""
    host: str = ""
    """The id of the machine; a name of it never leaves the machine."""
    sittings: tuple[Sitting, ...] = ()
    waited_s: float = 0.0
    """For another benchmark on this machine to end."""
    shared_host: bool = False
    """Whether it was measured beside another benchmark, as --share-host allows."""
    foreign: str = ""
    """The tool that measured it where that was not tuibench: such numbers carry no grade and no interval."""
    profile: Profile | None = None
    """What was found of the layers, where that was asked; then there are no cells."""
