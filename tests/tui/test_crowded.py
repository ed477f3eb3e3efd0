"""A store of ten thousand benchmarks keeps neither the first frame nor a key: held against Textual in the same run."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.tui.crowded import fill_home

MANY, ROUNDS = 10_000, 5
FRAME = 1.0
"""Times what an empty app takes, with room for a busy machine; tests.benchmarks.dashboard holds the milliseconds."""
KEY_MS = 30


def measure(what: str, home: Path) -> dict[str, Any]:
    """In a process of its own."""
    command = [sys.executable, "-m", "tests.tui.crowded", what]
    done = subprocess.run(command, env={**os.environ, "TUIBENCH_HOME": str(home)}, stdout=subprocess.PIPE, check=True)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_first_frame_and_keys_among_ten_thousand(tmp_path: Path) -> None:
    fill_home(tmp_path, MANY)
    bare, home = (min(measure(what, tmp_path)["cpu_ms"] for _ in range(ROUNDS)) for what in ("bare", "home"))
    assert home - bare <= FRAME * bare, f"{home:.0f} ms beside {bare:.0f} ms of an empty app"
    costs = sorted(cost for _, cost in measure("keys", tmp_path)["keys_ms"])
    assert statistics.quantiles(costs, n=100)[98] <= KEY_MS, costs[-5:]
