"""One execution of any scenario: load, check, warm up, time, reduce; with memory peaks per phase."""

from __future__ import annotations

import gc
import math
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from math import ceil
from time import perf_counter_ns
from typing import TYPE_CHECKING, Any

from tuibench.core.cell import Check, Execution, Used
from tuibench.core.model import Reference
from tuibench.core.reason import Reason
from tuibench.engines.protocol import Bound, Engine, EngineRefusal, Feed, IoUnavailable, LoadSettings, ReadBack, Session
from tuibench.worker import isolation, loading
from tuibench.worker import recording as reduction
from tuibench.worker.bundle import compare, differs, is_nothing_finite, read_bundle, read_dtypes
from tuibench.worker.drive import Outcome, Ready, least_iterations, load_drive
from tuibench.worker.job import Job
from tuibench.worker.loading import Share
from tuibench.worker.sync import harness_ns

if TYPE_CHECKING:
    from tuibench.worker.main import Reporter

_REDUCED = ("f16", "bf16")
_REDUCED_TOLERANCE = 3e-2


def check_outputs(outputs: dict[str, Any], reference: Reference, precision: str | None) -> Check:
    """Return agrees or differs by the rule of equal work; unchecked, with the reason, without a reference."""
    if reference.file is None or reference.tolerance is None:
        return Check("unchecked", None, None, reference.reason or Reason("no_reference"))
    if not outputs:
        return Check("unchecked", None, None, Reason("no_outputs"))
    tolerance = max(reference.tolerance, _REDUCED_TOLERANCE) if precision in _REDUCED else reference.tolerance
    expected = read_bundle(reference.file)[0]
    found = compare(expected, outputs, read_dtypes(reference.file))
    wrong = differs(found.value, tolerance, reference.difference or 0.0)
    # Incomparable outputs have no figure: JSON has no infinity, and the reason explains more.
    value = found.value if math.isfinite(found.value) else None
    reason = found.reason or (Reason("nothing_finite") if is_nothing_finite(expected) else None)
    return Check("differs" if wrong else "agrees", value, tolerance, reason)


def peak_bytes() -> int | None:
    """Return VmHWM, the peak of resident memory since the last reset; None if the kernel does not report it."""
    try:
        with open("/proc/self/status", encoding="utf-8", errors="replace") as handle:
            for line in handle:
                if line.startswith("VmHWM:"):
                    return int(line.split()[1]) * 1024
    except OSError:
        return None
    return None


def reset_peak() -> None:
    """Reset the peak to the current resident memory."""
    try:
        with open("/proc/self/clear_refs", "w", encoding="ascii") as handle:
            handle.write("5")
    except OSError:
        return  # a kernel without it: the peak then covers the whole process life, still an upper bound


class MemoryLog:
    """Peak memory of each phase, as growth over the process with engine and inputs but no model."""

    def __init__(self) -> None:
        self._base = peak_bytes()
        self._peaks: dict[str, int] = {}
        if self._base is not None:
            self._peaks["base"] = self._base

    def note(self, phase: str, ours: int = 0) -> None:
        """Record the peak since the last note under `phase`, without the `ours` bytes of the harness, and reset it."""
        peak = peak_bytes()
        if peak is not None and self._base is not None:
            self._peaks[phase] = max(self._peaks.get(phase, 0), peak - self._base - ours, 0)
            reset_peak()

    def result(self) -> dict[str, int]:
        """Return the growth per phase in bytes, with the highest as `peak`."""
        growth = [v for k, v in self._peaks.items() if k != "base"]
        return {**self._peaks, "peak": max(growth)} if growth else dict(self._peaks)


def with_streams(own: dict[str, int], streams_bytes: int | None) -> dict[str, int]:
    """Return a worker's phases with the memory of stream processes; its own growth while they run is the harness's."""
    if streams_bytes is None:
        return own
    phases = {phase: grown for phase, grown in own.items() if phase not in ("warm", "timed", "peak")}
    growth = [grown for phase, grown in phases.items() if phase != "base"]
    return {**phases, "timed": streams_bytes, "streams": streams_bytes, "peak": max(streams_bytes, *growth)}


def array_bytes(value: Any) -> int:
    """Return the bytes of all arrays in a feed."""
    if isinstance(value, dict):
        return sum(array_bytes(part) for part in value.values())
    if isinstance(value, (list, tuple)):
        return sum(array_bytes(part) for part in value)
    return int(getattr(value, "nbytes", 0))


_PROOF_NS = 100_000_000
"""Run every sample before timing while a call is shorter than this; the warm-up finds failures of slower calls."""


class Measurement:
    """Runs the phases of one execution."""

    def __init__(
        self,
        job: Job,
        engine: Engine,
        version: str,
        setting: LoadSettings,
        shares: Sequence[Share],
        own_queue: bool,
        reporter: Reporter,
    ) -> None:
        self._job = job
        self._engine = engine
        self._version = version
        self._setting = setting
        self._shares = shares
        self._own_queue = own_queue
        self._reporter = reporter
        self._back = ReadBack(None, None, None, "none", {})
        self._check = Check("unchecked", None, None, Reason("check_off"))
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
        begin = perf_counter_ns()
        session = self._engine.load(self._setting)
        load_ms = (perf_counter_ns() - begin) / 1e6
        memory.note("load")
        self._back = session.read_back()
        if not self._job.scenario.has_streams:
            loading.pin_caller(self._engine, self._setting)
        self._reporter.enter("first")
        first_ns = loading.time_first_ns(session, self._feeds, self._engine.capabilities.io_classes)
        memory.note("first")
        if self._engine.capabilities.pins_caller or self._back.threads is None:
            self._back = replace(self._back, threads=isolation.count_threads() - threads_before + 1)
        outcome, io = self._in_some_class(session, first_ns, memory)
        memory.note("timed", ours=outcome.recording.bytes)
        sizes = {**with_streams(memory.result(), outcome.streams_bytes), "inputs": inputs_bytes}
        return self._reduce(outcome, load_ms, first_ns, io, sizes)

    def _in_some_class(self, session: Session, first_ns: float, memory: MemoryLog) -> tuple[Outcome, str]:
        """Measure in the requested class, or in the first that works for every sample; else raise the last error."""
        classes = [self._job.io] if self._job.io else loading.classes(self._engine.capabilities.io_classes)
        gc.collect()
        gc.freeze()
        gc.disable()
        for last, io in enumerate(classes, 1):
            try:
                return self._in_class(session, io, first_ns, memory), io
            except (MemoryError, EngineRefusal):
                raise
            except Exception:
                # Any call can fail on output shapes that differ between samples or from the model's declaration.
                # Once processes have replaced the session, nothing is left to bind again.
                if last == len(classes) or self._handed_over:
                    raise
        raise IoUnavailable("no_way_to_pass_inputs")

    def _in_class(self, session: Session, io: str, first_ns: float, memory: MemoryLog) -> Outcome:
        feeds = self._feeds if self._feeds[0] or not self._setting.shapes else read_bundle(self._job.bundle)
        self._reporter.enter("check", 12 * first_ns / 1e9)
        bound = session.bind(feeds, io)
        outputs = bound.outputs(0)
        self._batch = read_batch(outputs, self._job.cell.asked.batch)
        if self._job.check:
            self._check = check_outputs(outputs, self._job.reference, self._back.precision)
        del outputs
        run_every_sample(bound)
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
            self._back = replace(self._back, threads=outcome.threads)
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
            supported=back.supported,
        )


def read_batch(outputs: dict[str, Any], asked: int | None) -> int | None:
    """Return the batch that the engine really processed, from axis 0 of its outputs; None if they do not show it."""
    sizes = [int(v.shape[0]) for v in outputs.values() if len(getattr(v, "shape", ())) > 0]
    sizes += [len(v) for v in outputs.values() if isinstance(v, list)]
    return asked if asked is not None and asked in sizes else None


def run_every_sample(bound: Bound) -> None:
    """Run every sample once, or stop after the first slow one; raises if the I/O class does not work for a sample."""
    for call in bound.calls:
        begin = perf_counter_ns()
        call()
        if perf_counter_ns() - begin > _PROOF_NS:
            return
