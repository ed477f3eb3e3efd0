"""Small documents shared by all hosts, one TinyDB file each; a stale write raises StoreConflict."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

from tuibench.core.errors import StoreConflict
from tuibench.core.reason import because
from tuibench.core.value import dataclass
from tuibench.store.atomic import PREVIOUS, Stamp
from tuibench.store.context import PROJECTS, RECORD, VERSIONS, Context, check_ulid, ulid_in
from tuibench.store.disk import damaged
from tuibench.store.envelope import DOCUMENT, Header
from tuibench.store.files import parse_temp
from tuibench.store.lock import StoreLock


@dataclass(frozen=True, slots=True)
class Document:
    """One document with its generation, which a change must name."""

    id: str
    values: Mapping[str, Any]
    generation: int
    newer: Header | None = None
    """The metadata of a newer version, which may have stored anything in it."""


class Documents:
    """The documents of one kind, such as projects, in a directory of that name."""

    def __init__(self, context: Context, kind: str) -> None:
        self._context = context
        self._kind = kind
        self._directory = os.path.join(context.files.root, kind)
        self._kept: dict[str, tuple[Stamp | None, Document]] = {}

    @property
    def lock(self) -> StoreLock:
        """Return the lock shared by projects and versions, so that both can change together."""
        return self._context.lock(projects_lock(self._context.files.root))

    def path(self, id: str) -> str:  # noqa: A002
        """Return the file of a document."""
        return os.path.join(self._directory, check_ulid(id) + RECORD)

    def ids(self) -> tuple[str, ...]:
        """Return the ids of all documents, oldest first."""
        return tuple(filter(None, map(ulid_in, self._context.files.names(self._directory))))

    def all(self) -> tuple[Document, ...]:
        """Return every readable document, oldest first; add a notice for each unreadable one."""
        found = []
        for one in self.ids():
            with self._context.notices.saying_damage():
                found.append(self.get(one))
        return tuple(one for one in found if one is not None)

    def get(self, id: str) -> Document | None:  # noqa: A002
        """Return a document, or None for an unknown id; callers must not change its values."""
        path = self.path(id)
        stamp = self._context.files.stamp(path)
        if stamp is None:
            self._kept.pop(id, None)
            return None
        kept = self._kept.get(id)
        if kept is not None and kept[0] == stamp:
            return kept[1]
        loaded = self._context.sealing.load(path, DOCUMENT)
        if loaded is None:
            return None
        values = loaded.tables.get(self._kind, {}).get("1")
        if values is None:
            damage = damaged(self._context.files.name(path), because("document_missing", table=self._kind))
            raise self._context.sealing.misfit(path, loaded, damage)
        document = Document(id, values, loaded.header.generation, loaded.header if loaded.beyond else None)
        self._kept[id] = loaded.stamp, document
        return document

    def put(self, id: str, values: Mapping[str, Any], generation: int) -> Document:  # noqa: A002
        """Write a document based on this generation, 0 for a new one; raise StoreConflict if it has changed since."""
        path = self.path(id)
        with self.lock.hold():
            old = self._context.sealing.load(path, DOCUMENT)
            there = old.header.generation if old is not None else 0
            if there != generation:
                name = str(values.get("name", id))
                raise StoreConflict("changed_meanwhile" if old else "removed_meanwhile", name=name)
            header, stamp = self._context.sealing.write_tables(path, {self._kind: {"1": dict(values)}}, old)
            document = Document(id, dict(values), header.generation)
            self._kept[id] = stamp, document
            return document


class ProjectFiles:
    """The files of a project, for moving them."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._projects = Documents(context, PROJECTS)
        self._versions = Documents(context, VERSIONS)

    def title(self, id: str) -> str:  # noqa: A002
        """Return the project's name."""
        document = self._projects.get(id)
        return str(document.values.get("name", "")) if document is not None else ""

    def paths(self, id: str) -> tuple[str, ...]:  # noqa: A002
        """Return the files of a project and its versions, with previous versions; none for an unknown project."""
        own = self._projects.path(id)
        if not self._context.files.kind(own):
            return ()
        return self.paths_of(id, [one.id for one in self._versions.all() if one.values.get("project") == id])

    def paths_of(self, id: str, versions: Iterable[str]) -> tuple[str, ...]:  # noqa: A002
        """Return the same files if the versions are already known."""
        every = [self._projects.path(id), *map(self._versions.path, versions)]
        files = self._context.files
        return tuple(path for one in every for path in (one, one + PREVIOUS) if files.kind(path))


def projects_lock(root: str) -> str:
    """Return the path of the lock for everything that hosts share."""
    return os.path.join(root, PROJECTS, ".lock")


HOUR_S = 3600.0
FOREIGN_HOURS = 24
"""Hours after which another machine's temporary file counts as dead, as its process cannot be checked."""


class Sweeper:
    """Sweeps each directory once per session; needs the lock that guards it."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._seen: set[str] = set()

    def once(self, directory: str) -> None:
        """Remove dead temporary files from a directory unless already done."""
        if directory not in self._seen:
            self._seen.add(directory)
            self.sweep(directory)

    def sweep(self, directory: str) -> list[str]:
        """Remove dead temporary files from a directory; return their paths."""
        dead = self.find(directory)
        for path in dead:
            self._context.files.remove(path)
        return dead

    def find(self, directory: str) -> list[str]:
        """Return temporary files older than an hour whose process is gone."""
        found = []
        for name in self._context.files.names(directory):
            if (maker := parse_temp(name)) is None:
                continue
            path = os.path.join(directory, name)
            stated = self._context.files.stat(path)
            age = self._context.waiting.clock() - stated.st_mtime if stated is not None else 0.0
            if self._is_dead(maker, age):
                found.append(path)
        return found

    def _is_dead(self, maker: tuple[str, int], age_s: float) -> bool:
        node, pid = maker
        if node != self._context.files.node:
            return age_s > FOREIGN_HOURS * HOUR_S
        return age_s > HOUR_S and not self._context.is_alive(pid)
