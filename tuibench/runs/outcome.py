"""The exit code of a benchmark, from one table that scripts can rely on."""

from __future__ import annotations

from collections.abc import Sequence

from tuibench.core.cell import CellResult
from tuibench.core.errors import ExitCode
from tuibench.core.reason import Failure, Reason

_SIGNAL_CODES = {"SIGINT": ExitCode.INTERRUPT, "SIGTERM": ExitCode.TERMINATED, "SIGHUP": ExitCode.HANGUP}
_ENGINES = frozenset({"engine", "setting"})
"""Failures of an engine that is missing or lacks a requested feature; refusing a model is the model's failure."""
_UNREADABLE = frozenset({"inspect", "inputs", "load"})


def exit_code(cells: Sequence[CellResult]) -> ExitCode:
    """Return 0 if every cell was measured; above 1 only if none was and all failed in the same way."""
    if all(cell.status == "ok" for cell in cells):
        return ExitCode.OK
    if any(cell.executions for cell in cells):
        return ExitCode.SOME_FAILED
    if all(cell.failure is None for cell in cells):
        # Nothing failed and nothing was measured: --max-time passed first.
        return ExitCode.TIMEOUT
    codes = {code_of(cell.failure) for cell in cells if cell.failure is not None}
    return codes.pop() if len(codes) == 1 else ExitCode.SOME_FAILED


def code_of(failure: Failure) -> ExitCode:
    """Return the exit code if every cell has this failure."""
    if failure.kind in _ENGINES:
        return ExitCode.ENGINE
    if failure.kind == "timeout":
        return ExitCode.TIMEOUT
    return ExitCode.MODEL if failure.phase in _UNREADABLE else ExitCode.SOME_FAILED


def signal_code(reason: Reason | None) -> ExitCode | None:
    """Return the exit code of a run ended by a signal."""
    return _SIGNAL_CODES.get(reason.fields.get("signal", "")) if reason is not None else None
