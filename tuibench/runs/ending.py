"""End of a session: maps exceptions to the end event in its journal."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tuibench.core.errors import TuibenchError
from tuibench.runs.journal import Journal, JournalBroken
from tuibench.runs.resumption import Disagreement
from tuibench.runs.stopping import BY_REQUEST, Cancelled
from tuibench.runs.supervision import OutOfTime


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
