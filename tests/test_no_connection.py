"""No engine opens a connection or leaves a file behind, on any path, whatever the user's environment says."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tuibench.core.engine import is_apart

SHORT = ("--executions", "1", "-t", "0.05", "-w", "0.05", "--no-save")
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
BESIDE = ("onnxruntime", "openvino")
APART = [pytest.param(one, marks=pytest.mark.installed) for one in ("deepsparse", "executor", "onnxruntime@1.20.1")]
"""Those of .ci/test-engines; tests/engines/test_torch.py watches PyTorch."""


def watch(tmp_path: Path, *command: str) -> tuple[int, int, str]:
    """Run a command without network; return its code, its attempts to send, and its output.

    Skip where the kernel does not allow to cut the network.
    """
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
    assert last.startswith("{"), f"no answer: {done.stderr}"
    answer = json.loads(last)
    if "cannot_cut" in answer:
        pytest.skip(f"this machine cannot cut the network: {answer['cannot_cut']}")
    return answer["code"], answer["attempts"], done.stdout + done.stderr


def left_behind(tmp_path: Path) -> list[str]:
    """Return the files in the home directory, TMPDIR and the working directory."""
    folders = (tmp_path / "home", tmp_path / "tmp")
    found = [str(path) for folder in folders for path in folder.rglob("*") if path.is_file()]
    return found + [str(path) for path in tmp_path.iterdir() if path.name not in ("home", "tmp", "own")]


def test_an_attempt_is_seen(tmp_path: Path) -> None:
    _, attempts, _ = watch(tmp_path, sys.executable, "-c", TALKS)
    assert attempts > 0


def test_a_failure_of_the_watch_itself_is_no_skip(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="no answer"):
        watch(tmp_path, "/nonexistent/command")


@pytest.fixture
def engine(request: pytest.FixtureRequest) -> str:
    """Return the engine of a row; skip if it must be installed and is not."""
    engine_id = str(request.param)
    if is_apart(engine_id):
        request.getfixturevalue("engines_root")(engine_id)
    return engine_id


def assert_silent(tmp_path: Path, *arguments: str) -> None:
    """Assert that a command of ours succeeds, sends nothing and leaves no file."""
    code, attempts, output = watch(tmp_path, sys.executable, "-P", "-m", "tuibench", *arguments)
    assert (code, attempts, left_behind(tmp_path)) == (0, 0, []), output


@pytest.mark.parametrize("engine", [*BESIDE, *APART], indirect=True)
def test_a_benchmark_talks_to_nobody(tmp_path: Path, engine: str) -> None:
    assert_silent(tmp_path, "benchmark", "sample:tiny", "-e", engine, "-s", "sync", *SHORT)


@pytest.mark.parametrize("engine", [*BESIDE, *APART], indirect=True)
def test_streams_talk_to_nobody(tmp_path: Path, engine: str) -> None:
    # DeepSparse has its own queue and no streams in processes.
    kind = () if engine == "deepsparse" else ("--stream-kind", "processes")
    assert_silent(tmp_path, "benchmark", "sample:tiny", "-e", engine, "-s", "async", "-nstreams", "2", *kind, *SHORT)


@pytest.mark.parametrize(
    "arguments", [("doctor", "--json"), ("profile", "sample:tiny", "--runs", "3", "--what-if", "int8", "--no-save")]
)
def test_doctor_and_profile_talk_to_nobody(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    assert_silent(tmp_path, *arguments)


@pytest.mark.parametrize("engine", APART[:2], indirect=True)
def test_a_profile_of_an_installed_engine_talks_to_nobody(tmp_path: Path, engine: str) -> None:
    assert_silent(tmp_path, "profile", "sample:tiny", "-e", engine, "--runs", "3", "--no-save")


@pytest.mark.slow
@pytest.mark.parametrize("engine", [*BESIDE, *APART], indirect=True)
def test_the_test_of_an_engine_talks_to_nobody(tmp_path: Path, engine: str) -> None:
    assert_silent(tmp_path, "engines", "test", engine)
