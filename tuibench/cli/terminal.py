"""The terminal that a command was started from: whether it is still there, and one key from it."""

from __future__ import annotations

import os
import select
import termios
import tty
from collections.abc import Callable

_TTY = "/dev/tty"


class Terminal:
    """Nothing is opened until it is needed; a job in the background has none to ask."""

    def __init__(self, path: str = _TTY) -> None:
        self._path = path
        self.was_there = self.is_there()

    def is_there(self) -> bool:
        """Whether it can be opened: the kernel takes it from all its processes when it hangs up."""
        try:
            os.close(os.open(self._path, os.O_RDWR | os.O_NOCTTY | os.O_CLOEXEC))
        except OSError:
            return False
        return True

    @property
    def went_away(self) -> bool:
        """Whether there was one and is none now."""
        return self.was_there and not self.is_there()

    def can_be_asked(self) -> bool:
        """Whether a key typed now would come to this process."""
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
        """One key typed after `ask`; None where `until` becomes readable first, or the terminal goes away."""
        try:
            number = os.open(self._path, os.O_RDWR | os.O_NOCTTY | os.O_CLOEXEC)
        except OSError:
            return None
        try:
            before = termios.tcgetattr(number)
            try:
                # Signals stay signals: the second Ctrl-C must come as one.
                tty.setcbreak(number, termios.TCSADRAIN)
                # What was typed before the question is no answer to it.
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
    # All of an arrow key's sequence, or the rest of it would be typed into the shell afterwards.
    return os.read(number, 32).decode("utf-8", "replace") or None
