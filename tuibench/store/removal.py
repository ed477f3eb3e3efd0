"""One removal in one host's trash: taken, restored, dropped, or completed after a crash."""

from __future__ import annotations

import operator
import os
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from typing import Any

from tuibench.core.errors import StoreDamaged, StoreError
from tuibench.core.record import from_plain, to_plain
from tuibench.core.stored import DAMAGED, BenchmarkRow
from tuibench.core.text import show
from tuibench.store.context import Context
from tuibench.store.documents import projects_lock
from tuibench.store.envelope import DOCUMENT
from tuibench.store.files import move_tree, sync_names
from tuibench.store.index import Index
from tuibench.store.layout import HostLayout
from tuibench.store.record import to_row
from tuibench.store.sealed import Loaded, Sealing
from tuibench.store.trouble import damaged

NAME = "manifest.json"
MOVING, RESTORING, DROPPING = ".moving", ".restoring", ".dropping"
"""Suffixes of a removal's directory while it is in progress; the name is the state and changes atomically."""
STATES = (MOVING, RESTORING, DROPPING)
_TABLE = "trash"


class Outside(ValueError):
    """A path leads out of the store."""


@dataclass(frozen=True, slots=True)
class Move:
    """One moved file or directory."""

    source: str
    """The original path, relative to the store."""
    name: str
    """The name in the trash."""


@dataclass(frozen=True, slots=True)
class Manifest:
    """One host's part of a removal."""

    id: str
    by: str
    """The host that removed it."""
    removed_utc: str
    kind: str
    names: tuple[str, ...]
    benchmarks: tuple[str, ...]
    projects: tuple[str, ...]
    size_bytes: int
    moves: tuple[Move, ...]
    rows: tuple[dict[str, Any], ...] = ()
    """Index rows of unreadable records, which cannot name their project themselves."""
    sequence: int = 0
    """Position in the order of removals, independent of the clock; 0 in manifests without one."""

    @property
    def order(self) -> tuple[int, str]:
        """Return the sort key, oldest removal first; ids sort by time."""
        return self.sequence, self.id


def write_manifest(sealing: Sealing, directory: str, manifest: Manifest) -> None:
    """Write the manifest into the directory of its removal."""
    sealing.write_tables(os.path.join(directory, NAME), {_TABLE: {"1": to_plain(manifest)}}, None)


def read_manifest(sealing: Sealing, directory: str) -> Manifest | None:
    """Return the manifest of a removal, None if there is none; raise StoreDamaged if it is unusable."""
    path = os.path.join(directory, NAME)
    loaded = load_manifest(sealing, directory)
    if loaded is None:
        return None
    try:
        manifest = from_plain(Manifest, loaded.tables[_TABLE]["1"])
        for move in manifest.moves:
            _check_inside(move.source)
            _check_inside(move.name)
        operator.index(manifest.sequence)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        why = str(error) if isinstance(error, Outside) else "it is no list of what was removed"
        hint = "What was removed lies beside it and can be put back by hand."
        raise sealing.misfit(path, loaded, damaged(sealing.files.name(path), why, hint)) from error
    return manifest


def load_manifest(sealing: Sealing, directory: str) -> Loaded | None:
    """Load the file of a manifest."""
    return sealing.load(os.path.join(directory, NAME), DOCUMENT, fall_back=False)


def _check_inside(path: str) -> None:
    # An edited manifest must not lead a move out of the store.
    if os.path.isabs(path) or not path or ".." in path.split(os.sep):
        raise Outside(f"{show(path)} leads out of the store")


IndexOf = Callable[[HostLayout], Index]


class Removals:
    """The directories of a host's trash; every method needs the host's lock held."""

    def __init__(self, context: Context, index: IndexOf) -> None:
        self._context = context
        self._index = index

    def take(self, layout: HostLayout, manifest: Manifest) -> None:
        """Move the files of a manifest into the trash, then drop its index rows."""
        self._check_list(layout)
        directory = self._at(layout, manifest.id, MOVING)
        self._context.files.make_directory(directory)
        write_manifest(self._context.sealing, directory, manifest)
        self._finish_moving(layout, manifest)

    def bring_back(self, layout: HostLayout, manifest: Manifest) -> None:
        """Move everything back and list it again; raise StoreError if a path is occupied."""
        self._check_list(layout)
        files = self._context.files
        for move in manifest.moves:
            if files.kind(self._source(move.source)):
                raise StoreError(
                    f"{move.source} of the store is there again: it cannot be restored over",
                    "Remove the newer one first.",
                )
        self._rename(layout, manifest.id, "", RESTORING)
        self._finish_restoring(layout, manifest)

    def drop(self, layout: HostLayout, id: str) -> None:  # noqa: A002
        """Delete a removal permanently."""
        self._rename(layout, id, "", DROPPING)
        self._context.files.remove_tree(self._at(layout, id, DROPPING))
        self._context.files.sync_directory(layout.trash)

    def unfinished(self, layout: HostLayout) -> list[str]:
        """Return the names of removals interrupted by a crash."""
        return [name for name in self._context.files.names(layout.trash) if name.endswith(STATES)]

    def finish(self, layout: HostLayout, name: str) -> None:
        """Complete the removal with a name from `unfinished`."""
        files = self._context.files
        directory = os.path.join(layout.trash, name)
        if name.endswith(DROPPING):
            files.remove_tree(directory)
            files.sync_directory(layout.trash)
            return
        manifest = read_manifest(self._context.sealing, directory)
        if manifest is None:
            # Moves happen only while the manifest exists, so a directory of temporary files alone contains no data.
            if all(one.endswith(".tmp") for one in files.names(directory)):
                files.remove_tree(directory)
                files.sync_directory(layout.trash)
                return
            raise StoreDamaged(
                f"{files.name(directory)} of the store has lost its manifest",
                "What was removed lies in it and can be put back by hand.",
            )
        self._check_list(layout)
        if name.endswith(MOVING):
            self._finish_moving(layout, manifest)
        else:
            self._finish_restoring(layout, manifest)

    def _finish_moving(self, layout: HostLayout, manifest: Manifest) -> None:
        files = self._context.files
        directory = self._at(layout, manifest.id, MOVING)
        with self._projects(manifest):
            for move in manifest.moves:
                move_tree(files, self._source(move.source), os.path.join(directory, move.name))
            sync_names(files, [directory], self._places(manifest))
        if manifest.benchmarks:
            self._index(layout).drop(manifest.benchmarks)
        self._rename(layout, manifest.id, MOVING, "")

    def _finish_restoring(self, layout: HostLayout, manifest: Manifest) -> None:
        files = self._context.files
        directory = self._at(layout, manifest.id, RESTORING)
        with self._projects(manifest):
            for move in manifest.moves:
                files.make_directory(os.path.dirname(self._source(move.source)))
                move_tree(files, os.path.join(directory, move.name), self._source(move.source))
            sync_names(files, self._places(manifest), [directory])
        index = self._index(layout)
        there = [index.derive(one) for one in manifest.benchmarks if files.kind(layout.record(one))]
        index.put([_as_listed(row, manifest) if row.status == DAMAGED else row for row in there])
        files.remove_tree(directory)
        files.sync_directory(layout.trash)

    def _check_list(self, layout: HostLayout) -> None:
        # Fail on a read-only index before anything moves.
        with self._index(layout).transaction():
            return

    def _projects(self, manifest: Manifest) -> AbstractContextManager[object]:
        lock = self._context.lock(projects_lock(self._context.files.root))
        return lock.hold() if manifest.projects else nullcontext()

    def _source(self, path: str) -> str:
        return os.path.join(self._context.files.root, path)

    def _places(self, manifest: Manifest) -> list[str]:
        return [os.path.dirname(self._source(move.source)) for move in manifest.moves]

    def _at(self, layout: HostLayout, id: str, state: str) -> str:  # noqa: A002
        return os.path.join(layout.trash, id + state)

    def _rename(self, layout: HostLayout, id: str, before: str, after: str) -> None:  # noqa: A002
        self._context.files.rename(self._at(layout, id, before), self._at(layout, id, after))
        self._context.files.sync_directory(layout.trash)


def _as_listed(row: BenchmarkRow, manifest: Manifest) -> BenchmarkRow:
    """Return a damaged record's row as listed before its removal, with its project and name."""
    for document in manifest.rows:
        try:
            known = to_row(document)
        except TypeError:
            continue  # listed by another version
        if known.id == row.id:
            return replace(known, status=DAMAGED)
    return row
