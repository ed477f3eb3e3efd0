"""What can be seen of a run while it goes on, and of what measures it: made by the workbench, shown by both doors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # a list of runs needs none of what a run that is watched is made of
    from tuibench.core.activity import RunInfo
    from tuibench.core.cell import CellResult
    from tuibench.core.model import ModelSummary
    from tuibench.core.run import RunResult
    from tuibench.core.spec import BenchmarkSpec


@dataclass(frozen=True, slots=True)
class RunRow:
    """A run that is in no list of results yet: it measures, waits, broke off, failed, or could not be saved."""

    info: RunInfo
    project: str
    """The ULID of the project it belongs to; '' where that is not known."""
    engines: str
    scenarios: str
    cores: str
    batches: str
    """Comma-joined axes, as in a BenchmarkRow."""
    rerun_of: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class Live:
    """What the cell is doing that is measured now."""

    cell: str
    """Key."""
    n: int
    round: int
    phase: str
    """In words."""
    p50_ms: float | None
    half_width: float | None
    grade: str | None


AHEAD, NOW, DONE, LOST = "ahead", "now", "done", "failed"
"""States of a part of a profile."""


@dataclass(frozen=True, slots=True)
class Making:
    """How far a run is that makes a profile."""

    activity: str
    """What it is doing, in words; '' where it does nothing."""
    stage: str
    """costs, roofline, zeros, layers, what_if, weights or loss; '' before the first."""
    done: int
    of: int
    """Of what the stage makes many of: processes, layers; 0 where it is one thing."""
    parts: tuple[tuple[str, str], ...]
    """Name and state of each, in their order."""


@dataclass(frozen=True, slots=True)
class RunView:
    """A run as it stands; cells that did not change since the last look are the same objects."""

    info: RunInfo
    project: str
    spec: BenchmarkSpec | None
    """None until the run has begun."""
    models: tuple[ModelSummary, ...]
    names: Mapping[str, str]
    """sha256 of each model to the name it goes by."""
    cells: tuple[CellResult, ...]
    """The plan, in its order; empty until there is one."""
    live: Live | None
    executions_min: int
    half_widths: Mapping[str, tuple[float, ...]]
    """Per cell: the half-width (a fraction) after each of its executions that could tell one."""
    waiting_shares: tuple[float | None, ...]
    """Of the latest executions, oldest first: how much of their time they waited for a CPU."""
    log: tuple[str, ...]
    """What happened, in words, with its time; the newest last."""
    warnings: tuple[str, ...]
    drift: float | None
    """Of the anchor cell since the beginning, a fraction."""
    elapsed_s: float
    eta_s: float | None
    limit_s: float | None
    status: str
    """'' while it goes on, then finished, cancelled, interrupted or failed."""
    reason: str = ""
    saved: bool | None = None
    """None while it goes on; then whether its result is in the store."""
    result: RunResult | None = None
    """Once it has ended and has one."""
    making: Making | None = None
    """Of a profile: then there are no cells."""
    other_machine: bool = False
    """Whether it broke off since the machine does not measure as before: it goes on only as one of two machines."""

    @property
    def ended(self) -> bool:
        """Whether nothing more will come of it."""
        return bool(self.status)
