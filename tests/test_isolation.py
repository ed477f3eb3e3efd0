"""Checks the promises of the fixtures that every test uses."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import NetworkUsed


def test_no_test_sees_the_users_home(home: Path) -> None:
    assert Path.home() == home
    assert not any(home.glob("*.py"))
    variables = (
        "TUIBENCH_HOME",
        "XDG_CONFIG_HOME",
        "XDG_DATA_HOME",
        "XDG_STATE_HOME",
        "XDG_CACHE_HOME",
        "XDG_RUNTIME_DIR",
    )
    for variable in variables:
        assert Path(os.environ[variable]).is_relative_to(home)


def test_network_is_unreachable() -> None:
    with socket.socket() as tcp:
        with pytest.raises(NetworkUsed):
            tcp.connect(("127.0.0.1", 9))
        with pytest.raises(NetworkUsed):
            tcp.connect_ex(("127.0.0.1", 9))
    with pytest.raises(NetworkUsed):
        urllib.request.urlopen("http://localhost:9/")


def test_local_sockets_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with socket.socket(socket.AF_UNIX) as server, socket.socket(socket.AF_UNIX) as client:
        server.bind("s")
        server.listen()
        client.connect("s")


def test_child_in_another_directory_finds_the_package(tmp_path: Path) -> None:
    command = [sys.executable, "-c", "import tuibench; print(tuibench.__file__)"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert Path(done.stdout.strip()).parent == Path(__file__).resolve().parent.parent / "tuibench"


@given(st.integers())
def test_property_tests_work_with_the_fixtures(number: int) -> None:
    assert os.environ["HOME"] != str(number)


@pytest.mark.slow
def test_old_interpreter_is_old_and_bare(python310: Path, tmp_path: Path) -> None:
    code = "import sys, numpy, tuibench.core.record; print(*sys.version_info[:2], numpy.__version__)"
    done = subprocess.run([python310, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["3", "10", "1.26.4"]
    bare = subprocess.run([python310, "-c", "import onnxruntime"], capture_output=True, text=True, check=False)
    assert "ModuleNotFoundError" in bare.stderr
