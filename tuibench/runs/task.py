"""Calls a short-lived child process for work on untrusted bytes; any end of the child becomes an answer."""

from __future__ import annotations

import json
import os
import re
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any, Protocol

from tuibench.core.errors import (
    EngineError,
    ExitCode,
    ModelError,
    PhaseTimeout,
    TuibenchError,
    UsageError,
    WriteError,
    signal_name,
)
from tuibench.core.reason import CANCELLED_ON_REQUEST, SIGNAL, Reason, because
from tuibench.core.record import from_plain
from tuibench.core.text import show
from tuibench.worker.start import WITHOUT_TELEMETRY

DETACH = b"detach\n"
"""Sent by a client on the lifeline to detach from a run that continues."""
BEGUN = b"begun\n"
"""Sent by a runner to a detaching client as soon as its run can be found."""
BEAT_S = 5.0
SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
KNOCK = signal.SIGURG
"""Asks a runner to check for control requests at once; harmless to processes without a handler."""


class Cancelled(Exception):
    """The run was asked to stop."""

    def __init__(self, reason: Reason) -> None:
        super().__init__(reason.code)
        self.reason = reason


class StopSwitch:
    """A descriptor that becomes readable when the run is to stop, included in every wait of the runner."""

    def __init__(self, lifeline: int | None = None, is_unwanted: Callable[[], bool] = lambda: False) -> None:
        self._is_unwanted = is_unwanted
        self._read, self._write = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        self._knocked, self._knocker = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        self._lifeline = lifeline
        self._reason: Reason | None = None
        self._beats: list[Callable[[], None]] = []
        self._beat_at = float("inf")

    def detach(self) -> None:
        """Detach from the client; ignore its end from now on."""
        self._lifeline = None

    def beat_with(self, beat: Callable[[], None]) -> None:
        """Call `beat` every five seconds of waiting, and after a KNOCK signal.

        It serves as a heartbeat and to check for control requests in files.
        """
        self._beats.append(beat)
        self._beat_at = time.monotonic() + BEAT_S

    def listen(self) -> None:
        """Install the handlers of the stop signals; only the main thread may do so."""
        for number in SIGNALS:
            signal.signal(number, self._hear)
        signal.signal(KNOCK, self._hear_knocking)
        # The parent process may have blocked these signals.
        signal.pthread_sigmask(signal.SIG_UNBLOCK, (*SIGNALS, KNOCK))

    def fds(self) -> tuple[int, ...]:
        """Return the descriptors to wait on."""
        return (self._read,) if self._lifeline is None else (self._read, self._lifeline)

    def close(self) -> None:
        """Close the descriptors, for processes that use many switches."""
        for descriptor in (self._read, self._write, self._knocked, self._knocker):
            os.close(descriptor)

    def trip(self, reason: Reason) -> None:
        """Ask the run to stop."""
        if self._reason is None:
            self._reason = reason
        os.write(self._write, b"x")

    def check(self) -> None:
        """Raise Cancelled if the run is to stop."""
        if self._lifeline is not None:
            self._hear_the_client(self._lifeline)
        if self._reason is not None:
            raise Cancelled(self._reason)

    def wait(self, fds: Sequence[int], timeout_s: float) -> set[int]:
        """Return those of `fds` ready within the time; raise Cancelled if the run is to stop first."""
        deadline = time.monotonic() + timeout_s
        while True:
            ready = self._poll(fds, min(deadline, self._beat_at) - time.monotonic())
            if ready & set(self.fds()):
                self.check()
            now = time.monotonic()
            if now >= self._beat_at or self._knocked in ready:
                self._beat_at = now + BEAT_S
                self._look_around()
            if ready & set(fds) or now >= deadline:
                return ready & set(fds)

    def _poll(self, fds: Sequence[int], seconds: float) -> set[int]:
        poll = select.poll()
        for fd in (*fds, *self.fds(), self._knocked):
            poll.register(fd, select.POLLIN)
        return {fd for fd, _ in poll.poll(max(0.0, seconds) * 1000)}

    def _look_around(self) -> None:
        with suppress(BlockingIOError):  # the time was up, no KNOCK came
            os.read(self._knocked, 1 << 16)
        for beat in self._beats:
            beat()

    def pause(self, seconds: float) -> None:
        """Sleep; raise Cancelled if the run is to stop."""
        self.wait([], seconds)

    def _hear(self, number: int, _: FrameType | None) -> None:
        # A cancel command writes a request file first and then sends a signal so that it is read at once.
        cancelled = self._is_unwanted()
        self.trip(Reason(CANCELLED_ON_REQUEST) if cancelled else because(SIGNAL, signal=signal_name(number)))

    def _hear_knocking(self, number: int, _: FrameType | None) -> None:
        with suppress(BlockingIOError):  # the pipe is full of earlier knocks, which suffice
            os.write(self._knocker, b"x")

    def _hear_the_client(self, lifeline: int) -> None:
        poll = select.poll()
        poll.register(lifeline, select.POLLIN)
        if not poll.poll(0):
            return
        if os.read(lifeline, len(DETACH)) == DETACH:
            self.detach()
        elif self._reason is None:
            self._reason = Reason("client_gone")


_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
"""Engines end a coloured line with the reset on a line of its own."""

_KINDS: dict[int, type[TuibenchError]] = {
    ExitCode.USAGE: UsageError,
    ExitCode.MODEL: ModelError,
    ExitCode.ENGINE: EngineError,
    ExitCode.TIMEOUT: PhaseTimeout,
    ExitCode.STORE: WriteError,
}


@dataclass(frozen=True, slots=True)
class ChildDeath(Exception):
    """The child ended without an answer."""

    kind: str
    """signal, timeout or exit."""
    reason: Reason
    signal: str | None
    log_tail: str | None

    def __str__(self) -> str:
        return self.reason.code


class Call(Protocol):
    """The signature of `call_child`, for substitutes in tests."""

    def __call__(
        self,
        task: str,
        request: dict[str, Any],
        *,
        timeout_s: float,
        stop: StopSwitch,
        log_path: str = ...,
        on_line: Callable[[dict[str, Any]], float | None] | None = None,
    ) -> Any:
        """Return a child's answer; raise TuibenchError if it refused, ChildDeath if it died."""


def python_command(module: str, *arguments: str) -> list[str]:
    """Return the command for one of our modules, without the current directory on its path."""
    return [sys.executable, "-P", "-m", module, *arguments]


def child_environment() -> dict[str, str]:
    """Return this environment, with the package importable from any directory."""
    home = Path(__file__).resolve().parents[2]
    search = os.environ.get("PYTHONPATH", "")
    paths = [os.path.abspath(part) for part in search.split(os.pathsep) if part]
    if home.name not in ("site-packages", "dist-packages") and str(home) not in paths:
        paths.append(str(home))
    own = {"PYTHONPATH": os.pathsep.join(paths)} if paths else {}
    return {**os.environ, **own, **WITHOUT_TELEMETRY}


def call_child(
    task: str,
    request: dict[str, Any],
    *,
    timeout_s: float,
    stop: StopSwitch,
    log_path: str = os.devnull,
    on_line: Callable[[dict[str, Any]], float | None] | None = None,
) -> Any:
    """Return the result of a child task; raise TuibenchError if it refused, ChildDeath if it died.

    Earlier lines are passed to `on_line`, which may return a new limit in seconds from now.
    """
    with open(log_path, "ab") as log:
        child = subprocess.Popen(
            python_command("tuibench.child", task),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            env=child_environment(),
        )
    try:
        return _converse(child, request, timeout_s, stop, on_line, log_path)
    finally:
        end_process(child)


def _converse(
    child: subprocess.Popen[bytes],
    request: dict[str, Any],
    timeout_s: float,
    stop: StopSwitch,
    on_line: Callable[[dict[str, Any]], float | None] | None,
    log_path: str,
) -> Any:
    if child.stdin is None or child.stdout is None:
        raise RuntimeError("the child has no channel")
    try:
        child.stdin.write(json.dumps(request).encode())
        child.stdin.close()
    except BrokenPipeError:
        return _answer(None, child, log_path)
    deadline = time.monotonic() + timeout_s
    fd, rest, last = child.stdout.fileno(), b"", None
    while True:
        left = deadline - time.monotonic()
        if left <= 0:
            end_process(child)
            raise ChildDeath("timeout", because("no_answer", s=timeout_s), None, read_tail(log_path))
        if not stop.wait([fd], left):
            continue
        data = os.read(fd, 1 << 16)
        if not data:
            break
        *lines, rest = (rest + data).split(b"\n")
        for line in lines:
            last = json.loads(line)
            if "ok" not in last and on_line is not None:
                limit = on_line(last)
                if limit is not None:
                    timeout_s, deadline = limit, time.monotonic() + limit
    return _answer(last, child, log_path)


def _answer(last: dict[str, Any] | None, child: subprocess.Popen[bytes], log_path: str) -> Any:
    code = child.wait()
    if last is not None and last.get("ok"):
        return last["result"]
    if last is not None and "error" in last:
        error = last["error"]
        kind = _KINDS.get(int(error.get("exit_code") or 0), TuibenchError)
        raise kind.from_reason(from_plain(Reason, error["reason"]))
    tail = read_tail(log_path)
    if code < 0:
        name = signal_name(-code)
        raise ChildDeath("signal", because("died", signal=name), name, tail)
    raise ChildDeath("exit", because("ended_without_answer", exit_code=code), None, tail)


def end_process(child: subprocess.Popen[bytes]) -> None:
    """Kill and reap the child."""
    if child.poll() is None:
        child.kill()
    child.wait()
    if child.stdout is not None:
        child.stdout.close()


def read_tail(path: str) -> str | None:
    """Return the last line of a log, safe to show."""
    try:
        with open(path, "rb") as handle:
            handle.seek(0, os.SEEK_END)
            handle.seek(max(0, handle.tell() - 4096))
            text = _COLOUR.sub("", handle.read().decode(errors="replace"))
    except OSError:
        return None
    lines = [line for line in text.splitlines() if line.strip()]
    return show(lines[-1].strip(), 300) if lines else None
