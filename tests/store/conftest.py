"""What tests of the store share: a place for thousands of small files that no disk need keep."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

MEMORY = Path("/dev/shm")  # where Linux has one; making and removing a directory there takes microseconds


@pytest.fixture
def light_path(tmp_path: Path) -> Iterator[Path]:
    """A directory in memory where there is such a thing, else one like `tmp_path`."""
    if not os.access(MEMORY, os.W_OK):
        yield tmp_path
        return
    with tempfile.TemporaryDirectory(dir=MEMORY, prefix="tuibench-test-") as place:
        yield Path(place)
