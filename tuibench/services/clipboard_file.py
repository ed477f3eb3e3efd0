"""Saves the last copied text to a file, for terminals without a clipboard."""

from __future__ import annotations

from pathlib import Path

from tuibench.core.errors import WriteError
from tuibench.core.text import show
from tuibench.runs.directory import make_private, write_whole

_NAME = "copied.txt"


def keep_copy(state: Path, text: str) -> Path:
    """Write the text to its file; raise WriteError if the disk refuses."""
    path = state / _NAME
    try:
        make_private(state)
        write_whole(path, (text + "\n").encode("utf-8", "backslashreplace"))
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise WriteError(f"{show(str(path), 120)} cannot be written: {reason}", "make room there") from error
    return path
