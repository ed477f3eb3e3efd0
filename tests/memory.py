"""Directories in memory, where a flush to disk takes no time."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_MEMORY = Path("/dev/shm")  # on Linux systems that have one
_ROOM_BYTES = 1 << 30
"""Required free space; containers often have 64 MB, which a model or two would fill."""


@contextmanager
def in_memory(otherwise: Path) -> Iterator[Path]:
    """Create a directory in memory and remove it at the end; use `otherwise` if there is no space for it."""
    if not _has_room():
        yield otherwise
        return
    with tempfile.TemporaryDirectory(dir=_MEMORY, prefix="tuibench-test-", ignore_cleanup_errors=True) as place:
        yield Path(place)


def _has_room() -> bool:
    if not os.access(_MEMORY, os.W_OK):
        return False
    facts = os.statvfs(_MEMORY)
    return facts.f_bavail * facts.f_frsize >= _ROOM_BYTES
