"""Shell fixtures for end-to-end tests; a test that leaves a process or a file behind fails."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TypeVar

import pytest

from tests.cli.quick import QuickShell
from tests.cli.shell import Shell

AnyShell = TypeVar("AnyShell", bound=Shell)
_TIDYING_S = 5.0


@pytest.fixture
def real_shell(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shell]:
    """Run each command in its own process; modules that test that process call this fixture `shell`."""
    yield from watched(Shell(tmp_path_factory.mktemp("tmp")))


@pytest.fixture
def quick(tmp_path_factory: pytest.TempPathFactory) -> Iterator[QuickShell]:
    """Run commands inside the test's process; their runners, children and workers are real processes."""
    yield from watched(QuickShell(tmp_path_factory.mktemp("tmp")))


@pytest.fixture
def shell(quick: QuickShell) -> Shell:
    """Run commands inside the test's process, unless the module tests the command's own process."""
    return quick


@pytest.fixture
def keeper(tmp_path_factory: pytest.TempPathFactory) -> Iterator[QuickShell]:
    """Run commands with a store in the test's own home, as users do."""
    yield from watched(QuickShell(tmp_path_factory.mktemp("tmp"), save=True))


def watched(shell: AnyShell) -> Iterator[AnyShell]:
    """Fail if a process or a file is left at the end; processes that are still ending get time to finish."""
    yield shell
    deadline = time.monotonic() + _TIDYING_S
    while (processes := shell.processes()) and time.monotonic() < deadline:
        time.sleep(0.02)
    files = shell.leftovers()
    for pid in processes:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            continue  # the process has ended since
    assert not processes, "processes were left"
    assert not files, "files were left in TMPDIR"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Directory for models and exports outside TMPDIR, which must stay empty."""
    return tmp_path
