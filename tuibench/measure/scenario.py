"""What every scenario gives back, so that the worker reduces one shape of data whatever was driven."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tuibench.core.cell import Noise, Warmup
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


def least_iterations(latency_ns: float) -> int:
    """Ten calls where they fit in 10 s, three where those do, else one; a slow model still gets several executions."""
    if 10 * latency_ns <= 10e9:
        return 10
    return 3 if 3 * latency_ns <= 10e9 else 1
