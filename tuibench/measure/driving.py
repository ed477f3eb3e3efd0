"""Builds what keeps N streams busy: the engine's own queue, threads with a session each, or processes."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from tuibench.arrays.bundle import read_bundle
from tuibench.engines.protocol import Bound, Engine, Feed, Session, Setting
from tuibench.measure import isolation, loading
from tuibench.measure.job import Job
from tuibench.measure.loading import Share
from tuibench.measure.scenario import Outcome
from tuibench.measure.stream import Drive, ThreadStreams, drive_queue, drive_threads
from tuibench.measure.stream_process import ProcessStreams, StreamJob, merge_noise
from tuibench.measure.sync import Calls, rotate

_PROCESS_BELOW_NS = 1_000_000
"""Below this, threads of one interpreter wait for each other's lock."""


@dataclass(slots=True)
class Build:
    """What there is to build streams from: the first session stands already."""

    job: Job
    engine: Engine
    setting: Setting
    shares: Sequence[Share]
    session: Session
    feeds: Sequence[Feed]
    bound: Bound
    load_more: Callable[[], None]
    """Called before every further load, which takes its own time."""


@dataclass(slots=True)
class Driving:
    """Streams that stand ready."""

    run: Drive
    complete: Callable[[Outcome], Outcome]
    """Adds to an outcome what only the streams know."""
    threads: int | None = None
    """Counted, where they can be."""
    keep: list[object] = field(default_factory=list)


def choose_kind(own_queue: bool, asked: str | None, latency_ns: float) -> str:
    """The engine's queue where it has one; else threads from a millisecond per call, processes below."""
    if own_queue:
        return "queue"
    return asked or ("threads" if latency_ns >= _PROCESS_BELOW_NS else "processes")


@contextmanager
def build_drive(build: Build, kind: str) -> Iterator[Driving]:
    """The streams for as long as they are needed."""
    if kind == "queue":
        queue = build.session.queue(build.feeds, build.bound.io)
        try:
            distinct = len(build.bound.calls)
            yield Driving(drive_queue(queue, build.job.streams), lambda outcome: replace(outcome, distinct=distinct))
        finally:
            queue.close()
    elif kind == "threads":
        yield from _threads(build)
    else:
        yield from _processes(build)


def _threads(build: Build) -> Iterator[Driving]:
    before = isolation.count_threads() - sum(share.threads - 1 for share in build.shares[:1])
    ready = (build.session, build.bound)
    streams = [_Stream(build, share, ready if i == 0 else None) for i, share in enumerate(build.shares)]
    distinct = len(build.bound.calls)
    driven = ThreadStreams([stream.make for stream in streams])
    try:
        threads = isolation.count_threads() - before
        yield Driving(drive_threads(driven), lambda o: replace(o, distinct=distinct), threads, [streams])
    finally:
        driven.close()


def _processes(build: Build) -> Iterator[Driving]:
    job = build.job
    jobs = [_stream_job(job, build.bound.io, share, i) for i, share in enumerate(build.shares)]
    distinct = len(build.bound.calls)
    # This process's own copy of the model would count as memory that the streams need.
    build.session.close()
    build.bound.calls = ()
    build.bound.keep = ()
    streams = ProcessStreams(jobs, build.load_more)
    driving = Driving(streams.run, lambda outcome: outcome, streams.threads)

    def complete(outcome: Outcome) -> Outcome:
        growth = sum(report["memory"].get("peak", 0) for report in streams.reports)
        return replace(
            outcome,
            noise=merge_noise(outcome.noise, streams.reports),
            cpu_s=sum(report["cpu_s"] for report in streams.reports),
            streams_bytes=growth,
            distinct=distinct,
        )

    driving.complete = complete
    try:
        yield driving
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
    """Makes the calls of one stream inside the thread that will make them, so that its pool inherits its CPUs."""

    def __init__(self, build: Build, share: Share, ready: tuple[Session, Bound] | None) -> None:
        self._build = build
        self._setting = replace(build.setting, cpus=share.cpus, threads=share.threads)
        self._keep = ready

    def make(self) -> Calls:
        """Load, bind and pin; the first stream takes over what is loaded already."""
        isolation.pin_process(self._setting.cpus)
        if self._keep is None:
            self._build.load_more()
            session = loading.load(self._build.engine, self._setting).session
            bound = session.bind(read_bundle(self._build.job.bundle), self._build.bound.io)
            bound.calls[0]()
            self._keep = (session, bound)
        if self._setting.pin == "core" and self._build.engine.capabilities.pins_caller:
            isolation.pin_thread(self._setting.cpus[0])
        return rotate(self._keep[1].calls)
