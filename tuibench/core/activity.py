"""A run as seen from outside: its state is derived from what lies on disk, never from what a process remembers."""

from __future__ import annotations

from dataclasses import dataclass

WAITING, RUNNING, INTERRUPTED, REBOOTED = "waiting", "running", "interrupted", "rebooted"
CANCELLED, FINISHED, UNSAVED, FAILED, ELSEWHERE = "cancelled", "finished", "unsaved", "failed", "elsewhere"

ALIVE = frozenset({WAITING, RUNNING})
RESUMABLE = frozenset({INTERRUPTED, REBOOTED, UNSAVED})


@dataclass(frozen=True, slots=True)
class Holder:
    """Who measures on this machine now, as far as it tells."""

    pid: int
    user: str
    run: str
    """The run's id; '' where it did not answer."""
    eta_s: float | None
    stopped: bool = False
    """Whether its process is stopped, so that waiting for it may take for ever."""
    brief: bool = False
    """Whether it measures nothing, only runs a model once, and is gone in a moment."""


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
    """In the queue, 1 is next; only while waiting."""
    holder: Holder | None = None
    heartbeat_age_s: float | None = None
    resumable: bool = False
    """Whether it can be taken up where it broke off."""
    pid_start: int | None = None
    """When the process of that number began, in ticks since the boot."""
    kind: str = ""
    """performance or loss where it makes a profile: then cells are its parts, executions what is measured of them."""
