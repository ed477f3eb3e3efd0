"""A made-up machine for each test."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.host.machine import Machine


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    """An empty machine: nothing on it is readable."""
    return Machine(tmp_path)
