"""Time of the first frame and of keys with ten thousand benchmarks, relative to Textual in the same run."""

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
KEY, KEY_ROUNDS = 0.2, 3
"""Likewise for a key: the processor of a shared machine is at times half as quick, for both alike."""
UNDO = 1.0
"""Likewise for `u`, which reads the list again twice: as it is told what came back, and as it sees the store change."""


def measure(what: str, home: Path) -> dict[str, Any]:
    """Run a measurement in its own process."""
    command = [sys.executable, "-m", "tests.tui.crowded", what]
    done = subprocess.run(command, env={**os.environ, "TUIBENCH_HOME": str(home)}, stdout=subprocess.PIPE, check=True)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_first_frame_and_keys_with_ten_thousand_records_are_fast(tmp_path: Path) -> None:
    fill_home(tmp_path, MANY)
    # In pairs, as the CPU frequency changes from minute to minute.
    frames = [frame_beside_bare(tmp_path) for _ in range(ROUNDS)]
    assert min(frames) <= FRAME, f"times an empty app's: {frames}"
    keys = [slowest_key(measure("keys", tmp_path)) / bare_ms(tmp_path) for _ in range(KEY_ROUNDS)]
    assert min(keys) <= KEY, f"times an empty app's first frame: {keys}"
    undone: list[float] = measure("undo", tmp_path)["undo_ms"]
    # With the cursor at either end, as the searched record is at one of them.
    worst = max(min(undone[::2]), min(undone[1::2])) / bare_ms(tmp_path)
    assert worst <= UNDO, f"times an empty app's first frame: {undone}"


def bare_ms(home: Path) -> float:
    """Return the milliseconds of an empty app's first frame."""
    return float(measure("bare", home)["cpu_ms"])


def frame_beside_bare(home: Path) -> float:
    """Return the extra time of the first frame with rows, in units of an empty app's first frame."""
    bare = bare_ms(home)
    return (float(measure("home", home)["cpu_ms"]) - bare) / bare


def slowest_key(found: dict[str, Any]) -> float:
    """Return the 99th percentile of the keys' milliseconds."""
    costs: list[float] = [cost for _, cost in found["keys_ms"]]
    return statistics.quantiles(costs, n=100)[98]
