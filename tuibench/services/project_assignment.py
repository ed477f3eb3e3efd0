"""Assigns a benchmark to its project: the named one, or that of its model. A failure never loses the benchmark."""

from __future__ import annotations

from dataclasses import replace

from tuibench.core.errors import StoreError, UnknownId, UsageError
from tuibench.core.model import refer
from tuibench.core.result import RunResult
from tuibench.core.stored import Metadata, ModelReference
from tuibench.core.text import show
from tuibench.store.context import is_ulid
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
