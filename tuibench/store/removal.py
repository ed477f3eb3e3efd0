"""One removal in one host's trash: taken, restored, dropped, or completed after a crash."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace

from tuibench.core.card import DAMAGED, BenchmarkRow
from tuibench.core.errors import StoreDamaged, StoreError
from tuibench.store.context import Context
from tuibench.store.documents import projects_lock
from tuibench.store.index import Index
from tuibench.store.layout import HostLayout
from tuibench.store.manifest import DROPPING, MOVING, RESTORING, STATES, Manifest, read_manifest, write_manifest
from tuibench.store.moving import move_tree, sync_names
from tuibench.store.summary import to_row

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
