"""The last step of a run: saves its result to the store from the journal; safe to repeat."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from tuibench.core.errors import StoreError
from tuibench.core.reason import RUNNER_DIED, Reason
from tuibench.core.record import from_plain
from tuibench.core.result import RunResult
from tuibench.core.stored import Metadata
from tuibench.runs.directory import RunDirectory
from tuibench.runs.observer import read_replay
from tuibench.services.opening import open_store
from tuibench.services.projects import place
from tuibench.store.lock import WAIT_S
from tuibench.store.store import Store

_PAUSE_S = 1.0
_SHORT_WAIT_S = 0.5


def save_run(directory: RunDirectory, request: dict[str, Any], end: dict[str, Any]) -> dict[str, Any]:
    """Return the fields for the journal: saved or not, why not, and the project.

    The record has the run's id, so that saving twice is the same as saving once.
    """
    result = result_of(directory, end)
    if not _is_worth_saving(result, str(end["status"])):
        return {}
    metadata = from_plain(Metadata, request.get("card") or {})
    # A cancelled run should end at once: if the store is busy, tuibench resume can save it later.
    patient = end["status"] == "finished"
    last: StoreError | None = None
    for attempt in range(2 if patient else 1):
        if attempt:
            time.sleep(_PAUSE_S)
        try:
            store = open_store(Path(request["store"]), WAIT_S if patient else _SHORT_WAIT_S)
            return _save(store, result, metadata, directory.samples)
        except StoreError as error:
            last = error
    return {"saved": False, "why": last.reason if last is not None else None}


def _is_worth_saving(result: RunResult, status: str) -> bool:
    if result.spec.profile is not None:
        return result.profile is not None
    return bool(result.cells) and (status == "finished" or any(cell.executions for cell in result.cells))


def result_of(directory: RunDirectory, end: dict[str, Any] | None = None) -> RunResult:
    """Build the result from a journal, with `end` if the journal has no end yet."""
    replay, _ = read_replay(directory)
    if end is not None:
        replay.end = end
    elif not replay.end:
        replay.end = {"status": "interrupted", "reason": Reason(RUNNER_DIED)}
    return replay.result()


def _save(store: Store, result: RunResult, metadata: Metadata, samples: Path) -> dict[str, Any]:
    placed, said = place(store, result, replace(metadata, updated_utc=result.started_utc))
    row = store.benchmarks.add(result, placed, samples if samples.is_dir() else None)
    return {"saved": True, "project": row.project, "note": said}


def remember_saved(find_store: Callable[[], Store]) -> Callable[[str], bool | None]:
    """Return a function that tests whether a run is in the store or its trash; None if the store cannot be read.

    The store is read once, at the first call: a list of runs asks for each of them.
    """
    saved: set[str] = set()

    def is_saved(run: str) -> bool | None:
        if not saved:
            try:
                store = find_store()
                saved.update(row.id for row in store.benchmarks.rows())
                saved.update(store.trash.ids())
            except StoreError:
                saved.clear()
                return None
            saved.add("")
        return run in saved

    return is_saved
