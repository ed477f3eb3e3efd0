"""Stop requests for a run, by a signal or a lost client; waiting for them costs nothing."""

from __future__ import annotations

import os
import select
import signal
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from types import FrameType

from tuibench.core.signal_name import signal_name

DETACH = b"detach\n"
"""Sent by a client on the lifeline to detach from a run that continues."""
BEGUN = b"begun\n"
"""Sent by a runner to a detaching client as soon as its run can be found."""
BEAT_S = 5.0
BY_REQUEST = "cancelled on request"
SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
KNOCK = signal.SIGURG
"""Asks a runner to check for control requests at once; harmless to processes without a handler."""


class Cancelled(Exception):
    """The run was asked to stop."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class StopSwitch:
    """A descriptor that becomes readable when the run is to stop, included in every wait of the runner."""

    def __init__(self, lifeline: int | None = None, is_unwanted: Callable[[], bool] = lambda: False) -> None:
        self._is_unwanted = is_unwanted
        self._read, self._write = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        self._knocked, self._knocker = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        self._lifeline = lifeline
        self._reason: str | None = None
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

    def trip(self, reason: str) -> None:
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
        self.trip(BY_REQUEST if self._is_unwanted() else signal_name(number))

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
            self._reason = "the client went away"
