"""Projects as list rows: measurement counts, the last run and the size on disk."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable, Sequence

from tuibench.core.card import BenchmarkRow
from tuibench.core.project import Project, ProjectRow
from tuibench.store.benchmarks import Benchmarks
from tuibench.store.context import Context
from tuibench.store.documents import ProjectFiles

ORDERS: dict[str, tuple[Callable[[ProjectRow], tuple[str, ...]], bool]] = {
    "modified": (lambda row: (row.project.modified_utc, row.project.id), True),
    "created": (lambda row: (row.project.created_utc, row.project.id), True),
    "name": (lambda row: (row.project.name.casefold(), row.project.name), False),
}
"""Sort orders for lists: the key, and True if the greatest comes first."""
_ULID_LENGTH = 26


class ProjectList:
    """Counts benchmarks and sizes; looks up a record's size once per generation of its metadata."""

    def __init__(self, context: Context, benchmarks: Benchmarks) -> None:
        self._context = context
        self._benchmarks = benchmarks
        self._files = ProjectFiles(context)
        self._sizes: dict[tuple[str, int], int] = {}

    def rows(self, projects: Iterable[Project]) -> tuple[ProjectRow, ...]:
        """Return a row for each project, in the given order."""
        belonging: dict[str, list[BenchmarkRow]] = {}
        for row in self._benchmarks.rows():
            if row.project:
                belonging.setdefault(row.project, []).append(row)
        wanted = list(projects)
        self._weigh([row for one in wanted for row in belonging.get(one.id, ()) if _key(row) not in self._sizes])
        return tuple(self._row(project, belonging.get(project.id, [])) for project in wanted)

    def bare_rows(self, projects: Iterable[Project]) -> tuple[ProjectRow, ...]:
        """Return a row for each project without counts and sizes."""
        return tuple(ProjectRow(project, benchmarks=-1, size_bytes=-1, last_run_utc="") for project in projects)

    def _row(self, project: Project, benchmarks: Sequence[BenchmarkRow]) -> ProjectRow:
        paths = self._files.paths_of(project.id, [version.id for version in project.versions])
        return ProjectRow(
            project=project,
            benchmarks=sum(not row.kind for row in benchmarks),
            size_bytes=sum(map(self._file_bytes, paths)) + sum(self._sizes[_key(row)] for row in benchmarks),
            last_run_utc=max((row.started_utc for row in benchmarks), default=""),
            profiles=sum(bool(row.kind) for row in benchmarks),
        )

    def _weigh(self, rows: Sequence[BenchmarkRow]) -> None:
        """Read each directory once, which costs a tenth of looking up every record."""
        files, sizes = self._context.files, dict.fromkeys((row.id for row in rows), 0)
        for layout in self._context.hosts() if sizes else ():
            for directory in {layout.directory_of(ulid) for ulid in sizes}:
                for name in files.names(directory):
                    ulid = name[:_ULID_LENGTH]
                    if ulid in sizes:
                        sizes[ulid] += self._bytes_below(os.path.join(directory, name))
        self._sizes.update((_key(row), sizes[row.id]) for row in rows)

    def _bytes_below(self, path: str) -> int:
        found = self._context.files.stat(path)
        if found is None or not stat.S_ISDIR(found.st_mode):
            return 0 if found is None else found.st_size
        return sum(self._file_bytes(os.path.join(path, name)) for name in self._context.files.names(path))

    def _file_bytes(self, path: str) -> int:
        found = self._context.files.stat(path)
        return 0 if found is None else found.st_size


def _key(row: BenchmarkRow) -> tuple[str, int]:
    return row.id, row.card_generation


def has_words(project: Project, text: str) -> bool:
    """Return whether every word of `text` occurs in the project's texts, ignoring case."""
    said = [project.name, project.description, project.id]
    for version in project.versions:
        said += [version.name, version.note, version.model.asked, version.model.file.path]
    # No word contains a line break, so a match never spans two fields.
    whole = "\n".join(said).casefold()
    return all(word in whole for word in text.casefold().split())


def sort_rows(rows: Iterable[ProjectRow], by: str) -> tuple[ProjectRow, ...]:
    """Return the rows in one of the orders of ORDERS."""
    key, greatest_first = ORDERS[by]
    return tuple(sorted(rows, key=key, reverse=greatest_first))
