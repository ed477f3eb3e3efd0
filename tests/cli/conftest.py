"""A shell for end-to-end tests that fails a test which leaves a process or a file behind."""

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
    """Each command in a process of its own; modules about that process call it `shell`."""
    yield from watched(Shell(tmp_path_factory.mktemp("tmp")))


@pytest.fixture
def quick(tmp_path_factory: pytest.TempPathFactory) -> Iterator[QuickShell]:
    """Commands within the test's process; their runners, children and workers are real processes."""
    yield from watched(QuickShell(tmp_path_factory.mktemp("tmp")))


@pytest.fixture
def shell(quick: QuickShell) -> Shell:
    """The same, unless the module is about the command's own process."""
    return quick


@pytest.fixture
def keeper(tmp_path_factory: pytest.TempPathFactory) -> Iterator[QuickShell]:
    """The same with a store in the test's own home, as users have it."""
    yield from watched(QuickShell(tmp_path_factory.mktemp("tmp"), save=True))


def watched(shell: AnyShell) -> Iterator[AnyShell]:
    """Fail where a process or a file is left in the end; what has been told to end, or tidies up, gets its time."""
    yield shell
    deadline = time.monotonic() + _TIDYING_S
    while (processes := shell.processes()) and time.monotonic() < deadline:
        time.sleep(0.02)
    files = shell.leftovers()
    for pid in processes:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            continue  # it has ended by itself since
    assert not processes, "processes were left"
    assert not files, "files were left in TMPDIR"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where a test puts models and exports: not in TMPDIR, which must stay empty."""
    return tmp_path
