"""Opens the services for a command and prints the store's messages once at its end."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from tuibench.core.errors import UsageError
from tuibench.core.text import show
from tuibench.services.api import Services

_LONGEST = 1000


@contextmanager
def opened() -> Iterator[Services]:
    """Provide the services of this user."""
    services = Services()
    try:
        yield services
    finally:
        services.close()
        for notice in services.notices():
            tell(f"tuibench: {show(notice, _LONGEST)}")


def tell(text: str) -> None:
    """Print a message on stderr; ignore a closed stderr."""
    with suppress(OSError):
        print(text, file=sys.stderr, flush=True)


def width() -> int | None:
    """Return the columns of the terminal at stdout; None if it is no terminal, so that nothing is cut."""
    try:
        number = sys.stdout.fileno()
        # A pseudo-terminal may have no size.
        return (os.get_terminal_size(number).columns or None) if os.isatty(number) else None
    except (OSError, ValueError):
        return None


def confirmed(question: str, answer: str, command: str) -> bool:
    """Return whether the user typed `answer`; raise UsageError without a terminal."""
    if sys.stdin is None or not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise UsageError(f"{command} asks first, and here is no terminal to ask on", f"{command} -y does it unasked")
    sys.stderr.write(f"{question} ")
    sys.stderr.flush()
    try:
        return sys.stdin.readline().strip().lower() == answer
    except OSError:
        return False  # the terminal went away: not confirmed
