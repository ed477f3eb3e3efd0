"""Supervises one worker phase by phase and turns any end into a result or a failure with its true reason."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, cast

from tuibench.core.cell import Execution
from tuibench.core.errors import signal_name
from tuibench.core.reason import DIED, KILLED_BY_KERNEL, Failure, Reason, because, error_text
from tuibench.core.record import from_plain, to_plain
from tuibench.runs.schedule import LIMITS_S
from tuibench.runs.task import Cancelled, StopSwitch, read_tail
from tuibench.worker.job import Assembler, Job, find_assertion, send
from tuibench.worker.start import start_command, start_environment

_GRACE_S = 2.0
_KILL_S = 5.0
_PAD_BYTES = 4096
_PAD = "TUIBENCH_PAD"
_PAGE = 1 << 16

Listen = Callable[[Mapping[str, Any]], None]


class OutOfTime(Exception):
    """--max-time passed before the end; nothing failed."""


@dataclass(slots=True)
class Bounds:
    """Time limits of phases, shared by a whole run so that an extension reaches the current phase."""

    scale: float
    deadline: float | None
    """The deadline in time.monotonic; it ends every phase."""

    def limit_s(self, phase: str, expected_s: float | None) -> float:
        """Return the limit of `phase` in seconds."""
        limit = self.phase_s(phase, expected_s)
        return limit if self.deadline is None else max(0.0, min(limit, self.deadline - time.monotonic()))

    def phase_s(self, phase: str, expected_s: float | None) -> float:
        """Return the limit of `phase` without the command's deadline."""
        return self.scale * (LIMITS_S.get(phase, 60.0) if expected_s is None else 3 * expected_s + 10)

    def extend(self, more_s: float) -> None:
        """Move the command's deadline, if there is one."""
        if self.deadline is not None:
            self.deadline += more_s

    @property
    def over(self) -> bool:
        """Return whether the command's deadline has passed."""
        return self.deadline is not None and time.monotonic() >= self.deadline


class Supervision:
    """Supervises one execution from outside."""

    def __init__(self, job: Job, bounds: Bounds, stop: StopSwitch, listen: Listen, pad: int) -> None:
        self._job = job
        self._bounds = bounds
        self._stop = stop
        self._listen = listen
        self._pad = pad % _PAD_BYTES
        self._phase = "start"
        self._limit_s = bounds.phase_s("start", None)
        self._deadline = time.monotonic() + self._limit_s
        self._answer: Execution | Failure | None = None
        self._frames = Assembler()

    def carry_out(self) -> Execution | Failure:
        """Start the worker and wait for its result or failure; raise OutOfTime if the command's deadline passed."""
        oom_before = count_oom_kills()
        process, frames = self._start()
        try:
            timed_out = self._watch(process, frames)
        except Cancelled:
            _end(process, gently=False)
            raise
        finally:
            os.close(frames)
            if process.poll() is None:
                _end(process, gently=False)
        if self._answer is not None:
            return self._with_tail(self._answer)
        if timed_out and self._bounds.over:
            raise OutOfTime
        if timed_out:
            return self._failure("timeout", because("phase_too_long", limit_s=self._limit_s))
        return self._death(process.returncode, count_oom_kills() > oom_before)

    def _start(self) -> tuple[subprocess.Popen[bytes], int]:
        """Start the worker; return it with the descriptor of its frames, which the caller closes."""
        Path(self._job.log_path).touch(mode=0o600)
        frames, writing = os.pipe2(os.O_CLOEXEC)
        # The size of the environment shifts the stack and affects the speed: draw it anew for each execution.
        environment = {**start_environment(self._job.interpreter), _PAD: "x" * self._pad}
        try:
            process = subprocess.Popen(
                start_command("tuibench.worker.main", self._job.interpreter),
                stdin=subprocess.PIPE,
                stdout=writing,
                env=environment,
            )
        except BaseException:
            os.close(frames)
            raise
        finally:
            os.close(writing)
        with cast(IO[bytes], process.stdin) as inbox, suppress(BrokenPipeError):
            # A worker that is dead already cannot read; waiting for it finds the cause.
            send(inbox.fileno(), {"job": to_plain(self._job), "parent": os.getpid()})
        return process, frames

    def _watch(self, process: subprocess.Popen[bytes], frames: int) -> bool:
        """Read frames until the worker has ended; return True if a phase exceeded its limit."""
        handle = os.pidfd_open(process.pid)
        try:
            while True:
                left = self._left_s()
                if left <= 0:
                    _end(process, gently=True)
                    self._drain(frames)
                    return True
                ready = self._stop.wait([frames, handle], left)
                if frames in ready and not self._take(frames):
                    break
                if ready == {handle}:
                    self._drain(frames)
                    break
        finally:
            os.close(handle)
        with suppress(subprocess.TimeoutExpired):
            process.wait(max(0.0, min(_KILL_S, self._deadline - time.monotonic())))
        return False

    def _left_s(self) -> float:
        """Return the time left for this phase or the command; an answered worker only has to exit."""
        command_s = self._bounds.deadline
        end = self._deadline if command_s is None or self._answer is not None else min(self._deadline, command_s)
        return end - time.monotonic()

    def _drain(self, fd: int) -> None:
        os.set_blocking(fd, False)
        try:
            while self._take(fd):
                continue
        except BlockingIOError:
            return

    def _take(self, fd: int) -> bool:
        data = os.read(fd, _PAGE)
        for frame in self._frames.feed(data):
            self._hear(frame)
        return bool(data)

    def _hear(self, frame: dict[str, Any]) -> None:
        kind = frame["f"]
        if kind == "phase":
            self._phase = frame["phase"]
            self._limit_s = self._bounds.phase_s(self._phase, frame.get("expected_s"))
            self._deadline = time.monotonic() + self._limit_s
        elif kind == "result":
            self._answer = from_plain(Execution, frame["execution"])
            self._deadline = time.monotonic() + _KILL_S
        elif kind == "failure":
            self._answer = from_plain(Failure, frame["failure"])
            self._deadline = time.monotonic() + _KILL_S
        self._listen(frame)

    def _with_tail(self, answer: Execution | Failure) -> Execution | Failure:
        if isinstance(answer, Failure):
            tail = read_tail(self._job.log_path)
            return Failure(answer.kind, answer.phase, answer.message, answer.signal, tail)
        return answer

    def _failure(self, kind: str, message: Reason, name: str | None = None) -> Failure:
        return Failure(kind, self._phase, message, name, read_tail(self._job.log_path))

    def _death(self, code: int | None, oom: bool) -> Failure:
        if code is not None and code < 0:
            name = signal_name(-code)
            if oom and name == "SIGKILL":
                return self._failure("memory", Reason(KILLED_BY_KERNEL), name)
            died = because(DIED, signal=name, process="the worker")
            said = find_assertion(self._job.log_path) if name == "SIGABRT" else ""
            return self._failure("signal", error_text(said) if said else died, name)
        said = find_assertion(self._job.log_path)
        if code and said:
            engine = self._job.cell.asked.engine
            return self._failure("exit", because("engine_ended_process", engine=engine, exit_code=code, text=said))
        return self._failure("exit", because("worker_ended", exit_code=code))


def _end(process: subprocess.Popen[bytes], *, gently: bool) -> None:
    """Send SIGTERM and after two seconds SIGKILL, or SIGKILL at once."""
    if gently:
        process.terminate()
        with suppress(subprocess.TimeoutExpired):
            process.wait(_GRACE_S)
    if process.poll() is None:
        process.kill()
        with suppress(ProcessLookupError):  # it ended before it had a process group
            os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def count_oom_kills() -> int:
    """Return the kernel's count of out-of-memory kills on the whole machine."""
    try:
        text = Path("/proc/vmstat").read_text(encoding="ascii")
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in text.splitlines() if line.startswith("oom_kill ")), 0)
