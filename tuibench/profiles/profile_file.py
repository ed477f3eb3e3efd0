"""The file that a profiled session leaves: which of its runs were timed, and whether they are all in it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from tuibench.core.errors import EngineError
from tuibench.profiles.event import Run, read_events, split_runs

FULL = 1_000_000
"""ONNX Runtime's profiler writes so many events and drops what comes after."""


@dataclass(frozen=True, slots=True)
class TimedRuns:
    """The runs that were timed, as far as they were written down."""

    runs: list[Run]
    notes: tuple[str, ...] = ()


@dataclass(slots=True)
class _Counted:
    """The lines of a file, and how many of them were events."""

    lines: Iterable[str]
    events: int = 0

    def __iter__(self) -> Iterator[str]:
        for line in self.lines:
            self.events += line.lstrip().startswith("{")
            yield line


def read_timed(lines: Iterable[str], wanted: int, since_us: float | None, full: int = FULL) -> TimedRuns:
    """The last `wanted` runs; those before `since_us` are no timed ones, and neither is the first one after it.

    Where it is not known when the timed ones began, a file that is full tells nothing of them. EngineError for none.
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
