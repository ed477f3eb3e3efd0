"""Hears that a run should end: a signal, or the client that went away; waiting on it costs nothing."""

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
"""What a client says on the lifeline before it goes, when the run is to go on without it."""
BEGUN = b"begun\n"
"""What a runner whose client leaves at once answers as soon as its run can be found."""
BEAT_S = 5.0
BY_WISH = "cancelled on request"
SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
KNOCK = signal.SIGURG
"""Asks a runner to look for wishes at once; a process that does not listen for it is not harmed by it."""


class Cancelled(Exception):
    """The run was asked to end."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class StopSwitch:
    """A descriptor that becomes readable when the run should end, for every wait of the runner to include."""

    def __init__(self, lifeline: int | None = None, is_unwanted: Callable[[], bool] = lambda: False) -> None:
        self._is_unwanted = is_unwanted
        self._read, self._write = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        self._knocked, self._knocker = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        self._lifeline = lifeline
        self._reason: str | None = None
        self._beats: list[Callable[[], None]] = []
        self._beat_at = float("inf")

    def let_go(self) -> None:
        """Go on without the client, whose end means nothing from now on."""
        self._lifeline = None

    def beat_with(self, beat: Callable[[], None]) -> None:
        """Have `beat` called, too, every five seconds of waiting, and when somebody knocks.

        That is for a sign of life, and for a look at the wishes that were left in files.
        """
        self._beats.append(beat)
        self._beat_at = time.monotonic() + BEAT_S

    def listen(self) -> None:
        """Take the signals that mean cancel; only the main thread may."""
        for number in SIGNALS:
            signal.signal(number, self._hear)
        signal.signal(KNOCK, self._hear_knocking)
        # Whoever started this process may have held them back meanwhile.
        signal.pthread_sigmask(signal.SIG_UNBLOCK, (*SIGNALS, KNOCK))

    def fds(self) -> tuple[int, ...]:
        """What to wait on."""
        return (self._read,) if self._lifeline is None else (self._read, self._lifeline)

    def close(self) -> None:
        """Give its descriptors back, for processes that outlive many of them."""
        for descriptor in (self._read, self._write, self._knocked, self._knocker):
            os.close(descriptor)

    def trip(self, reason: str) -> None:
        """Ask the run to end."""
        if self._reason is None:
            self._reason = reason
        os.write(self._write, b"x")

    def check(self) -> None:
        """Raise Cancelled when the run should end."""
        if self._lifeline is not None:
            self._hear_the_client(self._lifeline)
        if self._reason is not None:
            raise Cancelled(self._reason)

    def wait(self, fds: Sequence[int], timeout_s: float) -> set[int]:
        """Those of `fds` that are ready within the time; Cancelled when the run should end first."""
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
        with suppress(BlockingIOError):  # nobody knocked: it was time
            os.read(self._knocked, 1 << 16)
        for beat in self._beats:
            beat()

    def pause(self, seconds: float) -> None:
        """Sleep, unless the run should end."""
        self.wait([], seconds)

    def _hear(self, number: int, _: FrameType | None) -> None:
        # Whoever asks for the end of a run leaves a note, and then a signal so that it is read at once.
        self.trip(BY_WISH if self._is_unwanted() else signal_name(number))

    def _hear_knocking(self, number: int, _: FrameType | None) -> None:
        with suppress(BlockingIOError):  # thousands did before, and will be heard
            os.write(self._knocker, b"x")

    def _hear_the_client(self, lifeline: int) -> None:
        poll = select.poll()
        poll.register(lifeline, select.POLLIN)
        if not poll.poll(0):
            return
        if os.read(lifeline, len(DETACH)) == DETACH:
            self.let_go()
        elif self._reason is None:
            self._reason = "the client went away"
