"""End of a session: maps exceptions to the end event in its journal."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tuibench.core.cell import CellResult
from tuibench.core.errors import ExitCode, TuibenchError
from tuibench.core.failure import Failure
from tuibench.runs.journal import Journal, JournalBroken
from tuibench.runs.resumption import Disagreement
from tuibench.runs.supervision import OutOfTime
from tuibench.runs.task import BY_REQUEST, Cancelled

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


def signal_code(reason: str) -> ExitCode | None:
    """Return the exit code of a run ended by a signal."""
    return _SIGNAL_CODES.get(reason)


def carry_to_the_end(
    measure: Callable[[], dict[str, Any]], journal: Journal, *, resumed: bool, out_of_time: str
) -> dict[str, Any]:
    """Run `measure` and return its end fields, or those of the exception that ended it.

    `resumed` is true if earlier sessions have measured already.
    """
    try:
        return measure()
    except OutOfTime:
        journal.append("warning", message=out_of_time)
        return {"status": "finished", "reason": "max-time"}
    except Cancelled as cancelled:
        # A resumed run that is aborted stays interrupted, unless the user cancelled the run itself.
        again = resumed and cancelled.reason != BY_REQUEST
        return {"status": "interrupted" if again else "cancelled", "reason": cancelled.reason}
    except (JournalBroken, Disagreement) as error:
        # No result is lost or wrong: the rest can be measured later.
        return {"status": "interrupted", "reason": error.message, "exit_code": int(error.exit_code)}
    except TuibenchError as error:
        problem = {"message": error.message, "hint": error.hint, "exit_code": int(error.exit_code)}
        # A failure in this session does not lose the results of earlier ones.
        return {"status": "interrupted" if resumed else "failed", "reason": error.message, "error": problem}
