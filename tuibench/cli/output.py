"""Results on their way to stdout, whole or not at all: Python's own buffers do not always notice a reader that left."""

from __future__ import annotations

import codecs
import os
import sys

AS_ASCII = "tuibench-ascii"
"""Error handler of codecs: spells what an encoding lacks as `--ascii` does."""


def emit(text: str) -> None:
    """Write everything to stdout; BrokenPipeError as soon as nobody reads it."""
    try:
        number = sys.stdout.fileno()
    except (OSError, ValueError):
        # Not a descriptor: a test or a program has put something else there.
        sys.stdout.write(text)
        return
    sys.stdout.flush()
    view = memoryview(text.encode(sys.stdout.encoding or "utf-8", sys.stdout.errors or AS_ASCII))
    while view:
        view = view[os.write(number, view) :]


def _spell(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    from tuibench.report.style import to_ascii  # only where the encoding lacks a character

    return to_ascii(error.object[error.start : error.end]), error.end


codecs.register_error(AS_ASCII, _spell)


def can_draw() -> bool:
    """Whether stdout has the characters of figures; in an encoding of 256 letters they would be escapes."""
    try:
        "●⣿┤".encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:
        return False
    return True
