"""What is done with projects: models are looked at by children, everything else is the store's."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING

from tuibench.core.activity import ALIVE
from tuibench.core.errors import ModelError, UsageError
from tuibench.core.place import Places
from tuibench.core.project import ModelReference, Project, ProjectRow, Version
from tuibench.core.reference import ModelState, refer
from tuibench.core.short_id import short_id
from tuibench.core.text import show
from tuibench.core.trash import TrashEntry
from tuibench.store.project_file import name_after
from tuibench.store.project_list import ORDERS, sort_rows
from tuibench.store.projects import untaken
from tuibench.store.store import Store

if TYPE_CHECKING:  # lists need none of it
    from tuibench.core.model import ModelSummary
    from tuibench.core.spec import ModelSource
    from tuibench.workbench.runs import Runs

_LONG_BYTES = 500_000
"""About a thousand benchmarks, which take 5 ms to read."""
SORTS = tuple(ORDERS)
"""What lists can be sorted by."""


class Projects:
    """Every action on projects; a project is named by its name, short id or id."""

    def __init__(self, places: Places, store: Store, runs: Callable[[], Runs]) -> None:
        self.places = places
        self._store = store
        self._runs = runs

    def list(self, by: str = "modified", text: str = "") -> tuple[ProjectRow, ...]:
        """The projects that have every word of `text` somewhere, sorted; looking up sizes takes its time."""
        projects = self._store.projects
        return sort_rows(projects.search(text) if text.strip() else projects.rows(), by)

    def hurry(self, by: str = "modified") -> tuple[ProjectRow, ...]:
        """What can be listed at once: not yet counted where there is much to count."""
        if self._store.benchmarks.index_bytes() < _LONG_BYTES:
            return self.list(by)
        return sort_rows(self._store.projects.bare_rows(), by)

    def get(self, token: str) -> ProjectRow:
        """The project that is meant."""
        return self._store.projects.row(self._store.projects.resolve(token))

    def kept(self, project: str | None) -> str | None:
        """The project of a benchmark as long as there is one; None where a new benchmark has to find its own."""
        return project if project and any(one.id == project for one in self._store.projects.all()) else None

    def look(self, source: ModelSource) -> tuple[ModelSummary, Project | None, str]:
        """What a model is, the project that has it, and what a new one would be called; ModelError where it is none."""
        from tuibench.workbench.model import inspect  # children and their limits: 8 ms

        summary = inspect(source, self.places)
        model = refer(source.asked, summary)
        name = untaken(name_after(model), {one.name for one in self._store.projects.all()}) if model else ""
        return summary, self._store.projects.find(summary.sha256), name

    def create(
        self, source: ModelSource, name: str = "", description: str = "", dims: Mapping[str, int] | None = None
    ) -> tuple[ProjectRow, ModelSummary]:
        """A new project of a model, named after it where no name is given; ModelError where it is none."""
        from tuibench.workbench.model import inspect  # children and their limits: 8 ms

        summary = inspect(source, self.places)
        model = refer(source.asked, summary)
        if model is None:
            raise ModelError(f"{show(source.asked)} could not be read", "give the path of an .onnx file")
        made = self._store.projects.create(name or name_after(model), model, description, dims)
        return self._store.projects.row(made.id), summary

    def belonging(self, source: ModelSource, asked: str = "") -> Project | None:
        """The project that a model is measured for: `asked` where it holds that file or content, else the model's own.

        That is made where there is none. ModelError where it is no model.
        """
        from tuibench.workbench.model import inspect  # as above

        wanted = self._store.projects.get(asked) if asked else None
        if wanted is not None and wanted.holds_file(source.path):
            return wanted
        model = refer(source.asked, inspect(source, self.places))
        if model is None or (wanted is not None and wanted.holds(model.sha256)):
            return wanted
        return self._store.projects.adopt(model)[0]

    def adopt(self, model: ModelReference) -> tuple[Project, str]:
        """The project of a model that was measured, and what to tell the user about it, '' where nothing."""
        return self._store.projects.adopt(model)

    def edit(
        self,
        token: str,
        *,
        name: str | None = None,
        description: str | None = None,
        dims: Mapping[str, int] | None = None,
        base: Project | None = None,
    ) -> ProjectRow:
        """Change what is given; with the project that a form showed as `base`, only what differs from that."""
        projects = self._store.projects
        found = projects.resolve(token)
        return projects.row(projects.edit(found, name=name, description=description, dims=dims, base=base).id)

    def duplicate(self, token: str, name: str) -> ProjectRow:
        """A second project with the same versions and no benchmarks."""
        projects = self._store.projects
        return projects.row(projects.duplicate(projects.resolve(token), name).id)

    def remove(self, *tokens: str) -> TrashEntry:
        """Move projects with their versions and benchmarks to the trash, from where one undo brings all back.

        UsageError where something is still measured for one of them.
        """
        found = list(dict.fromkeys(self._store.projects.resolve(token) for token in tokens))
        self.refuse_measured(found)
        benchmarks = [row.id for row in self._store.benchmarks.rows() if row.project in found]
        return self._store.trash.remove(benchmarks, found)

    def refuse_measured(self, projects: Collection[str]) -> None:
        """UsageError where a run goes on for one of these ids: its result would come into a list without it."""
        from tuibench.workbench.presence import Presence  # the runner's side: 20 ms

        rows = Presence(self._runs(), self._store).look(self._store.mark())
        going = [short_id(row.info.id) for row in rows if row.project in projects and row.info.state in ALIVE]
        if going:
            raise UsageError(f"{', '.join(going)}: still measured for it", "cancel what goes on first")

    def model_state(self, version: Version) -> ModelState:
        """Whether the model of a version is what it was."""
        from tuibench.workbench.model import find_state  # as above

        return find_state(version.model, self.places)
