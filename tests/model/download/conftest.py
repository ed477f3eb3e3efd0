from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.model.download.server import Fetcher, Loopback, serve


@pytest.fixture
def loopback(tmp_path: Path) -> Iterator[Loopback]:
    with serve(tmp_path) as running:
        yield running


@pytest.fixture
def fetch(loopback: Loopback, tmp_path: Path) -> Fetcher:
    return Fetcher(loopback, tmp_path / "cache")
