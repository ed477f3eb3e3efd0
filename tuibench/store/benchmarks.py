"""The benchmarks of a store: add, list over all hosts, search, read, and edit metadata."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import fields, replace
from functools import partial
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tuibench.core.errors import StoreDamaged, StoreError, StoreNewer, UnknownId
from tuibench.core.headline import fact_texts
from tuibench.core.ids import draw_ulid, short_id
from tuibench.core.reason import because
from tuibench.core.stored import DAMAGED, NEWER, BenchmarkRow, Metadata, StoredBenchmark
from tuibench.store.benchmark_file import Record, RecordFiles
from tuibench.store.context import Context, HostLayout, check_ulid
from tuibench.store.documents import Sweeper
from tuibench.store.files import Files, move_samples, name_samples
from tuibench.store.index import Index, clear_dirty, mark_dirty, update_dirty_rows
from tuibench.store.sealed import Sealing

if TYPE_CHECKING:
    from tuibench.core.result import RunResult
    from tuibench.store.trash import Trash


MOST = 30
"""Largest number of records read for one list."""
STORED_AT_ONCE = 1000
"""Rows per write of the index while all are derived: a kill loses at most these, and other writers wait briefly."""
TRIES = 3
"""Times that a record is read which the disk refuses."""
Part = tuple[HostLayout, Sequence[BenchmarkRow]]


class FactFill:
    """The facts derived so far; they stay valid because a result never changes."""

    def __init__(self, sealing: Sealing) -> None:
        self._files = sealing.files
        # The list reports damage in a row of its own.
        self._records = RecordFiles(Sealing(sealing.files, lambda _: None, sealing.tool))
        self._known: dict[str, dict[str, Any]] = {}
        """By id; empty for a record without facts, which keeps its sentence."""
        self._refused: dict[str, int] = {}
        """By id: times that the disk refused the record."""
        self.reads = 0
        self.pending = False
        """True if the last call left rows for the next one."""

    @property
    def mark(self) -> str:
        """Return a text that changes after each call that leaves rows; '' if none are left."""
        return f"facts {self.reads}" if self.pending else ""

    def fill(self, parts: Sequence[Part], max_derived: int) -> list[Sequence[BenchmarkRow]]:
        """Return the rows of each host with all known facts; first derive the newest `max_derived` that are unknown."""
        lacking = [(row.id, layout) for layout, rows in parts for row in rows if _lacks(row)]
        unread = sorted((one for one in lacking if one[0] not in self._known), key=lambda one: one[0], reverse=True)
        for ulid, layout in unread[:max_derived]:
            self._derive(ulid, layout.record(ulid))
        self.pending = any(ulid not in self._known for ulid, _ in unread)
        if not lacking:
            return [rows for _, rows in parts]
        known = self._known
        return [
            [replace(row, facts=known[row.id]) if _lacks(row) and known.get(row.id) else row for row in rows]
            for _, rows in parts
        ]

    def known(self, index: Index) -> list[BenchmarkRow]:
        """Return the rows of a list whose facts are known but missing in it, for a writer to store."""
        known = self._known
        if not known:
            return []
        return [replace(row, facts=known[row.id]) for row in index.rows()[1] if _lacks(row) and known.get(row.id)]

    def derive_all(self, layout: HostLayout, index: Index, tell: Callable[[int, int], None]) -> Iterator[int]:
        """Derive the facts of every row of a host; yield the number of new ones when they are to be stored."""
        lacking = [row.id for row in index.rows()[1] if _lacks(row)]
        for first in range(0, len(lacking), STORED_AT_ONCE):
            part = lacking[first : first + STORED_AT_ONCE]
            for number, ulid in enumerate(part, first + 1):
                if ulid not in self._known:
                    self._derive(ulid, layout.record(ulid))
                tell(number, len(lacking))
            yield sum(bool(self._known.get(ulid)) for ulid in part)

    def _derive(self, ulid: str, path: str) -> None:
        self.reads += 1
        try:
            self._known[ulid] = self._records.read_facts(path)
        except (StoreDamaged, StoreNewer):
            # An unreadable record keeps its sentence; opening it reports the cause.
            self._known[ulid] = {}
        except StoreError:
            self._refused[ulid] = self._refused.get(ulid, 0) + 1
            if self._refused[ulid] >= TRIES:
                self._known[ulid] = {}


def _lacks(row: BenchmarkRow) -> bool:
    return not row.facts and row.status not in (DAMAGED, NEWER)


_TEXTS = attrgetter(*(field.name for field in fields(BenchmarkRow) if field.type in ("str", str)))


class Listing:
    """An immutable list, newest first."""

    def __init__(self, rows: tuple[BenchmarkRow, ...], before: Listing | None = None) -> None:
        self.rows = rows
        self._texts: list[str] | None = None
        # The previous list is only useful if it has search texts.
        self._before = before if before is not None and before._texts is not None else None

    def search(self, text: str) -> tuple[BenchmarkRow, ...]:
        """Return the rows that contain every word in some field, ignoring case."""
        words = text.casefold().split()
        if not words:
            return self.rows
        texts = self._texts
        if texts is None:
            # No word contains a line break, so a match never spans two fields.
            before = self._before
            known = before.texts_by_row() if before is not None else {}
            texts = [
                known.get(id(row)) or "\n".join((*_TEXTS(row), *fact_texts(row.facts))).casefold() for row in self.rows
            ]
            self._texts, self._before = texts, None
        first, *others = words
        found = [place for place, line in enumerate(texts) if first in line]
        for word in others:
            found = [place for place in found if word in texts[place]]
        return tuple(self.rows[place] for place in found)

    def texts_by_row(self) -> dict[int, str]:
        """Return the search texts by row identity; rows are immutable and live as long as this list."""
        return dict(zip(map(id, self.rows), self._texts or (), strict=False))


def join_rows(parts: Sequence[Iterable[BenchmarkRow]]) -> tuple[BenchmarkRow, ...]:
    """Return all rows, newest first; for a duplicate id keep the row of the earlier part."""
    if len(parts) == 1:
        rows = list(parts[0])
    else:
        known: dict[str, BenchmarkRow] = {}
        for part in parts:
            for row in part:
                known.setdefault(row.id, row)
        rows = list(known.values())
    return tuple(sorted(rows, key=attrgetter("id"), reverse=True))


class Benchmarks:
    """All benchmarks of a store, those of other hosts too."""

    def __init__(self, context: Context, entropy: Callable[[int], bytes]) -> None:
        self._context = context
        self._entropy = entropy
        self._sweeper = Sweeper(context)
        self._trash: Trash | None = None
        self._records = RecordFiles(context.sealing)
        self._indexes: dict[str, Index] = {}
        self.facts = FactFill(context.sealing)
        self._listing: tuple[tuple[object, ...], Listing] | None = None
        self._filling = threading.Lock()

    def draw_id(self, time_ms: int, taken: Iterable[str] = ()) -> str:
        """Return a new id whose last four characters are unique in the store, its trash, and `taken`."""
        trashed = self._trash.ids() if self._trash is not None else ()
        return draw_ulid(time_ms, self._entropy, (*taken, *trashed, *(row.id for row in self.rows())))

    def add(self, result: RunResult, metadata: Metadata, samples: Path | None = None) -> BenchmarkRow:
        """Save a benchmark durably; saving it again changes nothing.

        `samples` is a directory whose files are moved beside the record.
        """
        check_ulid(result.id)
        layout = self._context.own()
        with self.writing(layout) as mark_changed:
            path = layout.record(result.id)
            self._sweeper.once(layout.directory_of(result.id))
            record = self._read_or_none(path)
            if record is None:
                self._refuse_trashed(result.id)
                mark_changed(result.id)
            there = layout.samples(result.id)
            if samples is not None:
                names = move_samples(self._context.files, str(samples), there)
            else:
                names = frozenset(self._context.files.names(there))
            row = self._records.write_new(path, name_samples(result, names), metadata) if record is None else record.row
            self.index(layout).put([row])
        if (trash := self._trash) is not None:
            self.say_failure(lambda: trash.expire_old(layout))
        return row

    def rows(self, *, derive: bool = False) -> tuple[BenchmarkRow, ...]:
        """Return every benchmark of every host, newest first; with `derive`, some rows without facts get theirs."""
        return self._list(derive).rows

    def derive_facts(self, tell: Callable[[int, int], None]) -> int:
        """Derive and store the facts of all rows of older versions; return their number.

        `tell` receives the rows done and their total. Records are read without a lock.
        """
        derived = 0
        for layout in self._context.writable_hosts():
            try:
                for count in self.facts.derive_all(layout, self.index(layout), tell):
                    with self.writing(layout):
                        derived += count
            except StoreNewer as error:
                self._context.notices.say(error.reason)
        return derived

    def index_bytes(self) -> int:
        """Return the size of all hosts' lists without reading them, to estimate the reading time."""
        found = (self._context.files.stat(layout.index) for layout in self._context.hosts())
        return sum(status.st_size for status in found if status is not None)

    def search(self, text: str) -> tuple[BenchmarkRow, ...]:
        """Return the benchmarks that contain every word of `text`, newest first."""
        return self._list(derive=False).search(text)

    def get(self, id: str) -> StoredBenchmark:  # noqa: A002
        """Return a whole benchmark by its full id."""
        layout = self.find(id)
        found = self._records.get(layout.record(id))
        if found is None:
            raise _unknown(id)
        return found

    def edit(
        self,
        id: str,  # noqa: A002
        *,
        name: str | None = None,
        note: str | None = None,
        project: str | None = None,
    ) -> BenchmarkRow:
        """Change the given fields of the metadata; project '' removes a benchmark from its project."""
        layout = self.find(id)
        self._context.check_writable(layout)
        with self.writing(layout) as mark_changed:
            path = layout.record(id)
            self._sweeper.once(layout.directory_of(id))
            record = self._records.read(path)
            if record is None:
                raise _unknown(id)
            metadata = record.metadata
            changed = replace(
                metadata,
                name=metadata.name if name is None else name,
                note=metadata.note if note is None else note,
                project=metadata.project if project is None else project or None,
            )
            if changed == metadata:
                self.index(layout).put([record.row])
                return record.row
            mark_changed(id)
            row = self._records.write_metadata(path, record, replace(changed, updated_utc=self._context.now_utc()))
            self.index(layout).put([row])
            return row

    def samples(self, id: str) -> Path | None:  # noqa: A002
        """Return the directory of its sample files; None if none were kept."""
        path = self.find(id).samples(id)
        return Path(path) if self._context.files.kind(path) == "directory" else None

    def find(self, ulid: str) -> HostLayout:
        """Return the layout of the host that has this record; raise UnknownId if none has."""
        check_ulid(ulid)
        for layout in self._context.hosts():
            if self._context.files.kind(layout.record(ulid)):
                return layout
        raise _unknown(ulid)

    def index(self, layout: HostLayout) -> Index:
        """Return the index of a host, one object per store so that its cache is kept."""
        found = self._indexes.get(layout.id)
        if found is None:
            lock = self._context.lock(layout.lock)
            found = self._indexes.setdefault(layout.id, Index(self._context.sealing, layout, lock))
        return found

    @contextmanager
    def locked(self, layout: HostLayout) -> Iterator[None]:
        """Hold a host's lock; first complete operations that others left unfinished."""
        with self._context.lock(layout.lock).hold() as fresh:
            if fresh:
                self._sweeper.once(layout.directory)
                if self._trash is not None:
                    self._trash.finish(layout)
                # Even if the disk cannot store the list now, the caller's operation may still succeed.
                self.say_failure(
                    lambda: update_dirty_rows(self._context.files, layout, self.index(layout), self._records)
                )
            yield

    @contextmanager
    def writing(self, layout: HostLayout) -> Iterator[Callable[[str], None]]:
        """Hold the lock like `locked`, and write all changes of the host's list once, at the end.

        Yield a function to be called with the id of each benchmark whose record is about to change.
        """
        files, dirty = self._context.files, []

        def mark_changed(ulid: str) -> None:
            mark_dirty(files, layout, ulid)
            dirty.append(ulid)

        with self.locked(layout):
            # Read the list before any record changes, so that a lost list is noticed and a new one is not reported.
            try:
                with self.index(layout).transaction():
                    self.index(layout).fill(self.facts.known(self.index(layout)))
                    yield mark_changed
            except StoreNewer:
                # Nothing was written.
                self._clear(files, layout, dirty)
                raise
            self._clear(files, layout, dirty)

    def _clear(self, files: Files, layout: HostLayout, dirty: list[str]) -> None:
        for ulid in dirty:
            self.say_failure(partial(clear_dirty, files, layout, ulid))

    def attend(self, trash: Trash) -> None:
        """Let the trash complete moves and delete expired entries at each write."""
        self._trash = trash

    def say_failure(self, act: Callable[[], object]) -> None:
        """Run an optional step after a finished operation: report its failure and undo nothing."""
        try:
            act()
        except StoreError as error:
            self._context.notices.say(error.reason)

    def _refuse_trashed(self, ulid: str) -> None:
        # Saved beside its trashed record, the benchmark could never be restored.
        if self._trash is not None and ulid in self._trash.ids():
            raise StoreError("in_trash", given=short_id(ulid), id=ulid)

    def _read_or_none(self, path: str) -> Record | None:
        # The added result is authoritative, so a damaged record of it is set aside and written again.
        try:
            return self._records.read(path)
        except StoreDamaged:
            kept = self._context.sealing.set_aside(path, self._context.now_utc().replace(":", ""))
            name, aside = self._context.files.name(path), self._context.files.name(kept)
            self._context.notices.say(because("record_written_again", name=name, kept=aside))
            return None

    def _list(self, derive: bool) -> Listing:
        # Two threads that derive at a time would overwrite each other's facts.
        with self._filling:
            parts = [(layout, *self.index(layout).rows()) for layout in self._context.hosts()]
            keys = tuple((layout.id, key) for layout, key, _ in parts)
            kept = self._listing
            more = derive and self.facts.pending
            if kept is None or kept[0] != keys or more or any(key is None for _, key in keys):
                lists = self.facts.fill([(layout, rows) for layout, _, rows in parts], MOST if derive else 0)
                kept = self._listing = keys, Listing(join_rows(lists), kept[1] if kept else None)
            return kept[1]


def _unknown(ulid: str) -> UnknownId:
    return UnknownId("no_such_benchmark", id=ulid)
