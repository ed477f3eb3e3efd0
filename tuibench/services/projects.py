"""The actions on projects, and the project of each new result; children inspect models."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from tuibench.core.activity import ALIVE
from tuibench.core.errors import ModelError, StoreError, UnknownId, UsageError
from tuibench.core.machine import Places
from tuibench.core.model import ModelState, refer
from tuibench.core.reason import Reason, because
from tuibench.core.stored import Metadata, ModelReference, Project, ProjectRow, TrashEntry, Version
from tuibench.store.context import is_ulid
from tuibench.store.project_files import ORDERS, name_after, sort_rows
from tuibench.store.projects import untaken
from tuibench.store.store import Store

if TYPE_CHECKING:
    from tuibench.core.model import ModelSummary
    from tuibench.core.result import RunResult
    from tuibench.core.spec import ModelSource
    from tuibench.services.runs import Runs


_Placed = tuple[str | None, Reason | None]
"""The id of a project, and what was changed for a new result."""
SORTS = tuple(ORDERS)
"""Sort keys of lists."""


class Projects:
    """All actions on projects; a token is a name, short id or id."""

    def __init__(self, places: Places, store: Store, runs: Callable[[], Runs]) -> None:
        self.places = places
        self._store = store
        self._runs = runs

    def list(self, by: str = "modified", text: str = "", *, whole: bool = True) -> tuple[ProjectRow, ...]:
        """Return the projects that contain every word of `text`, sorted by modified, name or created.

        Without `text`, `whole=False` leaves out counts and sizes of a large store, which take most of the time.
        """
        projects = self._store.projects
        return sort_rows(projects.search(text) if text.strip() else projects.rows(whole=whole), by)

    def get(self, token: str) -> ProjectRow:
        """Return the project that the token names."""
        return self._store.projects.row(self._store.projects.resolve(token))

    def kept(self, project: str | None) -> str | None:
        """Return the project if it still exists; None if a new benchmark has to find its own."""
        return project if project and any(one.id == project for one in self._store.projects.all()) else None

    def look(self, source: ModelSource) -> tuple[ModelSummary, Project | None, str]:
        """Return a model's summary, its project, and a new project's name; raise ModelError if it is not a model."""
        summary = self._inspect(source)
        model = refer(source.asked, summary)
        name = untaken(name_after(model), {one.name for one in self._store.projects.all()}) if model else ""
        return summary, self._store.projects.find(summary.sha256), name

    def create(
        self, source: ModelSource, name: str = "", description: str = "", dims: Mapping[str, int] | None = None
    ) -> tuple[ProjectRow, ModelSummary]:
        """Create a project for a model, by default named after it; raise ModelError if it is not a model."""
        summary = self._inspect(source)
        model = refer(source.asked, summary)
        if model is None:
            raise ModelError("model_unread", model=source.asked)
        made = self._store.projects.create(name or name_after(model), model, description, dims)
        return self._store.projects.row(made.id), summary

    def project_for(self, source: ModelSource, asked: str = "") -> Project | None:
        """Return the project for measuring a model: `asked` if it contains that file or content, else the model's own.

        Create the latter if it is missing. Raise ModelError if it is not a model.
        """
        wanted = self._store.projects.get(asked) if asked else None
        if wanted is not None and wanted.holds_file(source.path):
            return wanted
        model = refer(source.asked, self._inspect(source))
        if model is None or (wanted is not None and wanted.holds(model.sha256)):
            return wanted
        return self._store.projects.adopt(model)[0]

    def assign(self, source: ModelSource, project: str, rerun_of: str) -> tuple[str, tuple[str, ...]]:
        """Return the project of a new run's result, and a message if it is not `project`."""
        if project and rerun_of:
            return project, ()
        try:
            found = self.project_for(source, project)
        except StoreError:
            # The launch reports that the store cannot be written; results stay in the run directory.
            return project, ()
        if found is None or not project or found.id == project:
            return found.id if found is not None else project, ()
        return found.id, (f"{source.asked} is not a model of this project: the result belongs to {found.name}",)

    def edit(
        self,
        token: str,
        *,
        name: str | None = None,
        description: str | None = None,
        dims: Mapping[str, int] | None = None,
        base: Project | None = None,
    ) -> ProjectRow:
        """Change the given fields; with `base`, the project as a form showed it, only those that differ from it."""
        projects = self._store.projects
        found = projects.resolve(token)
        return projects.row(projects.edit(found, name=name, description=description, dims=dims, base=base).id)

    def duplicate(self, token: str, name: str) -> ProjectRow:
        """Create a second project with the same versions and no benchmarks."""
        projects = self._store.projects
        return projects.row(projects.duplicate(projects.resolve(token), name).id)

    def remove(self, *tokens: str) -> TrashEntry:
        """Move projects with their versions and benchmarks to the trash as one removal.

        Raise UsageError if a run for one of them is alive.
        """
        found = list(dict.fromkeys(self._store.projects.resolve(token) for token in tokens))
        self.refuse_measured(found)
        benchmarks = [row.id for row in self._store.benchmarks.rows() if row.project in found]
        return self._store.trash.remove(benchmarks, found)

    def refuse_measured(self, projects: Collection[str]) -> None:
        """Raise UsageError if a run for one of these ids is alive: its result would lose its project."""
        from tuibench.services.monitor import Monitor  # lazy: the runner's side takes 20 ms

        rows = Monitor(self._runs(), self._store).look().runs
        going = [row.info.id for row in rows if row.project in projects and row.info.state in ALIVE]
        if going:
            raise UsageError("project_in_use", ids=going)

    def _inspect(self, source: ModelSource) -> ModelSummary:
        from tuibench.services.models import inspect  # lazy: child processes take 8 ms

        return inspect(source, self.places)

    def model_state(self, version: Version) -> ModelState:
        """Return whether a version's model is unchanged."""
        from tuibench.services.models import find_state  # lazy: as above

        return find_state(version.model, self.places)

    def newest_state(self, token: str) -> ModelState:
        """Return whether the newest model of a project is unchanged."""
        return self.model_state(self.get(token).project.versions[-1])


def place(store: Store, result: RunResult, metadata: Metadata) -> tuple[Metadata, str]:
    """Return the metadata with its project's id, and a message for the user, '' if none.

    A second call changes nothing.
    """
    model = _first_model(result)
    wanted = (metadata.project or "").strip()
    if model is None and not wanted:
        return replace(metadata, project=None), ""
    try:
        found, changed = _named(store, wanted, model, metadata.rerun_of) if wanted else _adopted(store, model)
    except (StoreError, UsageError) as error:
        # Save the measurement without a project; the user can assign one later.
        found, changed = None, because("no_project", why=error.reason)
    from tuibench.present.reason import reason_words  # lazy: the first rows do not need it

    return replace(metadata, project=found), reason_words(changed)


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


def _adopted(store: Store, model: ModelReference | None) -> _Placed:
    if model is None:
        return None, None
    project, changed = store.projects.adopt(model)
    return project.id, changed


def _named(store: Store, wanted: str, model: ModelReference | None, rerun_of: str | None) -> _Placed:
    try:
        found = store.projects.resolve(wanted)
        repeated = any(row.id == rerun_of and row.project == found for row in store.benchmarks.rows())
        if model is None or not (repeated or store.projects.get(found).holds_file(model.file.path)):
            return store.projects.touch(found).id, None
        # A stand-in for a model of this project is a version of it: measured again, or as its file is now.
        return found, store.projects.add_version(found, model)[1]
    except UnknownId:
        if model is None:
            raise
        if is_ulid(wanted):
            # The project of the run was deleted: an id is no name for a new project.
            return _adopted(store, model)
        made = store.projects.create(wanted, model)
        return made.id, because("named_project_made", project=made.name)
