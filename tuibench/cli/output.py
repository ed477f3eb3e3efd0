"""Results on their way to stdout, whole or not at all: Python's own buffers do not always notice a reader that left."""

from __future__ import annotations

import os
import sys


def emit(text: str) -> None:
    """Write everything to stdout; BrokenPipeError as soon as nobody reads it."""
    try:
        number = sys.stdout.fileno()
    except (OSError, ValueError):
        # Not a descriptor: a test or a program has put something else there.
        sys.stdout.write(text)
        return
    sys.stdout.flush()
    view = memoryview(text.encode(sys.stdout.encoding or "utf-8", sys.stdout.errors or "backslashreplace"))
    while view:
        view = view[os.write(number, view) :]


def can_draw() -> bool:
    """Whether stdout has the characters of figures; in an encoding of 256 letters they would be escapes."""
    try:
        "●⣿┤".encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:
        return False
    return True
