"""The exit code of a benchmark: one table, so that scripts can rely on it."""

from __future__ import annotations

from collections.abc import Sequence

from tuibench.core.cell import CellResult, Failure
from tuibench.core.errors import ExitCode

_SIGNAL_CODES = {"SIGINT": ExitCode.INTERRUPT, "SIGTERM": ExitCode.TERMINATED, "SIGHUP": ExitCode.HANGUP}
_ENGINES = frozenset({"engine", "setting"})
"""Not there, or without what was asked of it; its refusal of a model is the model's matter."""
_UNREADABLE = frozenset({"inspect", "inputs", "load"})


def exit_code(cells: Sequence[CellResult]) -> ExitCode:
    """0 when every cell was measured; a code above 1 only when none was and all failed in the same way."""
    if all(cell.status == "ok" for cell in cells):
        return ExitCode.OK
    if any(cell.executions for cell in cells):
        return ExitCode.SOME_FAILED
    if all(cell.failure is None for cell in cells):
        # Nothing failed and nothing was measured: --max-time was over first.
        return ExitCode.TIMEOUT
    codes = {code_of(cell.failure) for cell in cells if cell.failure is not None}
    return codes.pop() if len(codes) == 1 else ExitCode.SOME_FAILED


def code_of(failure: Failure) -> ExitCode:
    """What one kind of failure means for the command when every cell has it."""
    if failure.kind in _ENGINES:
        return ExitCode.ENGINE
    if failure.kind == "timeout":
        return ExitCode.TIMEOUT
    return ExitCode.MODEL if failure.phase in _UNREADABLE else ExitCode.SOME_FAILED


def signal_code(reason: str) -> ExitCode | None:
    """The code of a run that a signal ended."""
    return _SIGNAL_CODES.get(reason)
