"""What was copied last, in a file: for terminals that have no clipboard."""

from __future__ import annotations

from pathlib import Path

from tuibench.core.errors import WriteError
from tuibench.core.text import show
from tuibench.runs.directory import make_private, write_whole

_NAME = "copied.txt"


def keep_copy(state: Path, text: str) -> Path:
    """Leave a text where its user finds it; WriteError where the disk does not take it."""
    path = state / _NAME
    try:
        make_private(state)
        write_whole(path, (text + "\n").encode("utf-8", "backslashreplace"))
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise WriteError(f"{show(str(path), 120)} cannot be written: {reason}", "make room there") from error
    return path
