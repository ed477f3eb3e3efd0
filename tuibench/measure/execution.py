"""One execution from load to reduced result, for every scenario."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from time import perf_counter_ns
from typing import Any, Protocol

from tuibench.arrays.bundle import read_bundle
from tuibench.core.cell import Check, Execution, Used
from tuibench.engines.protocol import Bound, Engine, Feed, IoUnavailable, ReadBack, Session, Setting
from tuibench.host.noise import Witness
from tuibench.measure import isolation, loading, reduction
from tuibench.measure.check import check_outputs
from tuibench.measure.job import Job
from tuibench.measure.loop import harness_ns
from tuibench.measure.memory import MemoryLog
from tuibench.measure.scenario import Outcome
from tuibench.measure.stream import ThreadStreams, drive_queue, drive_threads, measure_streams
from tuibench.measure.stream_process import ProcessStreams, StreamJob, merge_noise
from tuibench.measure.sync import measure_sync, rotate

_PROCESS_BELOW_NS = 1_000_000
"""Below this, threads of one interpreter wait for each other's lock."""


class Reports(Protocol):
    """Whoever is told where the execution is."""

    def enter(self, phase: str, expected_s: float | None = None) -> None:
        """A new phase begins."""

    def progress(self, phase: str, p50_ns: float) -> None:
        """The median so far."""


class Meter:
    """Carries one execution through its phases."""

    def __init__(
        self,
        job: Job,
        engine: Engine,
        version: str,
        setting: Setting,
        shares: Sequence[tuple[int, ...]],
        own_queue: bool,
        reporter: Reports,
    ) -> None:
        self._job = job
        self._engine = engine
        self._version = version
        self._setting = setting
        self._shares = shares
        self._own_queue = own_queue
        self._reporter = reporter
        self._memory = MemoryLog()
        self._pins_caller = setting.pin == "core" and engine.capabilities.pins_caller
        self._back = ReadBack(None, None, None, "none", {})

    def measure(self) -> Execution:
        """Load, run once, check, warm up, time, reduce."""
        job = self._job
        feeds = read_bundle(job.bundle)
        self._setting = replace(self._setting, shapes=_shapes(feeds[0]))
        self._reporter.enter("load")
        loaded = loading.load(self._engine, self._setting)
        self._memory.note("load")
        self._back = loaded.session.read_back()
        if self._pins_caller and job.cell.asked.scenario == "sync":
            isolation.pin_thread(self._setting.cpus[0])
        self._reporter.enter("first")
        first_ns, bound, check = self._first(loaded.session, feeds)
        self._memory.note("first")
        gc.collect()
        gc.freeze()
        gc.disable()
        outcome, bound = self._time(loaded.session, feeds, bound, first_ns)
        execution = self._reduce(outcome, loaded, first_ns, check, bound.io, len(bound.calls))
        loaded.session.close()
        return execution

    def _first(self, session: Session, feeds: Sequence[Feed]) -> tuple[float, Bound, Check]:
        """The first inference, timed on the plainest path; then the path to be measured, and its outputs checked."""
        classes = self._engine.capabilities.io_classes
        try:
            plain = loading.bind(session, feeds[:1], "call", classes)
        except IoUnavailable:
            # Some types cannot be passed in a plain call; the bound path then makes the first inference.
            plain = loading.bind(session, feeds[:1], self._job.io, classes)
        begin = perf_counter_ns()
        plain.calls[0]()
        first_ns = float(perf_counter_ns() - begin)
        if self._job.check:
            plain.outputs(0)
        bound = self._bind(session, feeds)
        if not self._job.check:
            return first_ns, bound, Check("unchecked", None, None, "--no-check")
        return first_ns, bound, check_outputs(bound.outputs(0), self._job.reference)

    def _bind(self, session: Session, feeds: Sequence[Feed]) -> Bound:
        """Bind every sample and prove each where that is cheap; a class that fails for one gives way to the next."""
        io = self._job.io
        while True:
            bound = loading.bind(session, feeds, io, self._engine.capabilities.io_classes)
            try:
                for call in bound.calls:
                    begin = perf_counter_ns()
                    call()
                    if perf_counter_ns() - begin > 100_000_000:
                        break
                return bound
            except RuntimeError:
                io = loading.next_class(bound.io) if self._job.io is None else None
                if io is None:
                    raise

    def _time(self, session: Session, feeds: Sequence[Feed], bound: Bound, first_ns: float) -> tuple[Outcome, Bound]:
        job = self._job
        expected = job.warmup_s + max(job.timed_s, 10 * first_ns / 1e9 if first_ns < 1e9 else 3 * first_ns / 1e9)
        self._reporter.enter("timed", expected)
        common: dict[str, Any] = {
            "warmup_s": job.warmup_s,
            "timed_s": job.timed_s,
            "progress": self._reporter.progress,
            "after_warmup": partial(self._memory.note, "warm"),
        }
        if job.cell.asked.scenario == "sync":
            witness = Witness(job.cpus)
            return measure_sync(bound.calls, first_ns=first_ns, witness=witness, **common), bound
        latency_ns = _latency(bound)
        if self._own_queue:
            return self._run_queue(session, feeds, bound, latency_ns, common), bound
        kind = job.stream_kind or ("threads" if latency_ns >= _PROCESS_BELOW_NS else "processes")
        if kind == "processes":
            session.close()
            return self._run_processes(bound.io, latency_ns, common), bound
        return self._run_threads(session, feeds, bound, latency_ns, common), bound

    def _run_queue(
        self, session: Session, feeds: Sequence[Feed], bound: Bound, latency_ns: float, common: dict[str, Any]
    ) -> Outcome:
        queue = session.queue(feeds, bound.io)
        try:
            return measure_streams(
                drive_queue(queue, self._job.streams),
                streams=self._job.streams,
                kind="queue",
                latency_ns=latency_ns,
                witness=Witness(self._job.cpus),
                **common,
            )
        finally:
            queue.close()

    def _run_threads(
        self, session: Session, feeds: Sequence[Feed], bound: Bound, latency_ns: float, common: dict[str, Any]
    ) -> Outcome:
        first = _Stream(self._engine, self._setting, feeds, bound.io, self._shares[0], (session, bound))
        others = [_Stream(self._engine, self._setting, feeds, bound.io, share, None) for share in self._shares[1:]]
        streams = ThreadStreams([first.make, *(s.make for s in others)])
        try:
            return measure_streams(
                drive_threads(streams),
                streams=self._job.streams,
                kind="threads",
                latency_ns=latency_ns,
                witness=Witness(self._job.cpus),
                **common,
            )
        finally:
            streams.close()

    def _run_processes(self, io: str, latency_ns: float, common: dict[str, Any]) -> Outcome:
        job = self._job
        jobs = [
            StreamJob(
                asked=job.cell.asked,
                model_path=job.model_path,
                bundle=job.bundle,
                cpus=share,
                io=io,
                work_dir=job.work_dir,
                stamps_path=str(Path(job.work_dir) / f"stream-{os.getpid()}-{i}.ns"),
                parent=os.getpid(),
                memory_room_bytes=job.memory_room_bytes,
                memory_limit_bytes=job.memory_limit_bytes,
                seed=job.seed,
            )
            for i, share in enumerate(self._shares)
        ]
        streams = ProcessStreams(jobs)
        try:
            outcome = measure_streams(
                streams.run,
                streams=job.streams,
                kind="processes",
                latency_ns=latency_ns,
                witness=Witness(job.cpus),
                **common,
            )
            reports = streams.reports
        finally:
            streams.close()
            for each in jobs:
                Path(each.stamps_path).unlink(missing_ok=True)
        memory = sum(r["memory"].get("peak", 0) + r["memory"].get("base", 0) for r in reports)
        cpu_s = sum(r["cpu_s"] for r in reports)
        return replace(outcome, noise=merge_noise(reports), cpu_s=cpu_s, extra_memory={"streams": memory})

    def _reduce(
        self, outcome: Outcome, loaded: loading.Loaded, first_ns: float, check: Check, io: str, distinct: int
    ) -> Execution:
        recording = outcome.recording
        kept = recording.kept()
        levels = reduction.percentiles(kept)
        return Execution(
            iterations=recording.total,
            timed_s=recording.timed_ns / 1e9,
            seconds_ran=outcome.seconds_ran,
            p50_ns=levels["50.0"],
            mean_ns=recording.mean_ns,
            std_ns=recording.std_ns,
            floor_ns=reduction.floor(kept),
            percentiles_ns=levels,
            effective_n=reduction.effective_n(kept, recording.total),
            calls_per_s=outcome.calls_per_s,
            cpu_s=outcome.cpu_s,
            load_ms=loaded.load_ms,
            first_ms=first_ns / 1e6,
            memory_bytes={**self._memory.result(), **outcome.extra_memory},
            harness_ns=harness_ns(),
            warmup=outcome.warmup,
            noise=outcome.noise,
            used=self._used(outcome, io, distinct),
            check=check,
            samples=reduction.keep_samples(kept, recording.total, self._job.samples_path, self._job.keep_raw),
            histogram=reduction.histogram(kept, self._job.histogram_bins),
            series=reduction.series(kept, self._job.series_points),
        )

    def _used(self, outcome: Outcome, io: str, distinct: int) -> Used:
        back, seconds = self._back, outcome.seconds_ran
        threads = back.threads
        if threads is not None and outcome.stream_kind in ("threads", "processes"):
            threads = sum(len(share) for share in self._shares)
        return Used(
            cpus=self._job.cpus,
            threads=threads,
            streams=outcome.streams,
            stream_kind=outcome.stream_kind,
            batch=self._job.cell.asked.batch,
            precision=back.precision,
            io=io,
            cpu_seconds_per_second=outcome.cpu_s / seconds if seconds else None,
            pinned=back.pinned,
            engine_version=self._version,
            distinct_inputs=distinct,
            details=back.details,
        )


class _Stream:
    """Makes the calls of one stream inside the thread that will make them, so that its pool inherits its CPUs."""

    def __init__(
        self,
        engine: Engine,
        setting: Setting,
        feeds: Sequence[Feed],
        io: str,
        cpus: tuple[int, ...],
        ready: tuple[Session, Bound] | None,
    ) -> None:
        self._engine = engine
        self._setting = replace(setting, cpus=cpus, threads=len(cpus))
        self._feeds = feeds
        self._io = io
        self._ready = ready
        self._keep: tuple[Session, Bound] | None = ready

    def make(self) -> Any:
        """Load, bind and pin; the first stream takes over what is loaded already."""
        isolation.pin_process(self._setting.cpus)
        if self._ready is None:
            session = loading.load(self._engine, self._setting).session
            self._keep = (session, loading.bind(session, self._feeds, self._io, (self._io,)))
            self._keep[1].calls[0]()
        if self._setting.pin == "core" and self._engine.capabilities.pins_caller:
            isolation.pin_thread(self._setting.cpus[0])
        if self._keep is None:
            raise RuntimeError("a stream without a session")
        calls: Callable[..., Any] = rotate
        return calls(self._keep[1].calls)


def _shapes(feed: Feed) -> dict[str, tuple[int, ...]]:
    """The shapes that will be fed, for engines that want them fixed."""
    return {name: tuple(value.shape) for name, value in feed.items() if hasattr(value, "shape")}


def _latency(bound: Bound, calls: int = 3) -> float:
    """The least of a few calls, to choose between threads and processes and to size the slices."""
    best = float("inf")
    for _ in range(calls):
        begin = perf_counter_ns()
        bound.calls[0]()
        best = min(best, float(perf_counter_ns() - begin))
    return best
