"""Reads the user's own small files; special and oversized files are rejected."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

_MOST_BYTES = 1 << 20


def read_small(path: Path) -> str:
    """Return the file's text; raise OSError if it is not a regular file: opening a FIFO would wait for a writer."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            raise OSError(errno.EINVAL, "not a regular file", str(path))
        if found.st_size > _MOST_BYTES:
            raise OSError(errno.EFBIG, f"more than {_MOST_BYTES >> 20} MiB", str(path))
        with open(descriptor, "rb", closefd=False) as file:
            return file.read(_MOST_BYTES).decode("utf-8")
    finally:
        os.close(descriptor)
