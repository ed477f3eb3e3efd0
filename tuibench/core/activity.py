"""The view of a run in progress; services build it, shell and dashboard show it."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import field
from typing import TYPE_CHECKING

from tuibench.core.reason import Reason, because
from tuibench.core.value import dataclass

if TYPE_CHECKING:
    from tuibench.core.cell import CellResult
    from tuibench.core.model import ModelSummary
    from tuibench.core.result import RunResult
    from tuibench.core.spec import BenchmarkSpec


WAITING, RUNNING, INTERRUPTED, REBOOTED = "waiting", "running", "interrupted", "rebooted"
CANCELLED, FINISHED, UNSAVED, FAILED, ELSEWHERE = "cancelled", "finished", "unsaved", "failed", "elsewhere"

ALIVE = frozenset({WAITING, RUNNING})
RESUMABLE = frozenset({INTERRUPTED, REBOOTED, UNSAVED})


@dataclass(frozen=True, slots=True)
class Holder:
    """The process that measures on this machine now, by its own report."""

    pid: int
    user: str
    run: str
    """The run's id; '' if the process did not answer."""
    eta_s: float | None
    stopped: bool = False
    """True if its process is stopped, so that waiting may never end."""
    brief: bool = False
    """True if it does not measure: it runs a model once and ends in a moment."""


def holder_reason(holder: Holder | None) -> Reason:
    """Return the lock owner as a reason; holder_unknown for None."""
    return because("holder", **dataclasses.asdict(holder)) if holder is not None else Reason("holder_unknown")


@dataclass(frozen=True, slots=True)
class RunInfo:
    """One run in `ps`."""

    id: str
    state: str
    detail: Reason | None
    """Why it is in this state."""
    started_utc: str
    models: tuple[str, ...]
    name: str
    directory: str
    pid: int | None
    cells: int
    cells_done: int
    executions: int
    eta_s: float | None
    place: int | None = None
    """Place in the queue, 1 is next; None unless waiting."""
    holder: Holder | None = None
    heartbeat_age_s: float | None = None
    resumable: bool = False
    """True if it can be resumed."""
    pid_start: int | None = None
    """Start time of the process `pid`, in ticks since boot."""
    kind: str = ""
    """performance or loss if the run makes a profile: its cells are then the parts, its executions their measurements.
    """


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
class Ahead:
    """The run that a new run of this machine would wait for."""

    run: str
    """Its id; '' if unknown."""
    user: str
    """The user who runs it, for a run outside of this store; else ''."""
    eta_s: float | None
    waiting: int
    """Number of runs of this store that wait for it."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The present store and runs; equal to an earlier one if nothing changed."""

    stamp: str
    """Changes whenever benchmarks, projects or the trash may have changed, by any process."""
    runs: tuple[RunRow, ...]
    notices: tuple[str, ...] = ()
    """Notices of the store."""
    ended: tuple[RunInfo, ...] = ()
    """Runs that were active earlier in this session, have ended and are no longer in `runs`."""

    @property
    def ahead(self) -> Ahead | None:
        """The measuring run, as far as this session knows; None if there is none."""
        infos = [row.info for row in self.runs]
        waiting = sum(info.state == WAITING for info in infos)
        running = next((info for info in infos if info.state == RUNNING), None)
        holder = next((info.holder for info in infos if info.holder is not None), None)
        if running is not None:
            return Ahead(running.id, "", running.eta_s, waiting)
        return Ahead(holder.run, holder.user, holder.eta_s, waiting) if holder is not None else None


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

    activity: Reason | None
    """The current activity."""
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
    project: str = ""
    spec: BenchmarkSpec | None = None
    """None until the run has started."""
    models: tuple[ModelSummary, ...] = ()
    names: Mapping[str, str] = field(default_factory=dict)
    """sha256 of each model to its display name."""
    cells: tuple[CellResult, ...] = ()
    """The planned cells in their order; empty until there is a plan."""
    live: Live | None = None
    executions_min: int = 0
    half_widths: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    """Per cell: the half-width (a fraction) after each execution that allows one."""
    waiting_shares: tuple[float | None, ...] = ()
    """Latest executions, oldest first: the share of time they waited for a CPU."""
    log: tuple[str, ...] = ()
    """Events in words, each with its time, newest last."""
    warnings: tuple[Reason, ...] = ()
    drift: float | None = None
    """Drift of the anchor cell since the start, a fraction."""
    elapsed_s: float = 0.0
    eta_s: float | None = None
    limit_s: float | None = None
    status: str = ""
    """'' while it runs, then finished, cancelled, interrupted or failed."""
    reason: Reason | None = None
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
