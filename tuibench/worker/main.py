"""Entry point of the worker: prepares process and engine, measures, and reports every end in a frame."""

from __future__ import annotations

import os
import re
import sys
import time
from typing import Any

from tuibench.core.engine import full_id, install_command, split_id
from tuibench.core.errors import EngineError, TuibenchError
from tuibench.core.reason import OUT_OF_MEMORY, Failure, because
from tuibench.core.record import from_plain, to_plain
from tuibench.engines import factory
from tuibench.engines.error_words import exception_reason, plain_words
from tuibench.engines.protocol import BadSetting, Engine, EngineRefusal, IoUnavailable
from tuibench.worker import isolation, loading
from tuibench.worker.job import Job, receive, send

_MEMORY_WORDS = (
    "Failed to allocate memory",
    "bad_alloc",
    "Cannot allocate memory",
    "std::bad_alloc",
    "Unable to allocate",
)
_PROGRESS_S = 0.5
_MOST_CHARS = 2000


class Reporter:
    """Reports the execution's progress to the runner, at most twice a second and only between blocks."""

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self._last = 0.0
        self.phase = "start"

    def enter(self, phase: str, expected_s: float | None = None) -> None:
        """Report a new phase; the runner sets its time limit from it."""
        self.phase = phase
        send(self._fd, {"f": "phase", "phase": phase, "expected_s": expected_s})

    def progress(self, phase: str, p50_ns: float) -> None:
        """Report the median so far."""
        now = time.monotonic()
        if now - self._last >= _PROGRESS_S:
            self._last = now
            send(self._fd, {"f": "progress", "phase": phase, "p50_ns": p50_ns})

    def send(self, message: dict[str, Any]) -> None:
        """Send any other frame."""
        send(self._fd, message)


def main() -> None:
    """Run the job received on stdin; frames leave on stdout, which engines cannot reach."""
    frames = os.dup(1)
    job_message = receive(0)
    isolation.die_with_parent(job_message["parent"])
    isolation.ignore_interrupts()
    # Own process group: the runner can end streams with it before they tie themselves to the worker's life.
    os.setpgid(0, 0)
    job = from_plain(Job, job_message["job"])
    isolation.redirect_output(job.log_path)
    isolation.prefer_oom_kill()
    reporter = Reporter(frames)
    try:
        reporter.send({"f": "result", "execution": to_plain(carry_out(job, reporter))})
    except BaseException as error:  # process boundary: any error becomes the failure of this execution
        reporter.send({"f": "failure", "failure": to_plain(describe(error, reporter.phase))})
        _leave(1)
    _leave(0)


def carry_out(job: Job, reporter: Reporter) -> Any:
    """Pin, set the environment, import the engine, load, check, warm up and measure."""
    reporter.enter("start")
    isolation.pin_process(job.cpus)
    os.chdir(job.work_dir)  # engines may leave files in the current directory
    asked = job.cell.asked
    engine = factory.make(asked.engine)
    own_queue = job.scenario.has_streams and queue_wanted(engine.capabilities.stream_kinds, job.stream_kind)
    own_queue = own_queue and (engine.capabilities.serves_nodes or not job.scenario.by_node)
    whole = loading.Share(job.cpus, len(job.cpus))
    shares = make_shares(job, whole)
    first = whole if own_queue else shares[0]
    setting = loading.setting_for(
        asked,
        job.model_path,
        one_at_a_time=job.scenario.is_single_request,
        threads=first.threads,
        streams=job.streams if own_queue else 1,
        cpus=first.cpus,
        work_dir=job.work_dir,
        weight_types=job.weight_types,
        nodes=job.nodes,
        scheduler=job.scenario.scheduler,
    )
    isolation.apply_environment({**isolation.thread_variables(first.threads), **engine.environment(setting)})
    reporter.send({"f": "modules", "names": sorted(sys.modules)})
    version = start_engine(engine, asked.engine)
    isolation.limit_memory(job.memory_room_bytes, max(len(job.cpus), job.streams), job.memory_limit_bytes)

    from tuibench.worker.execution import Measurement

    return Measurement(job, engine, version, setting, shares, own_queue, reporter).measure()


def start_engine(engine: Engine, engine_id: str) -> str:
    """Import the engine and return its version; raise MissingEngine if that fails or another release is installed."""
    full = full_id(engine_id)
    release = split_id(full)[1]
    try:
        version = engine.start()
    except ImportError as error:
        if release:  # it was installed: installing it again would change nothing
            raise MissingEngine("engine_not_imported", engine=engine_id, text=str(error)) from error
        command = install_command(engine_id)
        raise MissingEngine("engine_not_installed", engine=engine_id, text=str(error), command=command) from error
    if release and not re.match(rf"{re.escape(release)}(?!\d)", version):
        raise MissingEngine("engine_other_release", engine=full, version=version)
    return version


def make_shares(job: Job, whole: loading.Share) -> list[loading.Share]:
    """Return the CPUs and threads of each stream, or of each instance."""
    if job.scenario.by_node:
        return [loading.Share(node, len(node)) for node in job.nodes or (job.cpus,)]
    if job.scenario.has_streams:
        return loading.divide_cpus(job.cpus, job.streams, job.cell.asked.pin, job.nodes)
    return [whole]


def queue_wanted(kinds: tuple[str, ...], asked: str | None) -> bool:
    """Return whether the engine's own queue provides the streams."""
    return asked == "queue" or (asked is None and "queue" in kinds)


class MissingEngine(EngineError):
    """The engine's package is not installed, or cannot be imported."""


def describe(error: BaseException, phase: str) -> Failure:
    """Return the failure of an execution from its error."""
    reason = exception_reason(error)
    said = reason.fields.get("text")
    if isinstance(error, MissingEngine):
        return Failure("engine", phase, reason)
    if isinstance(error, BadSetting):
        return Failure("setting", phase, reason)
    if isinstance(error, IoUnavailable):
        return Failure("refused", phase, because("io_unavailable", why=reason))
    if isinstance(error, EngineRefusal):
        return Failure("refused", phase, reason)
    if isinstance(error, MemoryError) or (isinstance(said, str) and any(word in said for word in _MEMORY_WORDS)):
        text = (plain_words(str(error)) or type(error).__name__)[:_MOST_CHARS]
        return Failure("memory", phase, because(OUT_OF_MEMORY, text=said if isinstance(error, TuibenchError) else text))
    return Failure("exception", phase, reason)


def _leave(code: int) -> None:
    """Exit at once: static destructors of engines can hang or crash after the result was sent."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)
