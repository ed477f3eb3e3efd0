"""Drives N streams at once: threads with a session each, processes, or the engine's own queue."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from time import perf_counter_ns, process_time_ns
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tuibench.core.cell import Warmup
from tuibench.engines.protocol import BadSetting, Bound, Queue, Session
from tuibench.host.noise import Witness
from tuibench.stats.stopping import settled
from tuibench.worker import isolation, loading
from tuibench.worker.bundle import read_bundle
from tuibench.worker.drive import Outcome, Progress, Ready, least_iterations
from tuibench.worker.job import Job
from tuibench.worker.loading import Share
from tuibench.worker.recording import EVERYTHING, ROOM, Ns, Recording
from tuibench.worker.stream_process import ProcessStreams, StreamJob, merge_noise
from tuibench.worker.sync import Calls, rotate

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


def thread_slices(streams: ThreadStreams) -> Slices:
    """Return the threads as a drive."""
    return lambda duration, most: [(s[:-1], s[1:]) for s in streams.run(duration, most)]


def queue_slices(queue: Queue, streams: int) -> Slices:
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


_PROCESS_BELOW_NS = 1_000_000
"""Calls shorter than this are slowed down if threads of one interpreter wait for its lock."""


@dataclass(slots=True)
class Streams:
    """Streams that are ready to run."""

    run: Slices
    complete: Callable[[Outcome], Outcome]
    """Adds the measurements of the streams to an outcome."""
    threads: int | None = None
    """Counted threads; None if they cannot be counted."""
    keep: list[object] = field(default_factory=list)


def choose_kind(own_queue: bool, asked: str | None, latency_ns: float, kinds: Sequence[str]) -> str:
    """Return queue if the engine has one; else threads if a call takes a millisecond or more, else processes.

    An engine whose `kinds` lack that way takes the other one.
    """
    if own_queue:
        return "queue"
    if asked is not None and asked not in kinds:
        raise BadSetting("unsupported_stream_kind", kind=asked, names=list(kinds))
    wanted = asked or ("threads" if latency_ns >= _PROCESS_BELOW_NS else "processes")
    return wanted if wanted in kinds else kinds[-1]


def drive(ready: Ready) -> Outcome:
    """Measure several streams at once."""
    job = ready.job
    latency_ns = least_latency_ns(ready.bound.calls[0])
    kind = choose_kind(ready.own_queue, job.stream_kind, latency_ns, ready.engine.capabilities.stream_kinds)
    if kind == "processes":
        ready.hand_over()
    crowd = max(1.0, job.streams / len(job.cpus))
    with build_streams(ready, kind) as streams:
        ready.enter_timed(latency_ns, crowd)
        outcome = measure_streams(
            streams.run,
            streams=job.streams,
            kind=kind,
            latency_ns=latency_ns * crowd,
            warmup_s=job.warmup_s,
            timed_s=job.timed_s,
            witness=Witness(job.cpus, crowded=job.streams > len(job.cpus)),
            progress=ready.progress,
            after_warmup=ready.after_warmup,
            keep_all=job.keep_raw,
        )
        return replace(streams.complete(outcome), threads=streams.threads)


def least_latency_ns(call: Callable[[], object], calls: int = 3) -> float:
    """Return the shortest of a few calls, used to choose between threads and processes and to size the slices."""
    best = float("inf")
    for _ in range(calls):
        begin = perf_counter_ns()
        call()
        best = min(best, float(perf_counter_ns() - begin))
    return best


@contextmanager
def build_streams(ready: Ready, kind: str) -> Iterator[Streams]:
    """Yield the streams and close them at the end."""
    if kind == "queue":
        queue = ready.session.queue(ready.feeds, ready.bound.io)
        try:
            distinct = len(ready.bound.calls)
            yield Streams(queue_slices(queue, ready.job.streams), lambda outcome: replace(outcome, distinct=distinct))
        finally:
            queue.close()
    elif kind == "threads":
        yield from _threads(ready)
    else:
        yield from _processes(ready)


def _threads(ready: Ready) -> Iterator[Streams]:
    before = isolation.count_threads() - sum(share.threads - 1 for share in ready.shares[:1])
    first = (ready.session, ready.bound)
    streams = [_Stream(ready, share, first if i == 0 else None) for i, share in enumerate(ready.shares)]
    distinct = len(ready.bound.calls)
    driven = ThreadStreams([stream.make for stream in streams])
    try:
        threads = isolation.count_threads() - before
        yield Streams(thread_slices(driven), lambda o: replace(o, distinct=distinct), threads, [streams])
    finally:
        driven.close()


def _processes(ready: Ready) -> Iterator[Streams]:
    job = ready.job
    jobs = [_stream_job(job, ready.bound.io, share, i) for i, share in enumerate(ready.shares)]
    distinct = len(ready.bound.calls)
    # This process's copy of the model would otherwise count as memory of the streams.
    ready.session.close()
    ready.bound.calls = ()
    ready.bound.keep = ()
    streams = ProcessStreams(jobs, ready.load_more)
    built = Streams(streams.run, lambda outcome: outcome, streams.threads)

    def complete(outcome: Outcome) -> Outcome:
        growth = sum(report["memory"].get("peak", 0) for report in streams.reports)
        return replace(
            outcome,
            noise=merge_noise(outcome.noise, streams.reports),
            cpu_s=sum(report["cpu_s"] for report in streams.reports),
            streams_bytes=growth,
            distinct=distinct,
        )

    built.complete = complete
    try:
        yield built
    finally:
        streams.close()
        for each in jobs:
            Path(each.stamps_path).unlink(missing_ok=True)


def _stream_job(job: Job, io: str, share: Share, index: int) -> StreamJob:
    room = job.memory_room_bytes
    return StreamJob(
        asked=job.cell.asked,
        model_path=job.model_path,
        bundle=job.bundle,
        cpus=share.cpus,
        threads=share.threads,
        io=io,
        work_dir=job.work_dir,
        stamps_path=str(Path(job.work_dir) / f"stream-{os.getpid()}-{index}.ns"),
        parent=os.getpid(),
        memory_room_bytes=None if room is None else room // job.streams,
        memory_limit_bytes=job.memory_limit_bytes,
        weight_types=job.weight_types,
        nodes=job.nodes,
    )


class _Stream:
    """Makes one stream's calls inside the thread that runs them, so that the engine's pool inherits its CPUs."""

    def __init__(self, ready: Ready, share: Share, loaded: tuple[Session, Bound] | None) -> None:
        self._ready = ready
        self._setting = replace(ready.setting, cpus=share.cpus, threads=share.threads)
        self._keep = loaded

    def make(self) -> Calls:
        """Load, bind and pin; the first stream uses the session that is already loaded."""
        isolation.pin_process(self._setting.cpus)
        if self._keep is None:
            self._ready.load_more()
            session = self._ready.engine.load(self._setting)
            bound = session.bind(read_bundle(self._ready.job.bundle), self._ready.bound.io)
            bound.calls[0]()
            self._keep = (session, bound)
        loading.pin_caller(self._ready.engine, self._setting)
        return rotate(self._keep[1].calls)
