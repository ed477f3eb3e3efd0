"""One execution of any scenario, from load to reduced result."""

from __future__ import annotations

import gc
from collections.abc import Sequence
from functools import partial
from math import ceil
from time import perf_counter_ns
from typing import Any, Protocol

from tuibench.arrays.bundle import read_bundle
from tuibench.core.cell import Check, Execution, Used
from tuibench.engines.protocol import Bound, Engine, Feed, IoUnavailable, ReadBack, Refusal, Session, Setting
from tuibench.measure import isolation, loading, reduction
from tuibench.measure.check import check_outputs
from tuibench.measure.job import Job
from tuibench.measure.loading import Share
from tuibench.measure.loop import harness_ns
from tuibench.measure.memory import MemoryLog, array_bytes, with_streams
from tuibench.measure.scenario import Outcome, Ready, least_iterations, load_drive

_PROOF_NS = 100_000_000
"""Run every sample before timing while a call is shorter than this; the warm-up finds failures of slower calls."""


class Reports(Protocol):
    """Receiver of the execution's progress."""

    def enter(self, phase: str, expected_s: float | None = None) -> None:
        """Report a new phase."""

    def progress(self, phase: str, p50_ns: float) -> None:
        """Report the median so far."""


class Meter:
    """Runs the phases of one execution."""

    def __init__(
        self,
        job: Job,
        engine: Engine,
        version: str,
        setting: Setting,
        shares: Sequence[Share],
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
        self._back = ReadBack(None, None, None, "none", {})
        self._check = Check("unchecked", None, None, "--no-check")
        self._batch: int | None = None
        self._feeds: list[Feed] = []
        self._handed_over = False

    def measure(self) -> Execution:
        """Load, run once, then bind, check, warm up, time and reduce, in the cheapest I/O class that works."""
        self._feeds = read_bundle(self._job.bundle)
        self._setting = loading.with_shapes(self._setting, self._feeds[0])
        inputs_bytes = sum(array_bytes(feed) for feed in self._feeds)
        memory = MemoryLog()
        threads_before = isolation.count_threads()
        self._reporter.enter("load")
        loaded = loading.load(self._engine, self._setting)
        memory.note("load")
        self._back = loaded.session.read_back()
        if self._pins_caller and not self._job.scenario.has_streams:
            isolation.pin_thread(self._setting.cpus[0])
        self._reporter.enter("first")
        first_ns = self._first(loaded.session)
        memory.note("first")
        if self._engine.capabilities.pins_caller:
            self._back = loading.with_threads(self._back, isolation.count_threads() - threads_before + 1)
        outcome, io = self._in_some_class(loaded.session, first_ns, memory)
        memory.note("timed", ours=outcome.recording.bytes)
        sizes = {**with_streams(memory.result(), outcome.streams_bytes), "inputs": inputs_bytes}
        return self._reduce(outcome, loaded.load_ms, first_ns, io, sizes)

    @property
    def _pins_caller(self) -> bool:
        return self._setting.pin == "core" and self._engine.capabilities.pins_caller

    def _first(self, session: Session) -> float:
        """Time the first inference, in the simplest I/O class that the input types allow."""
        classes = self._engine.capabilities.io_classes
        try:
            plain = loading.bind(session, self._feeds[:1], "call", classes)
        except IoUnavailable:
            plain = loading.bind(session, self._feeds[:1], None, classes)
        begin = perf_counter_ns()
        plain.calls[0]()
        return float(perf_counter_ns() - begin)

    def _in_some_class(self, session: Session, first_ns: float, memory: MemoryLog) -> tuple[Outcome, str]:
        """Measure in the requested class, or in the first that works for every sample; else raise the last error."""
        classes = [self._job.io] if self._job.io else loading.classes(self._engine.capabilities.io_classes)
        gc.collect()
        gc.freeze()
        gc.disable()
        for last, io in enumerate(classes, 1):
            try:
                return self._in_class(session, io, first_ns, memory), io
            except (MemoryError, Refusal):
                raise
            except Exception:
                # Any call can fail on output shapes that differ between samples or from the model's declaration.
                # Once processes have replaced the session, nothing is left to bind again.
                if last == len(classes) or self._handed_over:
                    raise
        raise IoUnavailable("the engine offers no way to pass inputs")

    def _in_class(self, session: Session, io: str, first_ns: float, memory: MemoryLog) -> Outcome:
        feeds = self._feeds if self._feeds[0] or not self._setting.shapes else read_bundle(self._job.bundle)
        self._reporter.enter("check", 12 * first_ns / 1e9)
        bound = session.bind(feeds, io)
        outputs = bound.outputs(0)
        self._batch = read_batch(outputs, self._job.cell.asked.batch)
        if self._job.check:
            self._check = check_outputs(outputs, self._job.reference, self._back.precision)
        del outputs
        prove(bound)
        copies = 0
        if bound.copied and not self._own_queue:
            copies = sum(array_bytes(feed) for feed in feeds)
            for feed in feeds:
                feed.clear()
        # The samples existed twice for a moment; the copy is the harness's memory, not the engine's.
        memory.note("bind", ours=copies)
        ready = Ready(
            self._job,
            self._engine,
            self._setting,
            self._shares,
            self._own_queue,
            session,
            feeds,
            bound,
            first_ns,
            load_more=partial(self._reporter.enter, "load"),
            enter_timed=self._enter_timed,
            progress=self._reporter.progress,
            after_warmup=partial(memory.note, "warm"),
            hand_over=self._hand_over,
        )
        del bound
        outcome = load_drive(self._job.scenario.drive)(ready)
        if outcome.threads is not None:
            self._back = loading.with_threads(self._back, outcome.threads)
        return outcome

    def _hand_over(self) -> None:
        self._handed_over = True

    def _enter_timed(self, latency_ns: float, crowd: float) -> None:
        self._reporter.enter("timed", self._expected_s(latency_ns, crowd))

    def _expected_s(self, latency_ns: float, crowd: float) -> float:
        latency_s = latency_ns * crowd / 1e9
        timed_s = max(self._job.timed_s, least_iterations(latency_ns) * latency_s)
        return self._job.warmup_s + timed_s + ceil(8 * latency_s)

    def _reduce(self, outcome: Outcome, load_ms: float, first_ns: float, io: str, memory: dict[str, int]) -> Execution:
        recording = outcome.recording
        kept = recording.kept()
        independent = reduction.independent_n(kept, recording.total)
        levels = reduction.percentiles(kept, independent)
        job = self._job
        return Execution(
            iterations=recording.total,
            timed_s=recording.timed_ns / 1e9,
            seconds_ran=outcome.seconds_ran,
            p50_ns=levels["50.0"],
            mean_ns=recording.mean_ns,
            std_ns=recording.std_ns,
            floor_ns=reduction.floor(kept),
            percentiles_ns=levels,
            effective_n=independent,
            calls_per_s=outcome.calls_per_s,
            cpu_s=outcome.cpu_s,
            load_ms=load_ms,
            first_ms=first_ns / 1e6,
            memory_bytes=memory,
            harness_ns=harness_ns(),
            warmup=outcome.warmup,
            noise=outcome.noise,
            used=self._used(outcome, io),
            check=self._check,
            samples=reduction.keep_samples(kept, recording.total, job.samples_path, job.keep_raw),
            histogram=reduction.histogram(kept, job.histogram_bins),
            series=reduction.series(kept, job.series_points),
        )

    def _used(self, outcome: Outcome, io: str) -> Used:
        back, seconds, asked = self._back, outcome.seconds_ran, self._job.cell.asked
        details = dict(back.details)
        if asked.batch is not None and self._batch is None:
            details["batch"] = "cannot be seen in the outputs"
        return Used(
            cpus=self._job.cpus,
            threads=back.threads,
            streams=outcome.streams,
            stream_kind=outcome.stream_kind,
            batch=self._batch,
            precision=back.precision,
            io=io,
            cpu_seconds_per_second=outcome.cpu_s / seconds if seconds else None,
            pinned=back.pinned,
            engine_version=self._version,
            distinct_inputs=outcome.distinct,
            details=details,
        )


def read_batch(outputs: dict[str, Any], asked: int | None) -> int | None:
    """Return the batch that the engine really processed, from axis 0 of its outputs; None if they do not show it."""
    sizes = [int(v.shape[0]) for v in outputs.values() if len(getattr(v, "shape", ())) > 0]
    sizes += [len(v) for v in outputs.values() if isinstance(v, list)]
    return asked if asked is not None and asked in sizes else None


def prove(bound: Bound) -> None:
    """Run every sample once, or stop after the first slow one; raises if the I/O class does not work for a sample."""
    for call in bound.calls:
        begin = perf_counter_ns()
        call()
        if perf_counter_ns() - begin > _PROOF_NS:
            return
