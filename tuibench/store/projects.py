"""The projects of a store: found by model, named and described by people, shared by all hosts.

Every change names the generation it is based on. If another session was faster, the change is repeated on its result,
so an edit only overwrites a field that both sessions changed.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from tuibench.core.errors import StoreConflict, StoreError, UnknownId, UsageError
from tuibench.core.ids import LENGTH, draw_ulid, resolve, short_ids
from tuibench.core.reason import Reason, because
from tuibench.core.stored import ModelReference, Project, ProjectRow, Version
from tuibench.store.benchmarks import Benchmarks
from tuibench.store.context import PROJECTS, VERSIONS, Context
from tuibench.store.documents import Documents
from tuibench.store.project_files import (
    ProjectList,
    check_name,
    decode_project,
    decode_version,
    encode_project,
    encode_version,
    has_words,
    name_after,
)

_TRIES = 20
ORIGINAL = "original"


class Projects:
    """Projects and their versions, one file each."""

    def __init__(
        self,
        context: Context,
        benchmarks: Benchmarks,
        entropy: Callable[[int], bytes],
        trashed: Callable[[], Iterable[str]] = tuple,
    ) -> None:
        self._context = context
        self._entropy = entropy
        self._trashed = trashed
        self._list = ProjectList(context, benchmarks)
        self._projects = Documents(context, PROJECTS)
        self._versions = Documents(context, VERSIONS)

    def all(self) -> tuple[Project, ...]:
        """Return every readable project, last modified first; add a notice for each unreadable one."""
        versions = self._read_versions()
        found = []
        for document in self._projects.all():
            with self._context.notices.saying_damage():
                found.append(decode_project(document, versions.get(document.id, ())))
        return tuple(sorted(found, key=lambda one: (one.modified_utc, one.id), reverse=True))

    def rows(self, *, whole: bool = True) -> tuple[ProjectRow, ...]:
        """Return every project with its measurements, last modified first."""
        return self._list.rows(self.all(), whole=whole)

    def search(self, text: str) -> tuple[ProjectRow, ...]:
        """Return the projects with every word of `text` in their names, descriptions or models."""
        return self._list.rows(one for one in self.all() if has_words(one, text))

    def row(self, id: str) -> ProjectRow:  # noqa: A002
        """Return a project by its full id, with its measurements."""
        return self._list.rows([self.get(id)])[0]

    def get(self, id: str) -> Project:  # noqa: A002
        """Return a project by its full id; StoreDamaged names its file."""
        document = self._projects.get(id)
        if document is None:
            raise _unknown(id)
        return decode_project(document, self._read_versions().get(id, ()))

    def resolve(self, token: str) -> str:
        """Return the id for a name, a short id or an id."""
        every = self.all()
        typed = token.strip().upper()
        if len(typed) >= LENGTH and len(ends := [one.id for one in every if one.id.endswith(typed)]) == 1:
            # A short id wins over another project's name, as the screen shows short ids.
            return ends[0]
        named = [one.id for one in every if one.name == _normal(token)]
        if len(named) > 1:
            # An undo may restore a name that was reused meanwhile.
            names = list(short_ids(named).values())
            raise UnknownId("several_called", noun="project", given=token, count=len(named), names=names)
        return named[0] if named else resolve(token, [one.id for one in every], {}, "project")

    def create(
        self, name: str, model: ModelReference, description: str = "", dims: Mapping[str, int] | None = None
    ) -> Project:
        """Create a project for a model; raise UsageError if the name is taken."""
        name = check_name(_normal(name))
        with self._projects.lock.hold():
            self._check_free(name)
            return self._make(name, model, description, dims or {})

    def adopt(self, model: ModelReference) -> tuple[Project, Reason | None]:
        """Return the project of a measured model, and what was changed for it, None if nothing.

        Equal content belongs to the same project; other content at a known path becomes a new version. Among several
        projects the oldest wins, so a copy does not take runs from its original.
        """
        with self._projects.lock.hold():
            held = self._holding(model.sha256)
            if held is not None:
                project, version = held
                self._refresh(version, model)
                return self.touch(project.id), None
            every = self._oldest_first()
            for project in every:
                if any(version.model.file.path == model.file.path for version in project.versions):
                    added = self._add_version(project, model)
                    return self.touch(project.id), _measured_as("model_changed", added, project)
            name = untaken(name_after(model), {one.name for one in every})
            made = self._make(name, model, "", {})
            return made, because("project_made", project=made.name, id=made.id)

    def add_version(self, id: str, model: ModelReference) -> tuple[Project, Reason | None]:  # noqa: A002
        """Add a model to this project wherever its file is; the reason is None if the project already has it."""
        with self._projects.lock.hold():
            project = self.get(id)
            for version in project.versions:
                if version.model.sha256 == model.sha256:
                    self._refresh(version, model)
                    return self.touch(id), None
            added = self._add_version(project, model)
            return self.touch(id), _measured_as("version_added", added, project)

    def find(self, sha256: str) -> Project | None:
        """Return the oldest project with a model of this content."""
        held = self._holding(sha256)
        return None if held is None else held[0]

    def edit(
        self,
        id: str,  # noqa: A002
        *,
        name: str | None = None,
        description: str | None = None,
        dims: Mapping[str, int] | None = None,
        base: Project | None = None,
    ) -> Project:
        """Change the given fields, on top of concurrent changes.

        A form passes every field, and as `base` the project it showed: fields equal to `base` are not edits.
        """
        if name is not None and (base is None or name != base.name):
            name = check_name(_normal(name))
        given = {"name": name, "description": description, "dims": None if dims is None else dict(dims)}
        wanted = {
            field: value
            for field, value in given.items()
            if value is not None and (base is None or value != getattr(base, field))
        }

        def change(project: Project) -> Project:
            if "name" in wanted and wanted["name"] != project.name:
                self._check_free(str(wanted["name"]))
            changed = replace(project, **wanted)  # type: ignore[arg-type]
            return project if changed == project else replace(changed, modified_utc=self._context.now_utc())

        return self._change(id, change)

    def touch(self, id: str) -> Project:  # noqa: A002
        """Set a project's modification time after a measurement."""
        return self._change(id, lambda one: replace(one, modified_utc=self._context.now_utc()))

    def duplicate(self, id: str, name: str) -> Project:  # noqa: A002
        """Create a second project with the same versions; benchmarks stay with the first."""
        name = check_name(_normal(name))
        with self._projects.lock.hold():
            self._check_free(name)
            source = self.get(id)
            now = self._context.now_utc()
            copy = replace(source, id=self._draw(), name=name, created_utc=now, modified_utc=now)
            for version in source.versions:
                own = replace(version, id=self._draw(), project=copy.id)
                self._versions.put(own.id, encode_version(own), 0)
            self._projects.put(copy.id, encode_project(copy), 0)
            return self.get(copy.id)

    def _holding(self, sha256: str) -> tuple[Project, Version] | None:
        versions = ((project, version) for project in self._oldest_first() for version in project.versions)
        return next((pair for pair in versions if pair[1].model.sha256 == sha256), None)

    def _oldest_first(self) -> list[Project]:
        # Ids begin with their creation time in milliseconds.
        return sorted(self.all(), key=lambda one: one.id)

    def _make(self, name: str, model: ModelReference, description: str, dims: Mapping[str, int]) -> Project:
        now = self._context.now_utc()
        project = Project(self._draw(), name, description, now, now, (), dict(dims))
        # Write the version first: a version without a project is harmless, a project without one is useless.
        self._write_version(project, ORIGINAL, model)
        self._projects.put(project.id, encode_project(project), 0)
        return self.get(project.id)

    def _add_version(self, project: Project, model: ModelReference) -> Version:
        taken = {version.name for version in project.versions}
        number = len(project.versions) + 1
        while f"v{number}" in taken:
            number += 1
        return self._write_version(project, f"v{number}", model)

    def _write_version(self, project: Project, name: str, model: ModelReference) -> Version:
        version = Version(self._draw(), project.id, name, self._context.now_utc(), model)
        self._versions.put(version.id, encode_version(version), 0)
        return version

    def _refresh(self, version: Version, model: ModelReference) -> None:
        """Update the file stamp of known content, so that the next check need not read the file."""
        if version.model.file.path == model.file.path and version.model != model:
            document = self._versions.get(version.id)
            if document is not None:
                fresh = replace(version, model=replace(model, asked=version.model.asked))
                self._versions.put(version.id, encode_version(fresh), document.generation)

    def _change(self, id: str, change: Callable[[Project], Project]) -> Project:  # noqa: A002
        last: StoreError | None = None
        for _ in range(_TRIES):
            with self._projects.lock.hold():
                before = self.get(id)
                after = change(before)
                if after == before:
                    return before
                try:
                    self._projects.put(id, encode_project(after), before.generation)
                except StoreConflict as error:
                    # Locks do not work on every file system: retry on the other session's result.
                    last = error
                    continue
                return self.get(id)
        raise last or _unknown(id)

    def _check_free(self, name: str) -> None:
        for project in self.all():
            if project.name == name:
                raise UsageError("project_name_taken", name=name, id=project.id)

    def _draw(self) -> str:
        taken = (*self._projects.ids(), *self._versions.ids(), *self._trashed())
        return draw_ulid(self._context.now_ms(), self._entropy, taken)

    def _read_versions(self) -> dict[str, list[Version]]:
        found: dict[str, list[Version]] = {}
        for document in self._versions.all():
            with self._context.notices.saying_damage():
                version = decode_version(document)
                found.setdefault(version.project, []).append(version)
        return found


def _normal(name: str) -> str:
    # The same letters typed on two keyboards must give the same name.
    return unicodedata.normalize("NFC", name).strip()


def untaken(name: str, taken: set[str]) -> str:
    """Return the name, with a number appended if it is taken."""
    number, found = 1, name
    while found in taken:
        number += 1
        found = f"{name} ({number})"
    return found


def _measured_as(code: str, version: Version, project: Project) -> Reason:
    return because(code, path=version.model.file.path, version=version.name, project=project.name, id=project.id)


def _unknown(ulid: str) -> UnknownId:
    return UnknownId("no_such_project", id=ulid)
