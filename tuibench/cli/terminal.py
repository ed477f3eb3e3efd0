"""The terminal of a command: its presence, and reading one key from it."""

from __future__ import annotations

import os
import select
import signal
import termios
import tty
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from types import FrameType

from tuibench.core.errors import ExitCode

_TTY = "/dev/tty"


class Terminal:
    """A terminal opened only on demand; a background job has none that answers."""

    def __init__(self, path: str = _TTY) -> None:
        self._path = path
        self.was_there = self.is_there()

    def is_there(self) -> bool:
        """Return whether it can be opened: the kernel closes it to all its processes on hang-up."""
        try:
            os.close(os.open(self._path, os.O_RDWR | os.O_NOCTTY | os.O_CLOEXEC))
        except OSError:
            return False
        return True

    @property
    def went_away(self) -> bool:
        """True if there was a terminal and it is gone now."""
        return self.was_there and not self.is_there()

    def can_be_asked(self) -> bool:
        """Return whether a typed key would reach this process."""
        try:
            number = os.open(self._path, os.O_RDWR | os.O_NOCTTY | os.O_CLOEXEC)
        except OSError:
            return False
        try:
            return os.tcgetpgrp(number) == os.getpgrp()
        except OSError:
            return False
        finally:
            os.close(number)

    def read_key(self, until: int, ask: Callable[[], None]) -> str | None:
        """Return one key typed after `ask`; None if `until` becomes readable first or the terminal goes away."""
        try:
            number = os.open(self._path, os.O_RDWR | os.O_NOCTTY | os.O_CLOEXEC)
        except OSError:
            return None
        try:
            before = termios.tcgetattr(number)
            try:
                # cbreak mode keeps signals: the second Ctrl-C must arrive as one.
                tty.setcbreak(number, termios.TCSADRAIN)
                # Discard keys typed before the question.
                termios.tcflush(number, termios.TCIFLUSH)
                ask()
                return _wait_for_key(number, until)
            finally:
                termios.tcsetattr(number, termios.TCSADRAIN, before)
        except (OSError, termios.error):
            return None
        finally:
            os.close(number)


def _wait_for_key(number: int, until: int) -> str | None:
    poll = select.poll()
    for each in (number, until):
        poll.register(each, select.POLLIN)
    ready = {fd for fd, _ in poll.poll()}
    if number not in ready:
        return None
    # Read the whole escape sequence of a key, or the shell would receive the rest.
    return os.read(number, 32).decode("utf-8", "replace") or None


CODES = {
    signal.SIGINT: ExitCode.INTERRUPT,
    signal.SIGTERM: ExitCode.TERMINATED,
    signal.SIGHUP: ExitCode.HANGUP,
}


@contextmanager
def held_back() -> Iterator[Callable[[], object]]:
    """Block the signals until the end of the block, or until the function that it yields is called.

    Children started in it must unblock them.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, CODES)
    let_in = partial(signal.pthread_sigmask, signal.SIG_SETMASK, before)
    try:
        yield let_in
    finally:
        let_in()


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
