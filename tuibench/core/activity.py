"""The state of a run, derived from files on disk and never from a process's memory."""

from __future__ import annotations

from dataclasses import dataclass

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


@dataclass(frozen=True, slots=True)
class RunInfo:
    """One run in `ps`."""

    id: str
    state: str
    detail: str
    """Why it is in this state, in words."""
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
