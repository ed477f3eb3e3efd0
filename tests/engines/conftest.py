"""Engines run within the test's process here, and what they do to it must not reach the tests that come after."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator

import pytest


class _SignalStack(ctypes.Structure):
    """stack_t of Linux."""

    _fields_ = (("start", ctypes.c_void_p), ("flags", ctypes.c_int), ("size", ctypes.c_size_t))


@pytest.fixture(autouse=True, scope="module")
def signal_stack() -> Iterator[None]:
    """Give the thread its own stack for signals back.

    OpenVINO puts one of its own there on CPUs with wide registers and frees it while it is in use: the next signal with
    a handler in Python would be the end of the process.
    """
    libc = ctypes.CDLL(None)
    before = _SignalStack()
    assert libc.sigaltstack(None, ctypes.byref(before)) == 0
    yield
    assert libc.sigaltstack(ctypes.byref(before), None) == 0
