"""Encodes, decodes and validates the files of projects and versions, which people edit and disks damage."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from tuibench.core.errors import StoreError, UsageError
from tuibench.core.model import public_name, remote_scheme
from tuibench.core.reason import because
from tuibench.core.record import from_plain, to_plain
from tuibench.core.stored import BenchmarkRow, FileStamp, ModelReference, Project, ProjectRow, Version
from tuibench.core.text import MAX_NAME_CHARS, show
from tuibench.store.benchmarks import Benchmarks
from tuibench.store.context import Context
from tuibench.store.disk import cannot_show, damaged
from tuibench.store.documents import Document, ProjectFiles
from tuibench.store.files import measure

_NOTED_APART = ("id", "versions", "generation")
_PLAIN_NAMES = ("model", "config", "")


def encode_project(project: Project) -> dict[str, Any]:
    """Return the document of a project; versions have their own, and the id is the file's name."""
    plain: dict[str, Any] = to_plain(project)
    return {name: value for name, value in plain.items() if name not in _NOTED_APART}


def encode_version(version: Version) -> dict[str, Any]:
    """Return the document of a version."""
    plain: dict[str, Any] = to_plain(version)
    return {name: value for name, value in plain.items() if name != "id"}


def decode_project(document: Document, versions: Iterable[Version]) -> Project:
    """Return the project of a document; raise StoreDamaged if it is not valid."""
    values = {**document.values, "id": document.id, "versions": [], "generation": document.generation}
    try:
        found = from_plain(Project, values)
        texts = (found.name, found.description, found.created_utc, found.modified_utc)
        sound = _are(str, (*texts, *found.dims)) and _are(int, found.dims.values())
    except (TypeError, ValueError, AttributeError):
        sound = False
    if not sound:
        raise _misfit("projects", document)
    return Project(**{**_fields(found), "versions": tuple(versions)})


def decode_version(document: Document) -> Version:
    """Return the version of a document; raise StoreDamaged if it is not valid."""
    try:
        found = from_plain(Version, {**document.values, "id": document.id})
        texts = (found.project, found.name, found.created_utc, found.note, *found.recipe, *found.recipe.values())
        sound = _are(str, texts) and _is_reference(found.model)
    except (TypeError, ValueError, AttributeError):
        sound = False
    if not sound:
        raise _misfit("versions", document)
    return found


def check_name(name: str) -> str:
    """Return the name to store for user input; raise UsageError if it cannot be shown or typed."""
    trimmed = name.strip()
    if not trimmed:
        raise UsageError("project_name_missing")
    if len(trimmed) > MAX_NAME_CHARS:
        raise UsageError("name_too_long", count=len(trimmed), most=MAX_NAME_CHARS)
    if show(trimmed, MAX_NAME_CHARS) != trimmed:
        raise UsageError("project_name_unprintable", name=trimmed)
    return trimmed


def name_after(model: ModelReference) -> str:
    """Return a project name for a model: its file's name, or its directory's if the file has a generic name."""
    if remote_scheme(model.asked) in ("hf", "sample") or model.asked == "sample":
        found = model.asked.removeprefix("hf:")
    else:
        elsewhere = remote_scheme(model.asked) == "https"
        folder, file = os.path.split(public_name(model.asked).partition("?")[0] if elsewhere else model.file.path)
        stem = os.path.splitext(file)[0]
        found = (os.path.basename(folder) if stem in _PLAIN_NAMES else stem) or stem
    # Leave space for a number that makes the name unique.
    return show(found.strip(), MAX_NAME_CHARS - 10) or "model"


def _is_reference(model: Any) -> bool:
    return (
        isinstance(model, ModelReference)
        and _are(str, (model.asked, model.sha256))
        and all(_is_stamp(stamp) for stamp in (model.file, *model.external))
    )


def _is_stamp(stamp: Any) -> bool:
    return (
        isinstance(stamp, FileStamp)
        and _are(str, (stamp.path, stamp.sha256))
        and _are(int, (stamp.size, stamp.mtime_ns))
    )


def _are(kind: type, values: Iterable[object]) -> bool:
    # isinstance would accept a bool as an int.
    return all(type(value) is kind for value in values)


def _fields(project: Project) -> Mapping[str, Any]:
    return {name: getattr(project, name) for name in Project.__dataclass_fields__}


def _misfit(kind: str, document: Document) -> StoreError:
    name = f"{kind}/{document.id}.json"
    if document.newer is not None:
        return cannot_show(name, document.newer.schema, document.newer.tool)
    return damaged(name, because("document_misshapen", table=kind))


ORDERS: dict[str, tuple[Callable[[ProjectRow], tuple[str, ...]], bool]] = {
    "modified": (lambda row: (row.project.modified_utc, row.project.id), True),
    "created": (lambda row: (row.project.created_utc, row.project.id), True),
    "name": (lambda row: (row.project.name.casefold(), row.project.name), False),
}
"""Sort orders for lists: the key, and True if the greatest comes first."""
_ULID_LENGTH = 26
_LARGE_BYTES = 500_000
"""Size of an index from which it is read after the first look: about a thousand benchmarks, which take 5 ms."""


class ProjectList:
    """Counts benchmarks and sizes; looks up a record's size once per generation of its metadata."""

    def __init__(self, context: Context, benchmarks: Benchmarks) -> None:
        self._context = context
        self._benchmarks = benchmarks
        self._files = ProjectFiles(context)
        self._sizes: dict[tuple[str, int], int] = {}

    def rows(self, projects: Iterable[Project], *, whole: bool = True) -> tuple[ProjectRow, ...]:
        """Return a row for each project, in the given order; of a large store without counts unless `whole`."""
        if not whole and self._benchmarks.index_bytes() >= _LARGE_BYTES:
            return tuple(ProjectRow(project, benchmarks=0, size_bytes=None, last_run_utc="") for project in projects)
        belonging: dict[str, list[BenchmarkRow]] = {}
        for row in self._benchmarks.rows():
            if row.project:
                belonging.setdefault(row.project, []).append(row)
        wanted = list(projects)
        self._weigh([row for one in wanted for row in belonging.get(one.id, ()) if _key(row) not in self._sizes])
        return tuple(self._row(project, belonging.get(project.id, [])) for project in wanted)

    def _row(self, project: Project, benchmarks: Sequence[BenchmarkRow]) -> ProjectRow:
        paths = self._files.paths_of(project.id, [version.id for version in project.versions])
        return ProjectRow(
            project=project,
            benchmarks=sum(not row.kind for row in benchmarks),
            size_bytes=sum(measure(self._context.files, path) for path in paths)
            + sum(self._sizes[_key(row)] for row in benchmarks),
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
                        sizes[ulid] += measure(files, os.path.join(directory, name))
        self._sizes.update((_key(row), sizes[row.id]) for row in rows)


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
