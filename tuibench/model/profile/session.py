"""One profiling process: profiled runs, then unprofiled runs of the same session."""

from __future__ import annotations

import gc
import os
import statistics
from collections.abc import Callable, Iterable
from dataclasses import replace
from itertools import count
from time import perf_counter, perf_counter_ns, time_ns

from tuibench.core.errors import EngineError
from tuibench.core.profile import LayerRun
from tuibench.core.reason import Reason, because
from tuibench.core.value import dataclass
from tuibench.engines.onnxruntime import CAPABILITIES, OnnxRuntimeSession, open_session
from tuibench.engines.protocol import Bound, EngineRefusal, Feed, IoUnavailable, LoadSettings, Tell
from tuibench.host.noise import Witness
from tuibench.model.profile.events import Run, read_events, split_runs
from tuibench.worker import isolation, loading
from tuibench.worker.bundle import read_bundle
from tuibench.worker.execution import MemoryLog, array_bytes, run_every_sample
from tuibench.worker.sync import BLOCK_NS, Stamps, rotate

FULL = 1_000_000
"""ONNX Runtime's profiler writes this many events and drops the rest."""


@dataclass(frozen=True, slots=True)
class TimedRuns:
    """The timed runs that the file records."""

    runs: list[Run]
    notes: tuple[Reason, ...] = ()


def read_timed(lines: Iterable[str], wanted: int, since_us: float | None, full: int = FULL) -> TimedRuns:
    """Return the last `wanted` runs after `since_us`, without the first of them, which is a warm-up.

    If `since_us` is unknown, a full file is unusable. Raise EngineError if no timed run is found.
    """
    # A line that cannot be parsed counts, too.
    events = count()
    counted = (line for line in lines if not line.lstrip().startswith("{") or next(events) >= 0)
    runs = list(split_runs(read_events(counted), since_us or 0.0))
    is_full = next(events) >= full
    if since_us is None:
        runs = [] if is_full else runs[-wanted:]
    else:
        runs = runs[1:][-wanted:]
    if not runs:
        raise EngineError("no_run_recorded", events=full if is_full else None)
    if len(runs) == wanted:
        return TimedRuns(runs)
    missing = because("runs_not_recorded", count=len(runs), of=wanted, events=full if is_full else None)
    return TimedRuns(runs, (missing,))


MOST_EVENTS = 50_000
_LEAST_KERNEL_US = 3.0
"""The least wall time per profiled kernel; bounds the number of kernels in a run."""
_UNPROFILED_S = 0.6
_TELL_S = 0.25


@dataclass(frozen=True, slots=True)
class ProfileLimits:
    """The requested amount of measurement."""

    runs: int
    max_s: float
    """Limit for the whole measurement."""
    most_kernels: int | None
    """Most kernels in one run; None if the model has loops."""


def measure(
    setting: LoadSettings, bundle: str, asked: ProfileLimits, work_dir: str, tell: Tell
) -> tuple[LayerRun, list[Run]]:
    """Load with profiling, run, end profiling, and time the same session without it; the result has no rows yet."""
    feeds = read_bundle(bundle)
    memory = MemoryLog()
    tell("loading", 0, 1)
    begin, begin_time_ns = perf_counter_ns(), time_ns()
    raw, _, pinned = open_session(setting, profile=os.path.join(work_dir, "profile"))
    load_ms = (perf_counter_ns() - begin) / 1e6
    start_ns = int(raw.get_profiling_start_time_ns())
    is_same_clock = begin_time_ns <= start_ns <= time_ns()
    memory.note("load")
    if pinned == "core":
        isolation.pin_process(setting.cpus[:1])
    path = ""
    try:
        session = OnnxRuntimeSession(raw, setting, pinned)
        tell("first", 0, 1)
        first_ms = loading.time_first_ns(session, feeds, CAPABILITIES.io_classes) / 1e6
        memory.note("first")
        tell("checking", 0, 1)
        bound = _bind(session, feeds)
        # The samples are in memory twice now, because of the harness.
        memory.note("bind", ours=sum(array_bytes(feed) for feed in feeds))
        timed = _Timed(bound, Witness(setting.cpus), asked, tell)
        timed.profile()
        path = raw.end_profiling()
        timed.time_unprofiled()
        memory.note("timed")
        with open(path, encoding="utf-8", errors="replace") as lines:
            since_us = (timed.since_ns - start_ns) / 1000 if is_same_clock else None
            recorded = read_timed(lines, timed.profiled, since_us)
        run = timed.sum_up(recorded, setting)
        return replace(run, load_ms=load_ms, first_ms=first_ms, peak_bytes=memory.result().get("peak")), recorded.runs
    finally:
        path = path or raw.end_profiling()
        if os.path.exists(path):
            os.unlink(path)


class _Timed:
    """The profiled and the unprofiled phase of one session, watched by one witness."""

    def __init__(self, bound: Bound, witness: Witness, asked: ProfileLimits, tell: Tell) -> None:
        self._calls = rotate(bound.calls)
        self._witness = witness
        self._asked = asked
        self._tell = tell
        self._stamps = Stamps()
        self._profiled: list[int] = []
        self._unprofiled: list[int] = []
        self.since_ns = 0
        """Wall-clock start of the profiled runs; the profiler uses the same clock."""

    @property
    def profiled(self) -> int:
        """The number of runs timed while profiling was on."""
        return len(self._profiled)

    def profile(self) -> None:
        """Drop one warm-up run, then make the requested runs as far as the limits allow."""
        self._tell("profiling", 0, self._asked.runs)
        gc.collect()
        gc.freeze()
        gc.disable()
        self.since_ns = time_ns()
        run_ns = int(self._stamps.block(self._calls, 1)[0][0])
        count = runs_for(self._asked, run_ns)
        self._witness.start()
        self._profiled = self._run(count, run_ns, "profiling", lambda done, _: done >= count)

    def time_unprofiled(self) -> None:
        """Time the session without its profiler: as long as the profiled runs took, at least 0.6 s, within `max_s`."""
        self._witness.skip()
        profiled_ns = sum(self._profiled)
        wanted_ns = min(max(_UNPROFILED_S * 1e9, profiled_ns), self._asked.max_s * 1e9 / 3)
        run_ns = max(1, profiled_ns // len(self._profiled))
        # The first run is still affected by the end of profiling.
        self._stamps.block(self._calls, 1)
        self._unprofiled = self._run(
            max(1, int(wanted_ns // run_ns)), run_ns, "timing", lambda _, passed_ns: passed_ns >= wanted_ns
        )

    def _run(self, expected: int, run_ns: int, stage: str, enough: Callable[[int, int], bool]) -> list[int]:
        """Run blocks of calls until there are enough; progress reports in between are not timed."""
        taken: list[int] = []
        passed_ns = 0
        reported_at = perf_counter()
        while not taken or not enough(len(taken), passed_ns):
            left = max(1, expected - len(taken))
            durations, elapsed_ns = self._stamps.block(self._calls, max(1, min(left, BLOCK_NS // max(1, run_ns))))
            self._witness.mark()
            taken.extend(durations.tolist())
            passed_ns += elapsed_ns
            if perf_counter() - reported_at > _TELL_S:
                reported_at = perf_counter()
                self._tell(stage, len(taken), max(expected, len(taken)))
                self._witness.skip()
        return taken

    def sum_up(self, recorded: TimedRuns, setting: LoadSettings) -> LayerRun:
        """Return the results of the runs."""
        noise = self._witness.finish()
        notes = list(recorded.notes)
        if self.profiled < self._asked.runs:
            notes.append(because("fewer_profiled_runs", count=self.profiled, of=self._asked.runs))
        return LayerRun(
            rows=(),
            unprofiled_us=statistics.median(self._unprofiled) / 1000,
            profiled_us=statistics.median(self._profiled) / 1000,
            bias_us=0.0,
            runs=len(recorded.runs),
            unprofiled_runs=len(self._unprofiled),
            kernels=0,
            load_ms=0.0,
            first_ms=0.0,
            peak_bytes=None,
            noise=noise,
            engine_version="",
            threads=setting.threads,
            cpus=setting.cpus,
            notes=tuple(notes),
        )


def runs_for(asked: ProfileLimits, run_ns: int) -> int:
    """Return the requested number of runs, reduced to fit the time and the profiler's event limit."""
    kernels = run_ns / 1000 / _LEAST_KERNEL_US
    if asked.most_kernels is not None:
        kernels = min(kernels, asked.most_kernels)
    in_time = asked.max_s * 1e9 / 3 / max(1, run_ns)
    return max(1, min(asked.runs, int(in_time), int(MOST_EVENTS / (kernels + 2))))


def _bind(session: OnnxRuntimeSession, feeds: list[Feed]) -> Bound:
    """Bind the cheapest I/O class that can run every sample, as a benchmark does."""
    classes = loading.classes(CAPABILITIES.io_classes)
    for last, io in enumerate(classes, 1):
        try:
            bound = session.bind(feeds, io)
            run_every_sample(bound)
        except (MemoryError, EngineRefusal):
            raise
        except Exception:
            # Output shapes that differ between samples can fail at any call.
            if last == len(classes):
                raise
        else:
            return bound
    raise IoUnavailable("no_way_to_pass_inputs")
