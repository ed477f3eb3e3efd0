"""Signals that end a command, held back while something is being made or taken away that must not be left half done."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager

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
