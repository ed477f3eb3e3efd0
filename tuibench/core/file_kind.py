"""What stands where a file was expected, in words: one table, so that every door calls a FIFO the same."""

from __future__ import annotations

import stat

_KINDS = (
    (stat.S_ISDIR, "a directory"),
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
    (stat.S_ISSOCK, "a socket"),
)


def name_kind(mode: int) -> str:
    """What a mode from `os.stat` belongs to, for messages about what is no regular file."""
    return next((name for test, name in _KINDS if test(mode)), "something else")
