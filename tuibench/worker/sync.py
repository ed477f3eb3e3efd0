"""Runs one request at a time: warm-up until latencies settle, then timed blocks with a noise reading after each."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator
from itertools import cycle, islice, repeat
from time import perf_counter_ns, process_time_ns
from typing import Any

import numpy as np

from tuibench.core.cell import Warmup
from tuibench.host.noise import Witness
from tuibench.stats.stopping import settled
from tuibench.worker.drive import Outcome, Progress, Ready, least_iterations
from tuibench.worker.recording import EVERYTHING, ROOM, Ns, Recording

BLOCK_NS = 10_000_000
"""Shortest duration of a block; a longer call is a block of its own."""
_MOST_CALLS = 1 << 20


def time_block(calls: Iterator[Callable[[], object]], stamps: Any, count: int) -> None:
    """Make `count` calls; stamps[0] is the start and stamps[i] the end of the i-th call."""
    clock = perf_counter_ns
    stamps[0] = clock()
    # A list in one expression takes half the time of a loop that stores each stamp; no call returns the clock.
    stamps[1 : count + 1] = array("l", [clock() for call in islice(calls, count) if call() is not clock])


def next_count(count: int, elapsed_ns: int) -> int:
    """Return the calls for a block of BLOCK_NS, given the time of `count` calls; grow at most tenfold."""
    if elapsed_ns >= BLOCK_NS and (count == 1 or elapsed_ns < 2 * BLOCK_NS):
        return count
    wanted = -(-count * BLOCK_NS // max(elapsed_ns, 1))
    return max(1, min(int(wanted * 1.05) if wanted > 20 else wanted, count * 10, _MOST_CALLS))


def harness_ns(samples: int = 5, calls: int = 2000) -> float:
    """Return the loop's own cost per call compared with an empty loop around the same call; shown, never subtracted."""
    import numpy as np

    def nothing() -> None:
        return None

    stamps = np.zeros(calls + 1, dtype=np.int64).data
    costs = []
    for _ in range(samples):
        time_block(repeat(nothing), stamps, calls)
        looped = stamps[calls] - stamps[0]
        begin = perf_counter_ns()
        for _ in repeat(None, calls):
            nothing()
        costs.append((looped - (perf_counter_ns() - begin)) / calls)
    return max(0.0, sorted(costs)[samples // 2])


Calls = Iterator[Callable[[], object]]
_SLOW_NS = 1_000_000_000
_TELLING_NS = 1_000_000
"""A block shorter than this says little about the duration of a call."""


def rotate(calls: tuple[Callable[[], object], ...]) -> Calls:
    """Return an endless iterator over the samples; a single sample is repeated without the cost of cycling."""
    return repeat(calls[0]) if len(calls) == 1 else cycle(calls)


class Stamps:
    """Buffer for stamps; grows only outside the timed region."""

    def __init__(self) -> None:
        self._array = np.zeros(4097, dtype=np.int64)
        self.view = self._array.data

    def block(self, calls: Calls, count: int) -> tuple[Ns, int]:
        """Time one block; return the duration of each call and of the block."""
        if count + 1 > len(self._array):
            self._array = np.zeros(2 * count + 1, dtype=np.int64)
            self.view = self._array.data
        time_block(calls, self.view, count)
        durations: Ns = np.diff(self._array[: count + 1])
        return durations, int(self._array[count] - self._array[0])


def warm(calls: Calls, stamps: Stamps, cap_s: float, first_ns: float, progress: Progress) -> tuple[Warmup, int, float]:
    """Run until blocks agree or the cap is reached; return the warm-up, the calls per block and their latency."""
    if first_ns >= max(_SLOW_NS, cap_s * 1e9):
        return (
            Warmup(0.0, 0, False, "none: one call is longer than the warm-up, the first inference was it"),
            1,
            first_ns,
        )
    begin = perf_counter_ns()
    count, done = 1, 0
    series: list[float] = []
    state = settled(series)
    while True:
        durations, _ = stamps.block(calls, count)
        done += len(durations)
        spent = perf_counter_ns() - begin
        quick_ns = float(np.percentile(durations, 10))
        # Use the undisturbed duration of a call: wall time on a busy machine would never settle.
        wanted = next_count(count, int(quick_ns * count))
        if count * quick_ns >= _TELLING_NS:
            series.append(quick_ns)
            state = settled(series)
            progress("warmup", float(np.median(durations)))
        if (state.ok and wanted == count) or spent >= cap_s * 1e9:
            break
        count = wanted
    note = state.note if state.ok else f"{state.note}: not settled within {cap_s:g} s"
    return Warmup(spent / 1e9, done, state.ok, note), count, quick_ns


def measure_sync(
    calls: tuple[Callable[[], object], ...],
    *,
    warmup_s: float,
    timed_s: float,
    first_ns: float,
    witness: Witness,
    progress: Progress,
    after_warmup: Callable[[], None],
    keep_all: bool = False,
) -> Outcome:
    """Run the warm-up and the timed part of one synchronous execution, after its first inference."""
    turning = rotate(calls)
    stamps = Stamps()
    warmup, count, latency_ns = warm(turning, stamps, warmup_s, first_ns, progress)
    after_warmup()
    recording = Recording(EVERYTHING if keep_all else ROOM)
    min_iterations = least_iterations(latency_ns)
    witness.start()
    cpu_begin = process_time_ns()
    while recording.timed_ns < timed_s * 1e9 or recording.total < min_iterations:
        durations, elapsed = stamps.block(turning, _fit(count, recording, timed_s, min_iterations))
        witness.mark()
        recording.add(durations, elapsed)
        progress("timed", float(np.median(durations)))
    cpu_s = (process_time_ns() - cpu_begin) / 1e9
    noise = witness.finish()
    seconds = recording.timed_ns / 1e9
    return Outcome(recording, warmup, noise, seconds, recording.total / seconds, cpu_s, None, 1, None, len(calls))


def drive(ready: Ready) -> Outcome:
    """Measure one request at a time."""
    job = ready.job
    ready.enter_timed(ready.first_ns, 1.0)
    return measure_sync(
        ready.bound.calls,
        warmup_s=job.warmup_s,
        timed_s=job.timed_s,
        first_ns=ready.first_ns,
        witness=Witness(job.cpus),
        progress=ready.progress,
        after_warmup=ready.after_warmup,
        keep_all=job.keep_raw,
    )


def _fit(count: int, recording: Recording, timed_s: float, min_iterations: int) -> int:
    """Return the calls of the next block: a full one, or as many as the rest of the time or the least count needs."""
    if recording.total == 0:
        return count
    left = int((timed_s * 1e9 - recording.timed_ns) / max(recording.mean_ns, 1.0)) + 1
    return max(1, min(count, max(left, min_iterations - recording.total)))
