"""Engines run in the test process here; their effects on it must not reach later tests."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tuibench.engines.installation import find_installation, interpreter_of


class _SignalStack(ctypes.Structure):
    """stack_t of Linux."""

    _fields_ = (("start", ctypes.c_void_p), ("flags", ctypes.c_int), ("size", ctypes.c_size_t))


@pytest.fixture(autouse=True, scope="module")
def signal_stack() -> Iterator[None]:
    """Restore the thread's own signal stack.

    OpenVINO installs its own stack on CPUs with wide registers and frees it while it is in use: the next signal with
    a Python handler would crash the process.
    """
    libc = ctypes.CDLL(None)
    before = _SignalStack()
    assert libc.sigaltstack(None, ctypes.byref(before)) == 0
    yield
    assert libc.sigaltstack(ctypes.byref(before), None) == 0


@pytest.fixture(scope="session")
def engine_python() -> Callable[[str], str]:
    """Return a function that returns the interpreter of an engine installed for tests, and skips without one."""
    root = os.environ.get("TUIBENCH_TEST_ENGINES", "")

    def find(engine_id: str) -> str:
        if not root or find_installation(Path(root), engine_id) is None:
            pytest.skip(f"{engine_id} is not installed in TUIBENCH_TEST_ENGINES ({root or 'not set'})")
        return str(interpreter_of(Path(root), engine_id))

    return find
