"""Words for the kind of a file that is not a regular file, the same in every message."""

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
    """Return the kind of a file by its mode from `os.stat`, for messages."""
    return next((name for test, name in _KINDS if test(mode)), "something else")
