"""What a run has done so far, as far as its journal can be read: its head is also in the request."""

from __future__ import annotations

from typing import Any

from tuibench.core.errors import StoreError
from tuibench.runs.directory import RunDirectory
from tuibench.runs.journal import History, read_history
from tuibench.runs.replay import Replay, replay


def read_past(run: RunDirectory) -> tuple[Replay, History]:
    """The journal made sense of; StoreError where it cannot be read, or makes none."""
    history = read_history(run.path)
    past = Replay()
    if _lacks_head(history):
        past.take(head_of(run.request()))
    try:
        return replay(history.events, past), history
    except (KeyError, ValueError, TypeError, IndexError, AttributeError) as error:
        # Each line is whole, and yet they do not make sense: another version wrote them.
        raise StoreError(f"the journal of run {run.id} cannot be understood: {type(error).__name__} {error}") from error


def is_headless(run: RunDirectory) -> bool:
    """Whether damage took the first line of a journal."""
    try:
        return _lacks_head(read_history(run.path))
    except StoreError:
        return False


def _lacks_head(history: History) -> bool:
    return bool(history.damaged) and not any(event["ev"] == "run_start" for event in history.events)


def head_of(request: dict[str, Any]) -> dict[str, Any]:
    """The first event of a run, but for what only its runner knew: the machine, its versions, the time."""
    return {
        "ev": "run_start",
        "seq": 0,
        "t_ns": 0,
        "run": request["id"],
        "spec": request["spec"],
        "host_id": request.get("host_id", ""),
        "again": request.get("again", ""),
    }
