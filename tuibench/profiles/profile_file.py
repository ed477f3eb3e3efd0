"""The profile file of a session: selects the timed runs and checks that all of them were recorded."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from tuibench.core.errors import EngineError
from tuibench.profiles.event import Run, read_events, split_runs

FULL = 1_000_000
"""ONNX Runtime's profiler writes this many events and drops the rest."""


@dataclass(frozen=True, slots=True)
class TimedRuns:
    """The timed runs that the file records."""

    runs: list[Run]
    notes: tuple[str, ...] = ()


@dataclass(slots=True)
class _Counted:
    """The lines of a file, with a count of the events read."""

    lines: Iterable[str]
    events: int = 0

    def __iter__(self) -> Iterator[str]:
        for line in self.lines:
            self.events += line.lstrip().startswith("{")
            yield line


def read_timed(lines: Iterable[str], wanted: int, since_us: float | None, full: int = FULL) -> TimedRuns:
    """Return the last `wanted` runs after `since_us`, without the first of them, which is a warm-up.

    If `since_us` is unknown, a full file is unusable. Raise EngineError if no timed run is found.
    """
    counted = _Counted(lines)
    runs = list(split_runs(read_events(counted), since_us or 0.0))
    is_full = counted.events >= full
    if since_us is None:
        runs = [] if is_full else runs[-wanted:]
    else:
        runs = runs[1:][-wanted:]
    if not runs:
        why = f"its profiler writes down {full:,} events and no more" if is_full else "its profiler told of none"
        raise EngineError(
            f"no inference could be told apart into layers: {why}", "use inputs by which loops turn less often"
        )
    if len(runs) == wanted:
        return TimedRuns(runs)
    why = f", which stops at {full:,} events" if is_full else ""
    return TimedRuns(runs, (f"{len(runs)} of {wanted} profiled runs: the others are not in the profiler's file{why}",))
