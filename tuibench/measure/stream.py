"""Runs N streams at once in one process: a thread and a session each, or the engine's own queue."""

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
from tuibench.measure.recording import EVERYTHING, ROOM, Ns, Recording
from tuibench.measure.scenario import Outcome, Progress, least_iterations
from tuibench.stats.warmup import settled

Stamps = NDArray[np.int64]
_SLICE_NS = 50_000_000
_SLOW_NS = 1_000_000_000
_BLOCK_CALLS = 4096


def run_until(calls: Iterator[Callable[[], object]], stamps: Any, until_ns: int, most: int) -> int:
    """Call until a stamp passes `until_ns`; stamps[0] is the start. Return the number of calls."""
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
    """Streams that their own threads have loaded and pinned, released together for each part."""

    def __init__(self, makers: Sequence[Callable[[], Iterator[Callable[[], object]]]]) -> None:
        self._count = len(makers)
        self._gate = threading.Barrier(self._count + 1)
        self._plan: tuple[int, int] | None = None
        self._results: list[Stamps] = [np.zeros(0, dtype=np.int64)] * self._count
        self._errors: list[BaseException] = []
        self._threads = [
            threading.Thread(target=self._live, args=(i, make), daemon=True) for i, make in enumerate(makers)
        ]
        # Start one after the other: sessions loaded at the same time would share each other's CPUs.
        for thread in self._threads:
            self._ready = threading.Event()
            thread.start()
            self._ready.wait()
        self._raise()

    def run(self, duration_ns: int, most: int) -> list[Stamps]:
        """Run every stream for a time; return one array of stamps per stream."""
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
        except BaseException as error:  # raised again by the waiting thread
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
            except BaseException as error:  # raised again by the waiting thread
                self._errors.append(error)
            try:
                self._gate.wait()
            except threading.BrokenBarrierError:
                return


def steady_rate(per_stream: Sequence[tuple[Ns, Ns]]) -> float:
    """Return the calls per second between the first and the last instant when all streams were busy.

    A call that crosses an edge counts with its part inside. Counting only whole calls would lose one call per stream,
    a large share if each stream makes few calls.
    """
    busy = [(s, e) for s, e in per_stream if len(e)]
    begin, end = max(int(s.min()) for s, _ in busy), min(int(e.max()) for _, e in busy)
    starts, ends = (np.concatenate([span[i] for span in busy]) for i in (0, 1))
    if end <= begin:
        return len(ends) / ((int(ends.max()) - int(starts.min())) / 1e9)
    inside = np.minimum(ends, end) - np.maximum(starts, begin)
    done = float((np.maximum(inside, 0) / np.maximum(ends - starts, 1)).sum())
    return done / ((end - begin) / 1e9)


Slices = Callable[[int, int], list[tuple[Ns, Ns]]]
"""Run for at most that many ns and calls per stream; return (starts, ends) of each stream."""


def drive_threads(streams: ThreadStreams) -> Slices:
    """Return the threads as a drive."""
    return lambda duration, most: [(s[:-1], s[1:]) for s in streams.run(duration, most)]


def drive_queue(queue: Queue, streams: int) -> Slices:
    """Return the engine's queue as a drive; all streams are busy from the N-th start to the N-th last end."""

    def run(duration_ns: int, most: int) -> list[tuple[Ns, Ns]]:
        starts, ends = (np.zeros(most * streams, dtype=np.int64) for _ in range(2))
        count = queue.run(perf_counter_ns() + duration_ns, starts.data, ends.data)
        return _lanes(starts[:count], ends[:count], streams)

    return run


def _lanes(starts: Ns, ends: Ns, streams: int) -> list[tuple[Ns, Ns]]:
    """Assign requests to as many lanes as streams; each lane takes the next start after its last end."""
    order = np.argsort(starts, kind="stable")
    free: list[int] = [0] * streams
    lanes: list[list[int]] = [[] for _ in range(streams)]
    for index in order:
        lane = min(range(streams), key=free.__getitem__)
        lanes[lane].append(int(index))
        free[lane] = int(ends[index])
    return [(starts[lane], ends[lane]) for lane in lanes]


def warm_streams(drive: Slices, cap_s: float, latency_ns: float, progress: Progress) -> tuple[Warmup, float]:
    """Run slices of all streams until they settle; return the warm-up and the latency under load."""
    if latency_ns >= min(_SLOW_NS, cap_s * 1e9):
        return Warmup(
            0.0, 0, False, "none: one call is longer than the warm-up, the first inference was it"
        ), latency_ns
    begin = perf_counter_ns()
    series: list[float] = []
    done, median, state = 0, latency_ns, settled([])
    slice_ns = int(min(max(_SLICE_NS, 4 * latency_ns), cap_s * 1e9))
    while not state.ok and perf_counter_ns() - begin < cap_s * 1e9:
        parts = drive(slice_ns, _most(slice_ns, median))
        durations = np.concatenate([e - s for s, e in parts])
        done += len(durations)
        median = float(np.median(durations))
        series.append(float(np.percentile(durations, 10)))
        state = settled(series)
        progress("warmup", median)
    spent = (perf_counter_ns() - begin) / 1e9
    note = state.note if state.ok else f"{state.note}: not settled within {cap_s:g} s"
    return Warmup(spent, done, state.ok, note), median


def measure_streams(
    drive: Slices,
    *,
    streams: int,
    kind: str,
    warmup_s: float,
    timed_s: float,
    latency_ns: float,
    witness: Witness,
    progress: Progress,
    after_warmup: Callable[[], None],
    keep_all: bool = False,
) -> Outcome:
    """Run the warm-up and the timed part of one asynchronous execution; its streams must be ready."""
    warmup, median = warm_streams(drive, warmup_s, latency_ns, progress)
    after_warmup()
    timed_ns = int(max(timed_s * 1e9, least_iterations(median) * median / streams))
    witness.start()
    cpu_begin = process_time_ns()
    parts = drive(timed_ns, _most(timed_ns, median))
    cpu_s = (process_time_ns() - cpu_begin) / 1e9
    witness.mark()
    noise = witness.finish()
    recording, seconds = record_parts(parts, EVERYTHING if keep_all else ROOM)
    return Outcome(recording, warmup, noise, seconds, steady_rate(parts), cpu_s, None, streams, kind)


def record_parts(parts: list[tuple[Ns, Ns]], room: int) -> tuple[Recording, float]:
    """Return the calls of all streams in the order of their ends, and the seconds from first start to last end."""
    starts, ends = (np.concatenate([part[i] for part in parts]) for i in (0, 1))
    order = np.argsort(ends, kind="stable")
    durations: Ns = (ends - starts)[order]
    recording = Recording(room)
    for begin in range(0, len(durations), _BLOCK_CALLS):
        recording.add(durations[begin : begin + _BLOCK_CALLS], 0)
    recording.timed_ns = int(ends.max()) - int(starts.min())
    return recording, recording.timed_ns / 1e9


def _most(duration_ns: int, latency_ns: float) -> int:
    """Return a buffer size for twice the expected calls plus a few, as a stream may become faster."""
    return int(2 * duration_ns / max(latency_ns, 500.0)) + 64
