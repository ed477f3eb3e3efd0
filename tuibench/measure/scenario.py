"""The seam between the worker and the drive of a scenario: what a drive gets, and what it returns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import cast

from tuibench.core.cell import Noise, Warmup
from tuibench.engines.protocol import Bound, Engine, Feed, Session, Setting
from tuibench.measure.job import Job
from tuibench.measure.loading import Share
from tuibench.measure.recording import Recording

Progress = Callable[[str, float], None]
"""Called between blocks with the phase and the median so far in ns; it decides what to send."""


@dataclass(slots=True)
class Outcome:
    """One timed part."""

    recording: Recording
    warmup: Warmup
    noise: Noise
    seconds_ran: float
    calls_per_s: float
    cpu_s: float
    streams_bytes: int | None
    """Peaks of the streams together, where they are processes of their own."""
    streams: int
    stream_kind: str | None
    distinct: int = 1
    """Samples that took turns."""
    threads: int | None = None
    """Counted, where they can be."""


@dataclass(slots=True)
class Ready:
    """A model loaded, bound and checked: what a drive measures."""

    job: Job
    engine: Engine
    setting: Setting
    shares: Sequence[Share]
    """CPUs and threads of each stream."""
    own_queue: bool
    """Whether the streams are the engine's own queue."""
    session: Session
    feeds: Sequence[Feed]
    bound: Bound
    first_ns: float
    load_more: Callable[[], None]
    """Called before every further load, which takes its own time."""
    enter_timed: Callable[[float, float], None]
    """Called with the latency of a call in ns and the number of streams per CPU before the warm-up begins."""
    progress: Progress
    after_warmup: Callable[[], None]
    hand_over: Callable[[], None]
    """Called when the session gives way to processes, so that no other I/O class can be tried."""


Drive = Callable[[Ready], "Outcome"]


def load_drive(place: str) -> Drive:
    """Import the drive of a scenario from `module:attribute`."""
    module, _, name = place.partition(":")
    return cast(Drive, getattr(import_module(module), name))


def least_iterations(latency_ns: float) -> int:
    """Ten calls where they fit in 10 s, three where those do, else one; a slow model still gets several executions."""
    if 10 * latency_ns <= 10e9:
        return 10
    return 3 if 3 * latency_ns <= 10e9 else 1
