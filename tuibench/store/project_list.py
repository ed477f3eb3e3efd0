"""Projects as lists show them: with how much was measured for each, when last, and what that takes on the disk."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence

from tuibench.core.card import BenchmarkRow
from tuibench.core.errors import StoreError
from tuibench.core.project import Project, ProjectRow
from tuibench.store.atomic import PREVIOUS
from tuibench.store.benchmarks import Benchmarks
from tuibench.store.context import Context
from tuibench.store.documents import ProjectFiles

ORDERS: dict[str, tuple[Callable[[ProjectRow], tuple[str, ...]], bool]] = {
    "modified": (lambda row: (row.project.modified_utc, row.project.id), True),
    "created": (lambda row: (row.project.created_utc, row.project.id), True),
    "name": (lambda row: (row.project.name.casefold(), row.project.name), False),
}
"""How lists can be sorted; whether the greatest comes first."""


class ProjectList:
    """Counts and weighs; a record's size is looked up once per generation of its card."""

    def __init__(self, context: Context, benchmarks: Benchmarks) -> None:
        self._context = context
        self._benchmarks = benchmarks
        self._files = ProjectFiles(context)
        self._sizes: dict[tuple[str, int], int] = {}

    def rows(self, projects: Iterable[Project]) -> tuple[ProjectRow, ...]:
        """A row for each, in their order."""
        belonging: dict[str, list[BenchmarkRow]] = {}
        for row in self._benchmarks.rows():
            if row.project:
                belonging.setdefault(row.project, []).append(row)
        return tuple(self._row(project, belonging.get(project.id, [])) for project in projects)

    def _row(self, project: Project, benchmarks: Sequence[BenchmarkRow]) -> ProjectRow:
        own = sum(self._file_bytes(path) for path in self._files.paths(project.id))
        return ProjectRow(
            project=project,
            benchmarks=len(benchmarks),
            size_bytes=own + sum(map(self._record_bytes, benchmarks)),
            last_run_utc=max((row.started_utc for row in benchmarks), default=""),
        )

    def _record_bytes(self, row: BenchmarkRow) -> int:
        key = row.id, row.card_generation
        if key not in self._sizes:
            self._sizes[key] = self._weigh(row.id)
        return self._sizes[key]

    def _weigh(self, ulid: str) -> int:
        try:
            layout = self._benchmarks.find(ulid)
        except StoreError:
            return 0
        samples = layout.samples(ulid)
        inside = [os.path.join(samples, name) for name in self._context.files.names(samples)]
        record = layout.record(ulid)
        return sum(map(self._file_bytes, (record, record + PREVIOUS, *inside)))

    def _file_bytes(self, path: str) -> int:
        found = self._context.files.stat(path)
        return 0 if found is None else found.st_size


def has_words(project: Project, text: str) -> bool:
    """Whether every word of `text` is somewhere in what a project says, in any case."""
    said = [project.name, project.description, project.id]
    for version in project.versions:
        said += [version.name, version.note, version.model.asked, version.model.file.path]
    # A line break is in no word, so no word is found across two fields.
    whole = "\n".join(said).casefold()
    return all(word in whole for word in text.casefold().split())


def sort_rows(rows: Iterable[ProjectRow], by: str) -> tuple[ProjectRow, ...]:
    """The rows in one of the orders of ORDERS."""
    key, greatest_first = ORDERS[by]
    return tuple(sorted(rows, key=key, reverse=greatest_first))
