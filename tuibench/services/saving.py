"""Assigns a benchmark to its project: the named one, or that of its model. A failure never loses the benchmark."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from tuibench.core.errors import StoreError, UnknownId, UsageError
from tuibench.core.model import refer
from tuibench.core.record import from_plain
from tuibench.core.result import RunResult
from tuibench.core.stored import Metadata, ModelReference
from tuibench.core.text import show
from tuibench.host.facts import read_machine
from tuibench.host.process import is_remote
from tuibench.runs.directory import RunDirectory
from tuibench.runs.resumption import read_replay
from tuibench.services.watched_run import unfile_points
from tuibench.store.layout import is_ulid
from tuibench.store.lock import WAIT_S
from tuibench.store.store import Store


def place(store: Store, result: RunResult, metadata: Metadata) -> tuple[Metadata, str]:
    """Return the metadata with its project's id, and a message for the user, '' if none.

    A second call changes nothing.
    """
    model = _first_model(result)
    wanted = (metadata.project or "").strip()
    if model is None and not wanted:
        return replace(metadata, project=None), ""
    try:
        found, said = _named(store, wanted, model, metadata.rerun_of) if wanted else _adopted(store, model)
    except (StoreError, UsageError) as error:
        # Save the measurement without a project; the user can assign one later.
        return replace(metadata, project=None), f"it belongs to no project: {error}"
    return replace(metadata, project=found), said


def find_project(store: Store, asked: str, sha256: str = "", path: str = "") -> str:
    """Return the id of the project that a run's result will get; '' if unknown.

    `asked` is the name in its metadata; `sha256` and `path` are of its first model.
    """
    try:
        try:
            if asked.strip():
                return store.projects.resolve(asked.strip())
        except UnknownId:
            if not is_ulid(asked.strip()):
                raise
        if sha256:
            found = store.projects.find(sha256)
            return found.id if found is not None else ""
        every = store.projects.all()
        held = (one.id for one in every if any(version.model.file.path == path for version in one.versions))
        return next(held, "") if path else ""
    except (StoreError, UnknownId):
        # List the run without a project rather than not at all.
        return ""


def _first_model(result: RunResult) -> ModelReference | None:
    pairs = zip(result.spec.models, result.models, strict=False)
    return next((found for source, summary in pairs if (found := refer(source.asked, summary)) is not None), None)


def _adopted(store: Store, model: ModelReference | None) -> tuple[str | None, str]:
    if model is None:
        return None, ""
    project, said = store.projects.adopt(model)
    return project.id, said


def _named(store: Store, wanted: str, model: ModelReference | None, rerun_of: str | None) -> tuple[str | None, str]:
    try:
        found = store.projects.resolve(wanted)
        repeated = any(row.id == rerun_of and row.project == found for row in store.benchmarks.rows())
        if model is None or not (repeated or store.projects.get(found).holds_file(model.file.path)):
            return store.projects.touch(found).id, ""
        # A stand-in for a model of this project is a version of it: measured again, or as its file is now.
        return found, store.projects.add_version(found, model)[1]
    except UnknownId:
        if model is None:
            raise
        if is_ulid(wanted):
            # The project of the run was deleted: an id is no name for a new project.
            return _adopted(store, model)
        made = store.projects.create(wanted, model)
        return made.id, f"a project was made for it: {show(made.name, 80)}"


def open_store(root: Path, wait_s: float = WAIT_S) -> Store:
    """Return the store below `root`, with this limit for its locks; read and write nothing yet."""
    return Store(root, read_machine(), is_remote=is_remote, wait_s=wait_s)


_PAUSE_S = 1.0
_SHORT_WAIT_S = 0.5


def save_run(
    directory: RunDirectory,
    request: dict[str, Any],
    end: dict[str, Any],
    pause: Callable[[float], None] = time.sleep,
) -> dict[str, Any]:
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
            pause(_PAUSE_S)
        try:
            store = open_store(Path(request["store"]), WAIT_S if patient else _SHORT_WAIT_S)
            return _save(store, result, metadata, directory.samples)
        except StoreError as error:
            last = error
    return {"saved": False, "why": last.message if last else ""}


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
        replay.end = {"status": "interrupted", "reason": "the runner died"}
    return unfile_points(replay.result())


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
