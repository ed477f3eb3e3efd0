"""Creates and drives N streams: the engine's own queue, threads with a session each, or processes."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from time import perf_counter_ns

from tuibench.arrays.bundle import read_bundle
from tuibench.engines.protocol import Bound, Session
from tuibench.host.noise import Witness
from tuibench.measure import isolation, loading
from tuibench.measure.job import Job
from tuibench.measure.loading import Share
from tuibench.measure.scenario import Outcome, Ready
from tuibench.measure.stream import Slices, ThreadStreams, drive_queue, drive_threads, measure_streams
from tuibench.measure.stream_process import ProcessStreams, StreamJob, merge_noise
from tuibench.measure.sync import Calls, rotate

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


def choose_kind(own_queue: bool, asked: str | None, latency_ns: float) -> str:
    """Return queue if the engine has one; else threads if a call takes a millisecond or more, else processes."""
    if own_queue:
        return "queue"
    return asked or ("threads" if latency_ns >= _PROCESS_BELOW_NS else "processes")


def drive(ready: Ready) -> Outcome:
    """Measure several streams at once."""
    job = ready.job
    latency_ns = least_latency_ns(ready.bound.calls[0])
    kind = choose_kind(ready.own_queue, job.stream_kind, latency_ns)
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
            witness=Witness(job.cpus),
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
            yield Streams(drive_queue(queue, ready.job.streams), lambda outcome: replace(outcome, distinct=distinct))
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
        yield Streams(drive_threads(driven), lambda o: replace(o, distinct=distinct), threads, [streams])
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
            session = loading.load(self._ready.engine, self._setting).session
            bound = session.bind(read_bundle(self._ready.job.bundle), self._ready.bound.io)
            bound.calls[0]()
            self._keep = (session, bound)
        if self._setting.pin == "core" and self._ready.engine.capabilities.pins_caller:
            isolation.pin_thread(self._setting.cpus[0])
        return rotate(self._keep[1].calls)
