"""Words for control requests (finish, extend), shared by journal, result, shell and dashboard."""

from __future__ import annotations

from tuibench.core.units import count_of, seconds

ON_REQUEST = "finished on request"
"""End reason of a run finished on request."""

AS_FAR = "saved as far as it was measured"
"""End reason of an interrupted run that was saved as it was."""


def finishing_words(profile: bool) -> str:
    """Return what a finishing run still does; a profile continues until it has its first useful part."""
    return "it ends as soon as it has something to show" if profile else "the execution that goes on is the last"


def extension_words(more_s: float, executions: int) -> str:
    """Return the message that cells below their target got more time, with the number of added executions."""
    return f"more time on request: {seconds(more_s)} and up to {count_of(executions, 'execution')} more per cell"


def finish_words(executions: int) -> str:
    """Return why a cell of a run finished on request stopped at this number of executions."""
    return f"{ON_REQUEST} after {count_of(executions, 'execution')}"
