"""The terminal of a command: its presence, and reading one key from it."""

from __future__ import annotations

import os
import select
import termios
import tty
from collections.abc import Callable

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
