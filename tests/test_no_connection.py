"""No engine opens a connection or leaves a file behind, on any path, whatever the user's environment says."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT

SHORT = ("-s", "sync", "--executions", "1", "-t", "0.05", "-w", "0.05", "--no-save")
SPOKEN_AGAINST = {
    "ORT_DISABLE_TELEMETRY": "0",
    "NM_DISABLE_ANALYTICS": "",
    "HF_HUB_DISABLE_TELEMETRY": "0",
    "DO_NOT_TRACK": "0",
    "CI": "",
}
"""A user's environment that allows what it can allow."""
TALKS = "import socket\ntry: socket.create_connection(('192.0.2.1', 443))\nexcept OSError: pass\n"
PREPARED = Path(os.environ.get("TUIBENCH_TEST_ENGINES", "/nonexistent"))
INSTALLED = sorted(path.parent.name for path in PREPARED.glob("*@*/installed.json"))


def watch(tmp_path: Path, *command: str) -> tuple[int, int, str]:
    """Run a command without network; return its code, its attempts to send, and its output; skip if that cannot be."""
    home, temporary = tmp_path / "home", tmp_path / "tmp"
    for folder in (home, temporary):
        folder.mkdir()
    environment = {**os.environ, **SPOKEN_AGAINST, "HOME": str(home), "TMPDIR": str(temporary), "PYTHONPATH": str(ROOT)}
    environment["TUIBENCH_HOME"] = str(tmp_path / "own")
    if PREPARED.is_dir():
        (tmp_path / "own" / "data").mkdir(parents=True)
        (tmp_path / "own" / "data" / "engines").symlink_to(PREPARED)
    done = subprocess.run(
        [sys.executable, "-P", "-m", "tests.without_network", *command],
        env=environment, capture_output=True, text=True, check=False, cwd=tmp_path,
    )  # fmt: skip
    last = (done.stderr.strip().splitlines() or [""])[-1]
    if not last.startswith("{"):
        pytest.skip(f"this machine cannot cut the network: {last}")
    answer = json.loads(last)
    return answer["code"], answer["attempts"], done.stdout + done.stderr


def left_behind(tmp_path: Path) -> list[str]:
    """Return the files in the home directory, TMPDIR and the working directory."""
    folders = (tmp_path / "home", tmp_path / "tmp")
    found = [str(path) for folder in folders for path in folder.rglob("*") if path.is_file()]
    return found + [str(path) for path in tmp_path.iterdir() if path.name not in ("home", "tmp", "own")]


def test_an_attempt_is_seen(tmp_path: Path) -> None:
    _, attempts, _ = watch(tmp_path, sys.executable, "-c", TALKS)
    assert attempts > 0


@pytest.mark.parametrize("engine", ["onnxruntime", "openvino", *INSTALLED])
def test_a_benchmark_talks_to_nobody(tmp_path: Path, engine: str) -> None:
    model = str(ROOT / "tuibench/data/samples/tiny.pt") if engine.startswith("torch@") else "sample:tiny"
    command = (sys.executable, "-P", "-m", "tuibench", "benchmark", model, "-e", engine, *SHORT)
    code, attempts, output = watch(tmp_path, *command)
    assert (code, attempts, left_behind(tmp_path)) == (0, 0, []), output


@pytest.mark.parametrize("engine", ["onnxruntime", "openvino"])
def test_streams_in_processes_talk_to_nobody(tmp_path: Path, engine: str) -> None:
    streams = ("-s", "async", "--stream-kind", "processes", "-nstreams", "2")
    command = (sys.executable, "-P", "-m", "tuibench", "benchmark", "sample:tiny", "-e", engine, *SHORT, *streams)
    code, attempts, output = watch(tmp_path, *command)
    assert (code, attempts, left_behind(tmp_path)) == (0, 0, []), output


@pytest.mark.parametrize(
    "arguments", [("doctor", "--json"), ("profile", "sample:tiny", "--runs", "3", "--what-if", "int8", "--no-save")]
)
def test_doctor_and_profile_talk_to_nobody(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    code, attempts, output = watch(tmp_path, sys.executable, "-P", "-m", "tuibench", *arguments)
    assert (code, attempts, left_behind(tmp_path)) == (0, 0, []), output
