"""Ten thousand benchmarks: what they add to the first frame and to a key, in CPU time of one run."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.tui.crowded import fill_home

COUNT = 10_000
ROUNDS = 5
FRAME_SHARE = 120 / 135
"""The 120 ms that the first rows may need over an empty app, as a share of its own where they were agreed on."""
KEY_SHARE = 30 / 135
"""Likewise the 30 ms of a key."""


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Filled once: it takes half a minute."""
    made = tmp_path_factory.mktemp("crowd")
    fill_home(made, COUNT)
    return made


def measure(home: Path, what: str) -> dict[str, Any]:
    environment = {**os.environ, "TUIBENCH_HOME": str(home), "TEXTUAL_ANIMATIONS": "none"}
    command = [sys.executable, "-m", "tests.tui.crowded", what]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return dict(json.loads(done.stdout.splitlines()[-1]))


def least_ms(home: Path, what: str) -> float:
    return min(float(measure(home, what)["cpu_ms"]) for _ in range(ROUNDS))


@pytest.mark.slow
def test_the_first_frame_with_rows_needs_little_more_than_an_empty_app(home: Path) -> None:
    bare = least_ms(home, "bare")
    over = least_ms(home, "home") - bare
    # A quarter beside the budget for what else runs on the machine that tests.
    assert over <= 1.25 * FRAME_SHARE * bare, f"{over:.0f} ms over {bare:.0f} ms"


@pytest.mark.slow
def test_no_key_of_the_list_is_felt(home: Path) -> None:
    bare = least_ms(home, "bare")
    costs = sorted((cost, key) for key, cost in measure(home, "keys")["keys_ms"])
    worst, key = costs[int(0.99 * (len(costs) - 1))]
    assert worst <= 1.25 * KEY_SHARE * bare, f"{key}: {worst:.0f} ms where an empty app starts in {bare:.0f} ms"
