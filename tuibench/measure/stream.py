"""N streams at once in one process: a thread and a session each, or the engine's own queue."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from time import perf_counter_ns, process_time_ns
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tuibench.core.cell import Warmup
from tuibench.engines.protocol import Queue
from tuibench.host.noise import Witness
from tuibench.measure.recording import Ns, Recording
from tuibench.measure.scenario import Outcome, Progress, least_iterations
from tuibench.stats.warmup import settled

Stamps = NDArray[np.int64]
_SLICE_NS = 100_000_000


def run_until(calls: Iterator[Callable[[], object]], stamps: Any, until_ns: int, most: int) -> int:
    """Call until a stamp passes `until_ns`; stamps[0] is the start, and the number of calls comes back."""
    clock = perf_counter_ns
    now = stamps[0] = clock()
    count = 0
    for count, call in enumerate(islice(calls, most), 1):
        call()
        now = stamps[count] = clock()
        if now >= until_ns:
            break
    return count


class ThreadStreams:
    """Streams that are already loaded and pinned by their own threads, released together for each part."""

    def __init__(self, makers: Sequence[Callable[[], Iterator[Callable[[], object]]]]) -> None:
        self._count = len(makers)
        self._gate = threading.Barrier(self._count + 1)
        self._plan: tuple[int, int] | None = None
        self._results: list[Stamps] = [np.zeros(0, dtype=np.int64)] * self._count
        self._errors: list[BaseException] = []
        self._threads = [
            threading.Thread(target=self._live, args=(i, make), daemon=True) for i, make in enumerate(makers)
        ]
        # One after the other: sessions being made at the same time would share each other's CPUs.
        for thread in self._threads:
            self._ready = threading.Event()
            thread.start()
            self._ready.wait()
        self._raise()

    def run(self, duration_ns: int, most: int) -> list[Stamps]:
        """Keep every stream busy for a time; one array of stamps per stream."""
        self._plan = (perf_counter_ns() + duration_ns, most)
        self._gate.wait()
        self._gate.wait()
        self._raise()
        return self._results

    def close(self) -> None:
        """End the threads."""
        self._plan = None
        if not self._gate.broken:
            self._gate.wait()
        for thread in self._threads:
            thread.join()

    def _raise(self) -> None:
        if self._errors:
            self._gate.abort()
            raise self._errors[0]

    def _live(self, index: int, make: Callable[[], Iterator[Callable[[], object]]]) -> None:
        try:
            calls = make()
        except BaseException as error:  # handed to the thread that waits, which raises it
            self._errors.append(error)
            self._ready.set()
            return
        self._ready.set()
        buffer = np.zeros(1, dtype=np.int64)
        while True:
            try:
                self._gate.wait()
            except threading.BrokenBarrierError:
                return
            if self._plan is None:
                return
            until, most = self._plan
            if len(buffer) < most + 1:
                buffer = np.zeros(most + 1, dtype=np.int64)
            try:
                count = run_until(calls, buffer.data, until, most)
                self._results[index] = buffer[: count + 1].copy()
            except BaseException as error:  # likewise
                self._errors.append(error)
            self._gate.wait()


def spans_of_threads(stamps: Sequence[Stamps]) -> tuple[Ns, Ns]:
    """Starts and ends of every call of streams that call back to back."""
    return np.concatenate([s[:-1] for s in stamps]), np.concatenate([s[1:] for s in stamps])


def steady_rate(per_stream: Sequence[tuple[Ns, Ns]]) -> float:
    """Completions per second between the first and the last instant when all streams were busy."""
    busy = [(s, e) for s, e in per_stream if len(e)]
    begin = max(int(s.min()) for s, _ in busy)
    end = min(int(e.max()) for _, e in busy)
    ends = np.concatenate([e for _, e in busy])
    done = int(((ends > begin) & (ends <= end)).sum())
    if end <= begin or done == 0:
        first, last = min(int(s.min()) for s, _ in busy), int(ends.max())
        return len(ends) / ((last - first) / 1e9)
    return done / ((end - begin) / 1e9)


Drive = Callable[[int, int], list[tuple[Ns, Ns]]]
"""Run for so many ns and at most so many calls per stream; (starts, ends) of each stream."""


def drive_threads(streams: ThreadStreams) -> Drive:
    """Threads as a drive."""
    return lambda duration, most: [(s[:-1], s[1:]) for s in streams.run(duration, most)]


def drive_queue(queue: Queue, streams: int) -> Drive:
    """The engine's queue as a drive: all its streams are busy from the N-th start to the N-th last end."""

    def run(duration_ns: int, most: int) -> list[tuple[Ns, Ns]]:
        starts, ends = (np.zeros(most * streams, dtype=np.int64) for _ in range(2))
        count = queue.run(perf_counter_ns() + duration_ns, starts.data, ends.data)
        return _lanes(starts[:count], ends[:count], streams)

    return run


def _lanes(starts: Ns, ends: Ns, streams: int) -> list[tuple[Ns, Ns]]:
    """Deal requests to as many lanes as there are streams, each taking the next start after its last end."""
    order = np.argsort(starts, kind="stable")
    free: list[int] = [0] * streams
    lanes: list[list[int]] = [[] for _ in range(streams)]
    for index in order:
        lane = min(range(streams), key=free.__getitem__)
        lanes[lane].append(int(index))
        free[lane] = int(ends[index])
    return [(starts[lane], ends[lane]) for lane in lanes]


def warm_streams(drive: Drive, cap_s: float, latency_ns: float, progress: Progress) -> tuple[Warmup, float]:
    """Slices of all streams until they settle; gives the latency under load as well."""
    begin = perf_counter_ns()
    series: list[float] = []
    done, ok, median = 0, False, latency_ns
    slice_ns = int(max(_SLICE_NS / 2, 4 * latency_ns))
    while not ok and perf_counter_ns() - begin < cap_s * 1e9:
        parts = drive(slice_ns, _most(slice_ns, median))
        durations = np.concatenate([e - s for s, e in parts])
        done += len(durations)
        median = float(np.median(durations))
        series.append(float(np.percentile(durations, 10)))
        ok = settled(series).ok
        progress("warmup", median)
    spent = (perf_counter_ns() - begin) / 1e9
    return Warmup(spent, done, ok, "" if ok else f"not settled within {cap_s:g} s"), median


def measure_streams(
    drive: Drive,
    *,
    streams: int,
    kind: str,
    warmup_s: float,
    timed_s: float,
    latency_ns: float,
    witness: Witness,
    progress: Progress,
    after_warmup: Callable[[], None],
) -> Outcome:
    """The whole of one asynchronous execution once its streams stand."""
    warmup, median = warm_streams(drive, warmup_s, latency_ns, progress)
    after_warmup()
    timed_ns = int(max(timed_s * 1e9, least_iterations(median) * median / streams))
    witness.start()
    cpu_begin = process_time_ns()
    parts = drive(timed_ns, _most(timed_ns, median))
    cpu_s = (process_time_ns() - cpu_begin) / 1e9
    witness.mark()
    noise = witness.finish()
    return reduce_parts(parts, warmup=warmup, noise=noise, cpu_s=cpu_s, streams=streams, kind=kind)


def reduce_parts(
    parts: list[tuple[Ns, Ns]], *, warmup: Warmup, noise: Any, cpu_s: float, streams: int, kind: str
) -> Outcome:
    """Latencies, the steady rate and the time with the drain, from the spans of every stream."""
    recording = Recording()
    for starts, ends in parts:
        recording.add(ends - starts, 0)
    first = min(int(s.min()) for s, _ in parts if len(s))
    last = max(int(e.max()) for _, e in parts if len(e))
    recording.timed_ns = last - first
    seconds = (last - first) / 1e9
    return Outcome(recording, warmup, noise, seconds, steady_rate(parts), cpu_s, {}, streams, kind)


def _most(duration_ns: int, latency_ns: float) -> int:
    """Room for twice the calls that should fit, and for a few where a stream got slower or faster."""
    return int(2 * duration_ns / max(latency_ns, 500.0)) + 64
