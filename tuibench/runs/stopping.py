"""Hears that a run should end: a signal, or the client that went away; waiting on it costs nothing."""

from __future__ import annotations

import os
import select
import signal
from collections.abc import Sequence
from types import FrameType

SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


class Cancelled(Exception):
    """The run was asked to end."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class StopSwitch:
    """A descriptor that becomes readable when the run should end, for every wait of the runner to include."""

    def __init__(self, lifeline: int | None = None) -> None:
        self._read, self._write = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        self._lifeline = lifeline
        self._reason: str | None = None

    def listen(self) -> None:
        """Take the signals that mean cancel; only the main thread may."""
        for number in SIGNALS:
            signal.signal(number, self._hear)
        # Whoever started this process may have held them back meanwhile.
        signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)

    def fds(self) -> tuple[int, ...]:
        """What to wait on."""
        return (self._read,) if self._lifeline is None else (self._read, self._lifeline)

    def close(self) -> None:
        """Give its descriptors back, for processes that outlive many of them."""
        os.close(self._read)
        os.close(self._write)

    def trip(self, reason: str) -> None:
        """Ask the run to end."""
        if self._reason is None:
            self._reason = reason
        os.write(self._write, b"x")

    def check(self) -> None:
        """Raise Cancelled when the run should end."""
        if self._reason is None and self._lifeline is not None and _at_end(self._lifeline):
            self._reason = "the client went away"
        if self._reason is not None:
            raise Cancelled(self._reason)

    def wait(self, fds: Sequence[int], timeout_s: float) -> set[int]:
        """Those of `fds` that are ready within the time; Cancelled when the run should end first."""
        poll = select.poll()
        for fd in (*fds, *self.fds()):
            poll.register(fd, select.POLLIN)
        ready = {fd for fd, _ in poll.poll(max(0.0, timeout_s) * 1000)}
        if ready & set(self.fds()):
            self.check()
        return ready & set(fds)

    def pause(self, seconds: float) -> None:
        """Sleep, unless the run should end."""
        self.wait([], seconds)

    def _hear(self, number: int, _: FrameType | None) -> None:
        self.trip(signal.Signals(number).name)


def _at_end(fd: int) -> bool:
    poll = select.poll()
    poll.register(fd, select.POLLIN)
    return any(mask & (select.POLLHUP | select.POLLERR | select.POLLIN) for _, mask in poll.poll(0))
