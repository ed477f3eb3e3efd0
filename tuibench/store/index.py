"""The index of one host's benchmarks: a copy of facts in the records, rebuilt from them if it is lost."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace

from tuibench.core.errors import StoreDamaged, StoreError, StoreNewer
from tuibench.core.reason import because
from tuibench.core.record import pause_collector
from tuibench.core.stored import BenchmarkRow
from tuibench.store.atomic import Stamp
from tuibench.store.benchmark_file import InvalidRow, RecordFiles, damaged_row, foreign_row, to_document, to_row
from tuibench.store.context import PROJECTS, VERSIONS, Context, HostLayout, is_ulid, ulid_in
from tuibench.store.envelope import RowEncoder, Tables
from tuibench.store.files import Files
from tuibench.store.lock import StoreLock
from tuibench.store.sealed import Loaded, Sealing
from tuibench.store.storage import LockedTable, SealedDB, SealedStorage

TABLE = "benchmarks"
Key = Stamp | None


class Index:
    """The rows of one host, cached until the file on disk changes."""

    def __init__(self, sealing: Sealing, layout: HostLayout, lock: StoreLock) -> None:
        self._sealing = sealing
        self._layout = layout
        self._records = RecordFiles(sealing)
        self._database = SealedDB(
            sealing,
            layout.index,
            lock,
            self._recover,
            self._take_rows,
            RowEncoder(TABLE).encode,
            storage=SealedStorage,
        )
        self._kept: tuple[Key, tuple[BenchmarkRow, ...]] | None = None
        self._changes: dict[str, BenchmarkRow | None] = {}
        """Changes of the open transaction; None for a removed row."""

    @property
    def storage(self) -> SealedStorage:
        """Return the storage of the index."""
        storage = self._database.storage
        assert isinstance(storage, SealedStorage)
        return storage

    @property
    def table(self) -> LockedTable:
        """Return the table of rows."""
        table = self._database.table(TABLE)
        assert isinstance(table, LockedTable)
        return table

    def rows(self) -> tuple[Key, tuple[BenchmarkRow, ...]]:
        """Return all rows, and a key that is equal as long as they are."""
        kept = self._kept
        key = self._sealing.files.stamp(self._layout.index)
        # Without a file there is no key to validate the cache.
        if kept is not None and kept[0] == key and key is not None:
            return kept
        key, tables = self.storage.snapshot()
        kept = self._kept
        if kept is None or kept[0] != key or key is None:
            kept = self._kept = key, to_rows(tables)
        return kept

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Hold the lock, and write all changes as one generation."""
        with self.storage.transaction() as outermost:
            if not outermost:
                yield
                return
            self._changes = {}
            before = self.storage.before()
            yield
        kept = self._kept
        after = self.storage.stamp()
        if self._changes and kept is not None and kept[0] == before and before is not None and after is not None:
            # Apply the changes to the cached rows instead of reading ten thousand rows again.
            rows = {row.id: row for row in kept[1]} | self._changes
            self._kept = after, tuple(row for row in rows.values() if row is not None)

    def put(self, rows: Iterable[BenchmarkRow]) -> None:
        """Add rows, or replace those of the same benchmark."""
        with self.transaction():
            places = self._places()
            for each in rows:
                place = places.get(each.id)
                row = each if place is None else self._with_kept_facts(each, place)
                if place is None:
                    places[row.id] = self.table.insert(to_document(row))
                else:
                    self.table.update(to_document(row), doc_ids=[place])
                self._changes[row.id] = row

    def _with_kept_facts(self, row: BenchmarkRow, place: int) -> BenchmarkRow:
        """Return the row with the facts that the list has of it: a record of an older version holds none."""
        kept = self.table.get(doc_id=place)
        facts = kept.get("facts") if isinstance(kept, Mapping) else None
        return replace(row, facts=dict(facts)) if facts and not row.facts else row

    def fill(self, rows: Iterable[BenchmarkRow]) -> None:
        """Replace existing rows in one write, because a list may have thousands of them."""
        found = {row.id: row for row in rows}
        if not found:
            return
        with self.transaction():
            tables = self.storage.read() or {}
            table = tables.get(TABLE, {})
            for number, document in table.items():
                if (row := found.get(document["id"])) is not None:
                    table[number] = to_document(row)
            self._changes |= found
            self.storage.write(tables)

    def drop(self, ids: Iterable[str]) -> None:
        """Remove rows; unknown ids are ignored."""
        with self.transaction():
            places = self._places()
            gone = [one for one in ids if one in places]
            self._changes |= dict.fromkeys(gone)
            if gone:
                self.table.remove(doc_ids=[places[one] for one in gone])

    def ids_on_disk(self) -> list[str]:
        """Return the ids of all records on disk."""
        files = self._sealing.files
        found = []
        for directory in files.names(self._layout.records):
            for name in files.names(os.path.join(self._layout.records, directory)):
                ulid = ulid_in(name)
                if ulid and ulid[-2:].lower() == directory:
                    found.append(ulid)
        return sorted(found)

    def rewrite(self) -> None:
        """Write the list in the present format, whatever its format on disk."""
        with self.transaction():
            self.storage.write(self.storage.read() or {})

    def derive(self, ulid: str, records: RecordFiles | None = None) -> BenchmarkRow:
        """Return the row of a record, from its file; a marked row if the record is damaged or of a newer version."""
        try:
            return (records or self._records).read_row(self._layout.record(ulid))
        except (StoreDamaged, FileNotFoundError) as error:
            if records is None:
                missing = because("record_missing", name=self._sealing.files.name(self._layout.record(ulid)))
                self._sealing.say(error.reason if isinstance(error, StoreDamaged) else missing)
            return damaged_row(ulid)
        except StoreNewer as error:
            if records is None:
                self._sealing.say(error.reason)
            return foreign_row(ulid, (records or self._records).read_foreign(self._layout.record(ulid)))

    def _derive_whatever(self, ulid: str) -> BenchmarkRow:
        # One unreadable record must not hide ten thousand others.
        try:
            return self.derive(ulid)
        except StoreError as error:
            self._sealing.say(error.reason)
            return damaged_row(ulid)

    def _take_rows(self, loaded: Loaded) -> None:
        if loaded.beyond and TABLE not in loaded.tables:
            raise StoreDamaged("index_form_unknown")
        self._kept = loaded.stamp, to_rows(loaded.tables)

    def _places(self) -> dict[str, int]:
        tables = self.storage.read() or {}
        return {str(document["id"]): int(number) for number, document in tables.get(TABLE, {}).items()}

    def _recover(self, damage: StoreError | None) -> Tables:
        ids = self.ids_on_disk()
        if damage is not None or ids:
            name = self._sealing.files.name(self._layout.index)
            seen = "index_newer" if isinstance(damage, StoreNewer) else "index_damaged"
            self._sealing.say(because("index_missing" if damage is None else seen, name=name, records=len(ids)))
        with pause_collector():
            rows = [to_document(self._derive_whatever(ulid)) for ulid in ids]
        return {TABLE: {str(number): row for number, row in enumerate(rows, 1)}}


def to_rows(tables: Tables) -> tuple[BenchmarkRow, ...]:
    """Return the rows of an index; raise StoreDamaged for an invalid row."""
    try:
        with pause_collector():
            table = tables.get(TABLE, {})
            for number in table:
                int(number)
            return tuple(map(to_row, table.values()))
    except (InvalidRow, ValueError) as error:
        why = error.reason if isinstance(error, InvalidRow) else because("row_without_number")
        raise StoreDamaged("index_row_invalid", why=why) from error


_SUFFIX = ".doubt"


def mark_dirty(files: Files, layout: HostLayout, ulid: str) -> None:
    """Mark a benchmark's record as about to change. All functions here need the host's lock."""
    files.touch(_path(layout, ulid))


def clear_dirty(files: Files, layout: HostLayout, ulid: str) -> None:
    """Clear the mark: record and row agree."""
    files.remove(_path(layout, ulid))


def find_dirty(files: Files, layout: HostLayout) -> list[str]:
    """Return the ids of benchmarks whose writer did not finish."""
    names = [name.removesuffix(_SUFFIX) for name in files.names(layout.directory) if name.endswith(_SUFFIX)]
    return [name for name in names if is_ulid(name)]


def update_dirty_rows(files: Files, layout: HostLayout, index: Index, records: RecordFiles) -> None:
    """Update the index rows of marked records; leave unreadable records to a check."""
    dirty = find_dirty(files, layout)
    if not dirty:
        return
    listed = {row.id: row for row in index.rows()[1]}
    found = []
    for ulid in dirty:
        try:
            row = records.read_row(layout.record(ulid))
        except (StoreDamaged, StoreNewer, FileNotFoundError):
            continue
        found += [row] if listed.get(ulid) != row else []
    if found:
        index.put(found)
    for ulid in dirty:
        clear_dirty(files, layout, ulid)


def _path(layout: HostLayout, ulid: str) -> str:
    return os.path.join(layout.directory, ulid + _SUFFIX)


_YOUNG_NS = 100_000_000
"""Two changes within one tick of the file system's clock share a time; a younger file may change again unseen."""


def read_mark(context: Context) -> str:
    """Return a text that differs whenever benchmarks, projects or the trash may have changed.

    Every change of the store renames a file into one of these directories, which updates its time.
    """
    now_ns = int(context.waiting.clock() * 1e9)
    found = []
    for path in _places(context):
        status = context.files.stat(path)
        if status is None:
            found.append("-")
            continue
        young = abs(now_ns - status.st_mtime_ns) < _YOUNG_NS
        found.append(f"{status.st_mtime_ns:x}.{status.st_ino:x}" + (f"+{now_ns:x}" if young else ""))
    return " ".join(found)


def _places(context: Context) -> Iterator[str]:
    root = context.files.root
    yield from (os.path.join(root, PROJECTS), os.path.join(root, VERSIONS), context.hosts_directory)
    for layout in context.hosts():
        yield layout.index
        yield layout.trash
