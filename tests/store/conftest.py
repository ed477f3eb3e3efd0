"""Fixtures for store tests: a directory for thousands of small temporary files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.memory import in_memory


@pytest.fixture
def light_path(tmp_path: Path) -> Iterator[Path]:
    """A directory in memory if the system has one, else a directory like `tmp_path`."""
    with in_memory(tmp_path) as place:
        yield place
