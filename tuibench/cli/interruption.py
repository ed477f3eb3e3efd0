"""Signals that end a command: caught once, never lost, and blocked during critical steps."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from tuibench.core.errors import ExitCode

CODES = {
    signal.SIGINT: ExitCode.INTERRUPT,
    signal.SIGTERM: ExitCode.TERMINATED,
    signal.SIGHUP: ExitCode.HANGUP,
}


@contextmanager
def held_back() -> Iterator[None]:
    """Block the signals until the end of the block; children started in it must unblock them."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, CODES)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


class Ended(BaseException):
    """A signal asked this process to end; commands clean up while it propagates."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.code = CODES[signal.Signals(number)]


class Interruption:
    """Raises Ended at the first signal, wherever it arrives; ignores later ones, so that cleanup completes."""

    def __init__(self) -> None:
        self._number: int | None = None
        self._asks = False
        self.asked = False
        """True if Ctrl-C was pressed and only opens a question."""

    def listen(self) -> None:
        """Install the handlers, except for signals that the parent set to be ignored, as nohup does."""
        for number in CODES:
            if signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, self._hear)

    def check(self) -> None:
        """Raise again: Python prints and drops an exception raised inside a finalizer, such as imports run."""
        if self._number is not None:
            raise Ended(self._number)

    @contextmanager
    def asking(self) -> Iterator[None]:
        """Only note the first Ctrl-C in the block; the second ends the command, unless `answered` was called."""
        self._asks = True
        try:
            yield
        finally:
            self._asks = self.asked = False

    def answered(self) -> None:
        """Note another answer: the next Ctrl-C asks again."""
        self.asked = False

    def _hear(self, number: int, _: FrameType | None) -> None:
        if number == signal.SIGINT and self._asks and not self.asked and self._number is None:
            self.asked = True
            return
        if self._number is None:
            self._number = number
            raise Ended(number)
