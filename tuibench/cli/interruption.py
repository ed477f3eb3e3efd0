"""Signals that end a command: heard once, never lost, and held back where nothing may be left half done."""

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
    """Let them wait until the end of the block; children started in it must let them through themselves."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, CODES)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


class Ended(BaseException):
    """A signal asked this process to end; commands clean up as it passes."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.code = CODES[signal.Signals(number)]


class Interruption:
    """Raises Ended at the first signal, wherever that is; further ones must not disturb the end."""

    def __init__(self) -> None:
        self._number: int | None = None
        self._asks = False
        self.asked = False
        """Whether Ctrl-C was pressed where that only opens a question."""

    def listen(self) -> None:
        """Take the signals, except those that whoever started us wants ignored, as nohup does."""
        for number in CODES:
            if signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, self._hear)

    def check(self) -> None:
        """Raise again: what is raised inside a finalizer, as the imports run them, Python prints and forgets."""
        if self._number is not None:
            raise Ended(self._number)

    @contextmanager
    def asking(self) -> Iterator[None]:
        """In the block the first Ctrl-C is only noted, and the next one counts, until `answered`."""
        self._asks = True
        try:
            yield
        finally:
            self._asks = self.asked = False

    def answered(self) -> None:
        """The question got another answer: the next Ctrl-C asks again."""
        self.asked = False

    def _hear(self, number: int, _: FrameType | None) -> None:
        if number == signal.SIGINT and self._asks and not self.asked and self._number is None:
            self.asked = True
            return
        if self._number is None:
            self._number = number
            raise Ended(number)
