"""A disk that is really full and a file that may not grow: the kernel refuses the writes."""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

FILL = [sys.executable, "-m", "tests.store.fill"]
SIZE = "6m"


def result_of(command: list[str]) -> dict[str, Any]:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    summary: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    print(summary)
    return summary


def hold(summary: dict[str, Any]) -> None:
    """Assert that nothing acknowledged is lost, memory matches the disk, and no harm remains once there is room."""
    assert summary["lost"] == [] and summary["same"] and summary["all_after"]
    assert summary["problems"] == []


def mounted(place: Path, command: str) -> list[str]:
    """Return a command that sees a small disk mounted at `place`, which no other process sees."""
    mount = f"mount -t tmpfs -o size={SIZE} none {shlex.quote(str(place))}"
    return ["unshare", "-m", "sh", "-c", f"{mount} && exec {command}"]


def why_not(place: Path) -> str:
    """Return why nothing can be mounted here, '' where it can."""
    if shutil.which("unshare") is None:
        return "no unshare here"
    done = subprocess.run(mounted(place, "true"), capture_output=True, text=True, check=False)
    return "" if done.returncode == 0 else done.stderr.strip() or f"exit {done.returncode}"


def test_full_disk_keeps_acknowledged_data_and_works_once_there_is_room(tmp_path: Path) -> None:
    why = why_not(tmp_path)
    if why:
        pytest.skip(f"a small disk cannot be mounted: {why}")
    summary = result_of(mounted(tmp_path, shlex.join([*FILL, str(tmp_path)])))
    assert summary["added"] > 100 and all("store_disk_full" in said for said in summary["said"])
    assert summary["emptied"] == 1 and summary["more"] >= 5, "emptying the trash makes room where there is none"
    hold(summary)


def test_file_at_its_size_limit_keeps_its_data(light_path: Path) -> None:
    summary = result_of([*FILL, str(light_path), "60000"])
    assert summary["added"] > 20 and all("File too large" in said for said in summary["said"])
    assert summary["emptied"] == 1
    hold(summary)
