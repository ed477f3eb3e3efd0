"""Interface of a scenario's drive: from a loaded model to timed calls. `sync.py` is the shortest drive."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import cast

from tuibench.core.cell import Noise, Warmup
from tuibench.engines.protocol import Bound, Engine, Feed, LoadSettings, Session
from tuibench.worker.job import Job
from tuibench.worker.loading import Share
from tuibench.worker.recording import Recording

Progress = Callable[[str, float], None]
"""Called between blocks with the phase and the median so far in ns; the receiver decides what to send."""


@dataclass(slots=True)
class Outcome:
    """Result of one timed part."""

    recording: Recording
    warmup: Warmup
    noise: Noise
    seconds_ran: float
    calls_per_s: float
    cpu_s: float
    streams_bytes: int | None
    """Sum of the streams' memory peaks, if they are separate processes."""
    streams: int
    stream_kind: str | None
    distinct: int = 1
    """Number of distinct samples used in turn."""
    threads: int | None = None
    """Counted threads; None if they cannot be counted."""


@dataclass(slots=True)
class Ready:
    """A model that is loaded, bound and checked, ready for a drive to measure."""

    job: Job
    engine: Engine
    setting: LoadSettings
    shares: Sequence[Share]
    """CPUs and threads of each stream."""
    own_queue: bool
    """True if the engine's own queue provides the streams."""
    session: Session
    feeds: Sequence[Feed]
    bound: Bound
    first_ns: float
    load_more: Callable[[], None]
    """Called before every further load, because each load takes its own time."""
    enter_timed: Callable[[float, float], None]
    """Called before the warm-up with the latency of a call in ns and the number of streams per CPU."""
    progress: Progress
    after_warmup: Callable[[], None]
    hand_over: Callable[[], None]
    """Called when processes replace the session; after that, no other I/O class can be tried."""


Drive = Callable[[Ready], "Outcome"]


def load_drive(place: str) -> Drive:
    """Import the drive of a scenario from `module:attribute`."""
    module, _, name = place.partition(":")
    return cast(Drive, getattr(import_module(module), name))


def least_iterations(latency_ns: float) -> int:
    """Return ten calls if they fit in 10 s, three if those do, else one; a slow model still gets several executions."""
    if 10 * latency_ns <= 10e9:
        return 10
    return 3 if 3 * latency_ns <= 10e9 else 1
