"""Confirmation questions, asked only at a terminal."""

from __future__ import annotations

import sys

from tuibench.core.errors import UsageError


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
