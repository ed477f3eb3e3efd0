"""A disk that is full in earnest, and a file that may not grow in earnest: the kernel refuses, not a fake."""

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
    """Nothing acknowledged is lost, memory is as the disk, and there is no harm left when there is room again."""
    assert summary["lost"] == [] and summary["same"] and summary["all_after"]
    assert summary["problems"] == []


def mounted(place: Path, command: str) -> list[str]:
    """A command line that sees a small disk at `place`, and nobody else does."""
    mount = f"mount -t tmpfs -o size={SIZE} none {shlex.quote(str(place))}"
    return ["unshare", "-m", "sh", "-c", f"{mount} && exec {command}"]


def why_not(place: Path) -> str:
    """Why nothing can be mounted here; '' where it can."""
    if shutil.which("unshare") is None:
        return "no unshare here"
    done = subprocess.run(mounted(place, "true"), capture_output=True, text=True, check=False)
    return "" if done.returncode == 0 else done.stderr.strip() or f"exit {done.returncode}"


def test_a_full_disk_keeps_all_that_was_acknowledged_and_goes_on_when_there_is_room(tmp_path: Path) -> None:
    why = why_not(tmp_path)
    if why:
        pytest.skip(f"a small disk cannot be mounted: {why}")
    summary = result_of(mounted(tmp_path, shlex.join([*FILL, str(tmp_path)])))
    assert summary["added"] > 100 and all("disk of the store is full" in said for said in summary["said"])
    assert summary["emptied"] == 1 and summary["more"] >= 5, "emptying the trash makes room where there is none"
    hold(summary)


def test_a_file_that_may_not_grow_keeps_what_it_has(light_path: Path) -> None:
    summary = result_of([*FILL, str(light_path), "60000"])
    assert summary["added"] > 20 and all("File too large" in said for said in summary["said"])
    assert summary["emptied"] == 1
    hold(summary)
