"""Writes results to stdout completely or fails; Python's buffers do not always notice a closed reader."""

from __future__ import annotations

import codecs
import os
import sys

AS_ASCII = "tuibench-ascii"
"""Codec error handler that replaces missing characters as `--ascii` does."""


def emit(text: str) -> None:
    """Write the whole text to stdout; raise BrokenPipeError as soon as the reader is gone."""
    try:
        number = sys.stdout.fileno()
    except (OSError, ValueError):
        # No descriptor: a test or a program replaced stdout.
        sys.stdout.write(text)
        return
    sys.stdout.flush()
    view = memoryview(text.encode(sys.stdout.encoding or "utf-8", sys.stdout.errors or AS_ASCII))
    while view:
        view = view[os.write(number, view) :]


def _spell(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    from tuibench.present.table import to_ascii  # lazy: only if the encoding lacks a character

    return to_ascii(error.object[error.start : error.end]), error.end


codecs.register_error(AS_ASCII, _spell)


def can_draw() -> bool:
    """Return whether stdout can encode the characters of figures; an 8-bit encoding would print escapes."""
    try:
        "●⣿┤".encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:
        return False
    return True
