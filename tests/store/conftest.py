"""What tests of the store share: a place for thousands of small files that no disk need keep."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.memory import in_memory


@pytest.fixture
def light_path(tmp_path: Path) -> Iterator[Path]:
    """A directory in memory where there is such a thing, else one like `tmp_path`."""
    with in_memory(tmp_path) as place:
        yield place
