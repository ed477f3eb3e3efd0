"""How a sitting ends, whatever it measured: one table from what was raised to what its journal says last."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tuibench.core.errors import TuibenchError
from tuibench.runs.journal import Journal, JournalBroken
from tuibench.runs.resumption import Disagreement
from tuibench.runs.stopping import BY_WISH, Cancelled
from tuibench.runs.supervision import OutOfTime


def carry_to_the_end(
    measure: Callable[[], dict[str, Any]], journal: Journal, *, taken_up: bool, out_of_time: str
) -> dict[str, Any]:
    """What `measure` says of its end, or what ended it; `taken_up` where earlier sittings have measured already."""
    try:
        return measure()
    except OutOfTime:
        journal.append("warning", message=out_of_time)
        return {"status": "finished", "reason": "max-time"}
    except Cancelled as cancelled:
        # A sitting that is broken off leaves the run where it was before, unless it is the run that is unwanted.
        again = taken_up and cancelled.reason != BY_WISH
        return {"status": "interrupted" if again else "cancelled", "reason": cancelled.reason}
    except (JournalBroken, Disagreement) as error:
        # Nothing is lost and nothing is wrong with what is there: the rest can be measured later.
        return {"status": "interrupted", "reason": error.message, "exit_code": int(error.exit_code)}
    except TuibenchError as error:
        problem = {"message": error.message, "hint": error.hint, "exit_code": int(error.exit_code)}
        # What earlier sittings measured is not lost by what went wrong in this one.
        return {"status": "interrupted" if taken_up else "failed", "reason": error.message, "error": problem}
