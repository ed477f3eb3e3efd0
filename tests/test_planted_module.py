"""Python modules in a downloaded model's directory are never imported by any of our processes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

PLANTED = ("json", "onnx", "numpy", "tuibench", "multiprocessing")


@pytest.fixture
def trap(tmp_path: Path) -> Path:
    """Make a directory where every module that a process may import leaves a mark."""
    for name in PLANTED:
        (tmp_path / f"{name}.py").write_text(f"open({str(tmp_path / 'sprung')!r}, 'a').write({name!r})\n")
    (tmp_path / "result.json").write_text("{}")
    return tmp_path


@pytest.mark.parametrize(
    "arguments",
    [
        ("import", "result.json"),
        ("project", "new", "sample:tiny"),
        ("benchmark", "sample:tiny", "-s", "sync", "-ncores", "1", "--executions", "1", "-t", "0.05", "-w", "0.05"),
        ("doctor", "--json"),
    ],
    ids=lambda arguments: arguments[0],
)
def test_nothing_in_the_current_directory_is_imported(trap: Path, arguments: tuple[str, ...]) -> None:
    # The installed command also has no current directory on its path.
    command = [sys.executable, "-P", "-m", "tuibench", *arguments]
    done = subprocess.run(command, cwd=trap, capture_output=True, text=True, check=False)
    assert not (trap / "sprung").exists(), (trap / "sprung").read_text()
    assert done.returncode in (0, 2), done.stderr
    if arguments[0] == "doctor":
        assert all(engine["available"] for engine in json.loads(done.stdout)["engines"])
    assert os.listdir(trap / "__pycache__") == [] if (trap / "__pycache__").exists() else True
