"""The view of a run in progress; services build it, shell and dashboard show it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # types only: listing runs must not import the parts of a watched run
    from tuibench.core.activity import RunInfo
    from tuibench.core.cell import CellResult
    from tuibench.core.model import ModelSummary
    from tuibench.core.run import RunResult
    from tuibench.core.spec import BenchmarkSpec


@dataclass(frozen=True, slots=True)
class RunRow:
    """A run without a saved result: it measures, waits, was interrupted, failed, or could not be saved."""

    info: RunInfo
    project: str
    """The ULID of its project; '' if unknown."""
    engines: str
    scenarios: str
    cores: str
    batches: str
    """Comma-joined axes, as in a BenchmarkRow."""
    rerun_of: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class Live:
    """The progress of the cell that is measured now."""

    cell: str
    """The cell's key."""
    n: int
    round: int
    phase: str
    """The phase in words."""
    p50_ms: float | None
    half_width: float | None
    grade: str | None


AHEAD, NOW, DONE, LOST = "ahead", "now", "done", "failed"
"""States of a part of a profile."""


@dataclass(frozen=True, slots=True)
class Making:
    """Progress of a run that makes a profile."""

    activity: str
    """The current activity in words; '' if there is none."""
    stage: str
    """costs, roofline, zeros, layers, what_if, weights or loss; '' before the first."""
    done: int
    of: int
    """Items of the stage, such as processes or layers; 0 if the stage is a single step."""
    parts: tuple[tuple[str, str], ...]
    """Name and state of each part, in order."""


@dataclass(frozen=True, slots=True)
class RunView:
    """A run at the last poll; cells that did not change since the poll before are the same objects."""

    info: RunInfo
    project: str
    spec: BenchmarkSpec | None
    """None until the run has started."""
    models: tuple[ModelSummary, ...]
    names: Mapping[str, str]
    """sha256 of each model to its display name."""
    cells: tuple[CellResult, ...]
    """The planned cells in their order; empty until there is a plan."""
    live: Live | None
    executions_min: int
    half_widths: Mapping[str, tuple[float, ...]]
    """Per cell: the half-width (a fraction) after each execution that allows one."""
    waiting_shares: tuple[float | None, ...]
    """Latest executions, oldest first: the share of time they waited for a CPU."""
    log: tuple[str, ...]
    """Events in words, each with its time, newest last."""
    warnings: tuple[str, ...]
    drift: float | None
    """Drift of the anchor cell since the start, a fraction."""
    elapsed_s: float
    eta_s: float | None
    limit_s: float | None
    status: str
    """'' while it runs, then finished, cancelled, interrupted or failed."""
    reason: str = ""
    saved: bool | None = None
    """None while it runs; then True if its result is in the store."""
    result: RunResult | None = None
    """The result, if the run has ended with one."""
    making: Making | None = None
    """Progress of a profile; a profile has no cells."""
    other_machine: bool = False
    """True if it was interrupted because the machine now measures differently: it resumes only as mixed machines."""

    @property
    def ended(self) -> bool:
        """True if the run has ended."""
        return bool(self.status)
