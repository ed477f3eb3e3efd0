"""An engine of another package: the example of docs/engines.md, as written there."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT
from tests.refusal import refused
from tuibench.core import engine
from tuibench.core.errors import EngineError
from tuibench.engines import factory

MOST_LINES = 60


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """Install the example of the page into a directory."""
    page = (ROOT / "docs" / "engines.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    (points,) = re.findall(r"```toml\n(\[project.entry-points.*?)```", page, re.DOTALL)
    assert len(code.splitlines()) <= MOST_LINES
    (tmp_path / "tuibench_tract.py").write_text(code)
    folder = tmp_path / "tuibench_tract-1.0.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: tuibench-tract\nVersion: 1.0\n")
    group, entry = points.strip().splitlines()
    name = re.findall(r'"(.*)"', group)[0]
    (folder / "entry_points.txt").write_text(f"[{name}]\n{entry.replace(chr(34), '')}\n")
    return tmp_path


def run(package: Path, *arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    """Run a module of ours with the package on its path."""
    environment = {**os.environ, "PYTHONPATH": f"{package}:{ROOT}", "TUIBENCH_HOME": str(package / "home")}
    return subprocess.run(
        [sys.executable, "-P", "-m", *arguments],
        input=stdin,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_example_keeps_the_contract(package: Path) -> None:
    done = run(package, "tuibench.child", "contract", stdin=json.dumps({"engine": "tract"}))
    answers: list[dict[str, Any]] = json.loads(done.stdout.splitlines()[-1])["result"]
    assert len(answers) >= 10
    assert [answer for answer in answers if answer["why"]] == []


def test_the_example_is_measured_and_agrees(package: Path) -> None:
    flags = ("-s", "sync", "-ncores", "1", "--executions", "1", "-t", "0.1", "-w", "0.05", "--no-save", "--json")
    done = run(package, "tuibench", "benchmark", "sample:tiny", "-e", "tract,onnxruntime", *flags)
    assert done.returncode == 0, done.stderr
    cells = json.loads(done.stdout)["tuibench"]["cells"]
    assert [(cell["asked"]["engine"], cell["check"]["state"]) for cell in cells] == [
        ("tract", "agrees"), ("onnxruntime", "agrees"),
    ]  # fmt: skip


def test_the_command_lists_and_tests_it(package: Path) -> None:
    listed = json.loads(run(package, "tuibench", "engines", "--json").stdout)["engines"]
    assert ("tract", "beside") in [(one["id"], one["state"]) for one in listed]
    done = run(package, "tuibench", "engines", "test", "tract")
    assert done.returncode == 0, done.stderr
    assert "passed" in done.stdout and "agrees" in done.stdout


def test_more_cores_than_it_uses_are_refused(package: Path) -> None:
    flags = ("-s", "sync", "-ncores", "2", "--executions", "1", "-t", "0.1", "--no-save")
    done = run(package, "tuibench", "benchmark", "sample:tiny", "-e", "tract", *flags)
    assert done.returncode == 4 and "-ncores 1" in done.stdout + done.stderr


def test_an_unknown_name_is_refused_after_the_entry_points_were_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "others", dict)
    with refused(EngineError, "unknown_engine"):
        factory.check("tract")
