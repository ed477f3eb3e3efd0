"""Removals, written down before they start, and the trash, where each host keeps its own part."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import Any

from tuibench.core.errors import StoreDamaged, StoreError, StoreNewer, UnknownId
from tuibench.core.ids import make_ulid, short_id
from tuibench.core.reason import Reason, because
from tuibench.core.record import strictly, to_plain
from tuibench.core.stored import DAMAGED, BenchmarkRow, TrashEntry
from tuibench.core.value import dataclass
from tuibench.store.benchmark_file import to_document, to_row
from tuibench.store.benchmarks import Benchmarks
from tuibench.store.context import Context, HostLayout, is_ulid
from tuibench.store.documents import ProjectFiles, projects_lock
from tuibench.store.envelope import DOCUMENT
from tuibench.store.files import measure, move_tree, sync_names
from tuibench.store.index import Index
from tuibench.store.sealed import Loaded, Sealing

NAME = "manifest.json"
MOVING, RESTORING, DROPPING = ".moving", ".restoring", ".dropping"
"""Suffixes of a removal's directory while it is in progress; the name is the state and changes atomically."""
STATES = (MOVING, RESTORING, DROPPING)
_TABLE = "trash"


class PathOutside(ValueError):
    """A path leads out of the store; the reason says which."""

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self.reason = because("path_leads_out", path=path)


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


_MANIFEST = strictly(Manifest)


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
        manifest = _MANIFEST(loaded.tables[_TABLE]["1"])
        for move in manifest.moves:
            _check_inside(move.source)
            _check_inside(move.name)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        why = error.reason if isinstance(error, PathOutside) else because("no_manifest_form")
        damage = StoreDamaged("manifest_damaged", name=sealing.files.name(path), why=why)
        raise sealing.misfit(path, loaded, damage) from error
    return manifest


def load_manifest(sealing: Sealing, directory: str) -> Loaded | None:
    """Load the file of a manifest."""
    return sealing.load(os.path.join(directory, NAME), DOCUMENT, fall_back=False)


def _check_inside(path: str) -> None:
    # An edited manifest must not lead a move out of the store.
    if os.path.isabs(path) or not path or ".." in path.split(os.sep):
        raise PathOutside(path)


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
                raise StoreError("restore_blocked", name=move.source)
        self._rename(layout, manifest.id, "", RESTORING)
        self._finish_restoring(layout, manifest)

    def drop(self, layout: HostLayout, id: str) -> None:  # noqa: A002
        """Delete a removal permanently."""
        self._rename(layout, id, "", DROPPING)
        self._delete(layout, self._at(layout, id, DROPPING))

    def unfinished(self, layout: HostLayout) -> list[str]:
        """Return the names of removals interrupted by a crash."""
        return [name for name in self._context.files.names(layout.trash) if name.endswith(STATES)]

    def finish(self, layout: HostLayout, name: str) -> None:
        """Complete the removal with a name from `unfinished`."""
        files = self._context.files
        directory = os.path.join(layout.trash, name)
        if name.endswith(DROPPING):
            self._delete(layout, directory)
            return
        manifest = read_manifest(self._context.sealing, directory)
        if manifest is None:
            # Moves happen only while the manifest exists, so a directory of temporary files alone contains no data.
            if all(one.endswith(".tmp") for one in files.names(directory)):
                self._delete(layout, directory)
                return
            raise StoreDamaged("manifest_lost", name=files.name(directory))
        self._check_list(layout)
        if name.endswith(MOVING):
            self._finish_moving(layout, manifest)
        else:
            self._finish_restoring(layout, manifest)

    def _finish_moving(self, layout: HostLayout, manifest: Manifest) -> None:
        files = self._context.files
        directory = self._at(layout, manifest.id, MOVING)
        with self.lock_projects(manifest.projects):
            for move in manifest.moves:
                move_tree(files, self._source(move.source), os.path.join(directory, move.name))
            sync_names(files, [directory], self._places(manifest))
        if manifest.benchmarks:
            self._index(layout).drop(manifest.benchmarks)
        self._rename(layout, manifest.id, MOVING, "")

    def _finish_restoring(self, layout: HostLayout, manifest: Manifest) -> None:
        files = self._context.files
        directory = self._at(layout, manifest.id, RESTORING)
        with self.lock_projects(manifest.projects):
            for move in manifest.moves:
                files.make_directory(os.path.dirname(self._source(move.source)))
                move_tree(files, os.path.join(directory, move.name), self._source(move.source))
            sync_names(files, self._places(manifest), [directory])
        index = self._index(layout)
        there = [index.derive(one) for one in manifest.benchmarks if files.kind(layout.record(one))]
        index.put([_as_listed(row, manifest) if row.status == DAMAGED else row for row in there])
        self._delete(layout, directory)

    def _delete(self, layout: HostLayout, directory: str) -> None:
        self._context.files.remove_tree(directory)
        self._context.files.sync_directory(layout.trash)

    def _check_list(self, layout: HostLayout) -> None:
        # Fail on a read-only index before anything moves.
        with self._index(layout).transaction():
            return

    def lock_projects(self, projects: Sequence[str]) -> AbstractContextManager[object]:
        """Hold the lock of projects if there are any to move."""
        lock = self._context.lock(projects_lock(self._context.files.root))
        return lock.hold() if projects else nullcontext()

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


KEEP_DAYS = 30
KEEP_BYTES = 1 << 30
_DAY_MS = 86_400_000


@dataclass(frozen=True, slots=True)
class _Part:
    layout: HostLayout
    manifest: Manifest


class Trash:
    """Removes, restores, and expires removals after thirty days or above a gigabyte."""

    def __init__(
        self, context: Context, benchmarks: Benchmarks, projects: ProjectFiles, entropy: Callable[[int], bytes]
    ) -> None:
        self._context = context
        self._benchmarks = benchmarks
        self._projects = projects
        self._entropy = entropy
        self._removals = Removals(context, benchmarks.index)
        self._manifests: dict[str, Manifest] = {}

    def remove(self, benchmarks: Sequence[str], projects: Sequence[str] = ()) -> TrashEntry:
        """Move benchmarks and projects to the trash as one entry; they are unlisted when this returns."""
        by_host: dict[str, tuple[HostLayout, list[str]]] = {}
        for one in dict.fromkeys(benchmarks):
            layout = self._benchmarks.find(one)
            self._context.check_writable(layout)
            by_host.setdefault(layout.id, (layout, []))[1].append(one)
        for one in projects:
            if not self._projects.paths(one):
                raise UnknownId("no_such_project", id=one)
        own = self._context.own()
        if projects or not by_host:
            by_host.setdefault(own.id, (own, []))
        entry = make_ulid(self._context.now_ms(), self._entropy(10))
        parts: list[_Part] = []
        for host, (layout, ids) in by_host.items():
            mine = list(dict.fromkeys(projects)) if host == own.id else []
            with self._benchmarks.locked(layout), self._removals.lock_projects(mine):
                sequence = parts[0].manifest.sequence if parts else self._next_sequence()
                manifest = replace(self._describe(layout, entry, ids, mine), sequence=sequence)
                self._removals.take(layout, manifest)
            parts.append(_Part(layout, manifest))
        self._benchmarks.say_failure(self.expire)
        return _join(parts)

    def entries(self) -> tuple[TrashEntry, ...]:
        """Return every removal, newest first."""
        entries: dict[str, list[_Part]] = {}
        for part in sorted(self._all_parts(), key=_order, reverse=True):
            entries.setdefault(part.manifest.id, []).append(part)
        return tuple(_join(parts) for parts in entries.values())

    def restore(self, id: str | None = None) -> TrashEntry:  # noqa: A002
        """Restore a removal; without an id this host's last one."""
        own = self._context.own()
        # Choose under the lock: an undo that waited for another one takes the next removal.
        with self._benchmarks.locked(own):
            wanted = self._find(id, own.id)
            for part in wanted:
                self._context.check_writable(part.layout)
            for part in wanted:
                with self._benchmarks.locked(part.layout), self._removals.lock_projects(part.manifest.projects):
                    self._removals.bring_back(part.layout, part.manifest)
        return _join(wanted)

    def _find(self, id: str | None, own: str) -> list[_Part]:  # noqa: A002
        parts = self._all_parts()
        if id is None:
            last = max((part for part in parts if part.manifest.by == own), key=_order, default=None)
            if last is None:
                raise UnknownId("nothing_to_undo")
            id = last.manifest.id  # noqa: A001
        wanted = [part for part in parts if part.manifest.id == id]
        if not wanted:
            raise UnknownId("no_such_removal", id=id)
        return wanted

    def _next_sequence(self) -> int:
        return max((part.manifest.sequence for part in self._all_parts()), default=0) + 1

    def empty(self, only: Collection[str] | None = None) -> tuple[int, int]:
        """Delete these removals permanently, or all of them; return the number of entries and bytes."""
        parts = self._parts(self._context.writable_hosts(quiet=True))
        gone = self._drop([part for part in parts if only is None or part.manifest.id in only])
        return len({part.manifest.id for part in gone}), sum(part.manifest.size_bytes for part in gone)

    def expire(self) -> int:
        """Delete entries older than thirty days, then the oldest above a gigabyte; return their number."""
        return self._expire_where(self._context.writable_hosts(quiet=True), by_size=True)

    def size(self) -> int:
        """Return the bytes in the trash."""
        return sum(part.manifest.size_bytes for part in self._all_parts())

    def ids(self) -> tuple[str, ...]:
        """Return the benchmarks in the trash; their short ids stay reserved."""
        return tuple(one for part in self._all_parts() for one in part.manifest.benchmarks)

    def unfinished(self, layout: HostLayout) -> list[str]:
        """Return the removals interrupted by crashes."""
        return self._removals.unfinished(layout)

    def finish(self, layout: HostLayout) -> list[tuple[str, Reason | None]]:
        """Complete interrupted removals; return (name, why it failed) of each. Needs the host's lock held."""
        done: list[tuple[str, Reason | None]] = []
        for name in self.unfinished(layout):
            try:
                self._removals.finish(layout, name)
                done.append((name, None))
            except (StoreDamaged, StoreNewer) as error:
                self._context.notices.say(error.reason)
                done.append((name, error.reason))
        return done

    def _describe(self, layout: HostLayout, entry: str, ids: Sequence[str], projects: Sequence[str]) -> Manifest:
        files = self._context.files
        paths: list[str] = []
        names: list[str] = []
        rows: list[dict[str, str | int]] = []
        for one in ids:
            row = self._benchmarks.index(layout).derive(one)
            if row.status == DAMAGED:
                row = next((known for known in self._benchmarks.index(layout).rows()[1] if known.id == one), row)
                rows.append(to_document(row))
            names.append(f"{short_id(one)} {row.name}".strip())
            # Move the record last: while it exists the benchmark is complete.
            found = [name for name in files.names(layout.directory_of(one)) if name.startswith(one + ".")]
            if not found:
                raise UnknownId("benchmark_removed", id=one)
            found.sort(key=lambda name: name == os.path.basename(layout.record(one)))
            paths += [os.path.join(layout.directory_of(one), name) for name in found]
        for one in projects:
            paths += self._projects.paths(one)
        # Put project names first, as users look for those.
        names = [*(f"{short_id(one)} {self._projects.title(one)}".strip() for one in projects), *names]
        return Manifest(
            id=entry,
            by=self._context.own().id,
            removed_utc=self._context.now_utc(),
            kind="project" if projects else "benchmark",
            names=tuple(names),
            benchmarks=tuple(ids),
            projects=tuple(projects),
            size_bytes=sum(measure(files, path) for path in paths),
            moves=tuple(Move(files.name(path), files.name(path).replace(os.sep, "+")) for path in paths),
            rows=tuple(rows),
        )

    def _all_parts(self) -> list[_Part]:
        return self._parts(self._context.hosts())

    def _parts(self, layouts: Iterable[HostLayout]) -> list[_Part]:
        found = []
        for layout in layouts:
            for name in self._context.files.names(layout.trash):
                manifest = self._manifest(os.path.join(layout.trash, name)) if is_ulid(name) else None
                found += [_Part(layout, manifest)] if manifest is not None else []
        return found

    def _manifest(self, directory: str) -> Manifest | None:
        # A manifest is written once, so it can be cached.
        if directory not in self._manifests:
            with self._context.notices.saying_damage():
                if (manifest := read_manifest(self._context.sealing, directory)) is not None:
                    self._manifests[directory] = manifest
        return self._manifests.get(directory)

    def expire_old(self, layout: HostLayout) -> int:
        """Delete expired removals by the time in their names; runs with every addition."""
        return self._expire_where([layout], by_size=False)

    def _expire_where(self, layouts: Sequence[HostLayout], *, by_size: bool) -> int:
        oldest_ms = self._context.now_ms() - KEEP_DAYS * _DAY_MS
        border = make_ulid(max(oldest_ms, 0), b"\0" * 10)
        old = [
            _Part(layout, manifest)
            for layout in layouts
            for name in self._context.files.names(layout.trash)
            if is_ulid(name) and name < border
            if (manifest := self._manifest(os.path.join(layout.trash, name))) is not None
        ]
        if by_size:
            left = sorted((p for p in self._parts(layouts) if p.manifest.id >= border), key=_order)
            room = KEEP_BYTES - sum(part.manifest.size_bytes for part in left)
            for part in left:
                if room >= 0:
                    break
                old.append(part)
                room += part.manifest.size_bytes
        return len({part.manifest.id for part in self._drop(old)})

    def _drop(self, parts: Sequence[_Part]) -> list[_Part]:
        gone = []
        for part in parts:
            with self._benchmarks.locked(part.layout):
                if self._context.files.kind(os.path.join(part.layout.trash, part.manifest.id)):
                    self._removals.drop(part.layout, part.manifest.id)
                    gone.append(part)
        return gone


def _order(part: _Part) -> tuple[int, str]:
    return part.manifest.order


def _join(parts: Sequence[_Part]) -> TrashEntry:
    manifests = [part.manifest for part in parts]
    titles = [name for one in manifests for name in one.names[: len(one.projects)]]
    return TrashEntry(
        id=manifests[0].id,
        removed_utc=manifests[0].removed_utc,
        kind="project" if any(one.projects for one in manifests) else "benchmark",
        names=(*titles, *(name for one in manifests for name in one.names[len(one.projects) :])),
        benchmarks=tuple(one for manifest in manifests for one in manifest.benchmarks),
        projects=tuple(one for manifest in manifests for one in manifest.projects),
        size_bytes=sum(one.size_bytes for one in manifests),
    )
