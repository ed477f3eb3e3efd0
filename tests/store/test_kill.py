"""Writers are killed at any moment; everything acknowledged is present, whole and once."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest


def campaign(root: Path, kills: int, seed: int) -> dict[str, Any]:
    root.mkdir(exist_ok=True)
    command = [sys.executable, "-m", "tests.store.campaign", str(root), str(kills), str(seed)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    summary: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    print(summary)
    return summary


def hold(summary: dict[str, Any], kills: int) -> None:
    assert summary["found"] == []
    assert summary["kills"] == kills
    aimed = kills - summary["moments"]["any time"]
    assert 0.25 * kills < aimed < 0.75 * kills, "half should be aimed at calls"
    assert summary["acknowledged"] > kills


def test_few_kills_lose_nothing_acknowledged(light_path: Path) -> None:
    hold(campaign(light_path, 25, seed=1), 25)


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize(("kills", "seed"), [(200, 2), (1000, 3)])
def test_many_kills_lose_nothing_acknowledged(light_path: Path, kills: int, seed: int) -> None:
    hold(campaign(light_path, kills, seed), kills)
