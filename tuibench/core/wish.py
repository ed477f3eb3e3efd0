"""What may be wished of a run that goes on, in words that its journal, its result and both doors share."""

from __future__ import annotations

from tuibench.core.units import count_of, seconds

ON_REQUEST = "finished on request"
"""Why a run ended that was told to end behind the execution that went on."""

AS_FAR = "saved as far as it was measured"
"""How a run ended that broke off and was saved as it was."""


def finishing_words(profile: bool) -> str:
    """What a run still does that is to end; a profile goes on to the first part that it is worth anything with."""
    return "it ends as soon as it has something to show" if profile else "the execution that goes on is the last"


def extension_words(more_s: float, executions: int) -> str:
    """That every cell without its target got more time, and how many executions go with it."""
    return f"more time on request: {seconds(more_s)} and up to {count_of(executions, 'execution')} more per cell"


def finish_words(executions: int) -> str:
    """Why a cell of a run that was finished on request has no more executions than it has."""
    return f"{ON_REQUEST} after {count_of(executions, 'execution')}"
