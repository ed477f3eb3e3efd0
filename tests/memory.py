"""Directories that no disk need keep: in memory, where a flush to the disk takes no time."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_MEMORY = Path("/dev/shm")  # where Linux has one
_ROOM_BYTES = 1 << 30
"""Containers often have 64 MB of it, which a model or two would fill."""


@contextmanager
def in_memory(otherwise: Path) -> Iterator[Path]:
    """A new directory in memory, gone in the end; `otherwise` where there is no room for such a thing."""
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
