"""Fixtures of all tests: an own home and no network; on request an old interpreter."""

from __future__ import annotations

import gc
import os
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import hypothesis
import pytest

from tests.answers import Answers
from tests.memory import in_memory
from tuibench.engines.installation import find_installation

ROOT = Path(__file__).resolve().parent.parent
REAL_ENVIRONMENT = dict(os.environ)
"""The environment before any test got its own home; pip and version managers need it."""

# The command's settings; Textual reads them at its first import, in any test.
os.environ |= {"TEXTUAL_ANIMATIONS": "none", "TEXTUAL_SMOOTH_SCROLL": "0", "TEXTUAL_THEME": "ansi-dark"}

# numpy would start a pool of threads in each process that imports it, which takes a fifth of the import's CPU.
os.environ["OPENBLAS_NUM_THREADS"] = "1"

# Without bytecode on disk pytest rewrites every test module again in each process of each session: 10 s of CPU.
sys.dont_write_bytecode = False

OLD_PYTHON = "3.10"
OLD_NUMPY = "1.26.4"

# Examples must not fail on a busy machine, and a failure must be reproducible.
hypothesis.settings.register_profile("house", max_examples=50, deadline=None, derandomize=True, database=None)
hypothesis.settings.load_profile("house")


def pytest_itemcollected(item: pytest.Item) -> None:
    """Mark the tests that need an installed engine, for `-m installed`."""
    if "engines_root" in getattr(item, "fixturenames", ()):
        item.add_marker("installed")


def pytest_collection_finish() -> None:
    """Exempt the imported modules from garbage collection, which took most of the time of tests with large data."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 10, 10)


class NetworkUsed(Exception):
    """A test tried to reach beyond its own machine's files and pipes."""


@pytest.fixture(scope="session")
def kept_answers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Directory of the answers that tests/children repeats, one for all processes of a session."""
    base = tmp_path_factory.getbasetemp()
    place = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "answers"
    place.mkdir(exist_ok=True)
    return place


@pytest.fixture(autouse=True)
def home(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch, kept_answers: Path
) -> Iterator[Path]:
    """Give the test a private home directory, and let its children find the package."""
    with in_memory(tmp_path_factory.getbasetemp()) as place:
        own = Path(tempfile.mkdtemp(dir=place, prefix="home"))
        monkeypatch.setenv("HOME", str(own))
        monkeypatch.setenv("TUIBENCH_HOME", str(own / "tuibench"))
        # Concurrent suites and real benchmarks must not wait for each other.
        monkeypatch.setenv("TUIBENCH_HOST_LOCK", f"tuibench-{own.name}-{secrets.token_hex(4)}")
        for kind in ("CONFIG", "DATA", "STATE", "CACHE"):
            monkeypatch.setenv(f"XDG_{kind}_HOME", str(own / kind.lower()))
        runtime = own / "runtime"
        runtime.mkdir(mode=0o700)
        monkeypatch.setenv("XDG_RUNTIME_DIR", str(runtime))
        # Runs without another place are made below TMPDIR, where a concurrent test would list them.
        temporary = own / "tmp"
        temporary.mkdir(mode=0o700)
        monkeypatch.setenv("TMPDIR", str(temporary))
        monkeypatch.setenv("PYTHONPATH", f"{ROOT / 'tests' / 'children'}{os.pathsep}{ROOT}")
        monkeypatch.setenv("TUIBENCH_TEST_ANSWERS", str(kept_answers))
        # Otherwise hundreds of children would each compile the package again, which takes as long as their task.
        monkeypatch.delenv("PYTHONDONTWRITEBYTECODE", raising=False)
        yield own


@pytest.fixture
def real_children(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let each child of this test find its answer itself."""
    monkeypatch.delenv("TUIBENCH_TEST_ANSWERS")


@pytest.fixture(autouse=True)
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let sockets connect to nothing but local ones with a path."""

    def guard(connect: Callable[[socket.socket, Any], Any]) -> Callable[[socket.socket, Any], Any]:
        def connect_locally(self: socket.socket, address: Any) -> Any:
            if self.family != socket.AF_UNIX:
                raise NetworkUsed(f"connect to {address!r}")
            return connect(self, address)

        return connect_locally

    def look_up(host: object, *_: object, **__: object) -> None:
        raise NetworkUsed(f"look-up of {host!r}")

    monkeypatch.setattr(socket.socket, "connect", guard(socket.socket.connect))
    monkeypatch.setattr(socket.socket, "connect_ex", guard(socket.socket.connect_ex))
    monkeypatch.setattr(socket, "getaddrinfo", look_up)


@pytest.fixture(scope="session")
def answers() -> Answers:
    """Cache of the children's answers about models in this session."""
    return Answers()


@pytest.fixture
def shared_answers(monkeypatch: pytest.MonkeyPatch, answers: Answers) -> None:
    """Let the services ask a child about a small model only if no earlier test has."""
    for module in ("models", "theory"):
        monkeypatch.setattr(f"tuibench.services.{module}.ask_child", answers.ask)


@pytest.fixture(scope="session")
def installation(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return an installed engine with an interpreter of its own, `tests.wheels.ENGINE`; tests copy it."""
    from tests.wheels import install

    return install(tmp_path_factory.mktemp("installed"))


@pytest.fixture(scope="session")
def python310() -> Path:
    """Return a Python 3.10 with numpy 1.26 only, as an old engine has; skip if there is none.

    It is made once per clone, in .venv-310, and lacks tuibench: pass PYTHONPATH, which every test's environment has.
    """
    environment = ROOT / ".venv-310"
    python = environment / "bin" / "python"
    ready = environment / f"numpy-{OLD_NUMPY}"
    if not ready.exists():
        base = _find_old_python()
        if base is None:
            pytest.skip(f"no Python {OLD_PYTHON} on this machine")
        failure = _make_old_environment(base, environment)
        if failure:
            shutil.rmtree(environment, ignore_errors=True)
            pytest.skip(f"numpy {OLD_NUMPY} for Python {OLD_PYTHON} cannot be installed: {failure}")
        ready.touch()
    return python


@pytest.fixture(scope="session")
def engines_root() -> Callable[[str], Path]:
    """Return a function that skips unless an engine is installed for tests, and returns the directory of all.

    TUIBENCH_TEST_ENGINES names a directory like `<data>/engines`.
    """
    root = REAL_ENVIRONMENT.get("TUIBENCH_TEST_ENGINES", "")

    def find(engine_id: str) -> Path:
        if not root or find_installation(Path(root), engine_id) is None:
            pytest.skip(f"{engine_id} is not installed in TUIBENCH_TEST_ENGINES ({root or 'not set'})")
        return Path(root)

    return find


def _find_old_python() -> str | None:
    """Return a Python that runs: a version manager's shim on PATH may refuse."""
    finder = [str(ROOT / ".ci" / "find-python"), OLD_PYTHON]
    found = subprocess.run(finder, capture_output=True, text=True, env=REAL_ENVIRONMENT, check=False)
    return found.stdout.strip() or None


def _make_old_environment(base: str, environment: Path) -> str:
    """Fill the environment and return the last line of the error, or ''."""
    pip = [str(environment / "bin" / "python"), "-m", "pip", "install", "-q", f"numpy=={OLD_NUMPY}"]
    for command in ([base, "-m", "venv", "--clear", str(environment)], pip):
        done = subprocess.run(command, capture_output=True, text=True, env=REAL_ENVIRONMENT, check=False)
        if done.returncode:
            return (done.stderr.strip().splitlines() or [f"exit {done.returncode}"])[-1]
    return ""
