"""Safe opening of files in shared places: a pipe in a file's place would block the reader."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

_ALWAYS = os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK


def open_regular(path: Path, flags: int = os.O_RDONLY, mode: int = 0o600) -> int:
    """Open a regular file; raise OSError for anything else, links included."""
    descriptor = os.open(path, flags | _ALWAYS, mode)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "not a regular file", str(path))
    return descriptor
