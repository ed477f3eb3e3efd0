"""Engines run in the test process here; their effects on it must not reach later tests."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator

import pytest


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
