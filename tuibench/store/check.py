"""Checks and migrates one host's data: its index against its records, records against their checksums."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace

from tuibench.core.errors import StoreDamaged, StoreError, StoreReadOnly
from tuibench.core.reason import Reason, because
from tuibench.core.schema import NEWEST
from tuibench.core.stored import DAMAGED, NEWER, BenchmarkRow, StoreReport
from tuibench.store.atomic import PREVIOUS
from tuibench.store.benchmark_file import RecordFiles
from tuibench.store.benchmarks import Benchmarks
from tuibench.store.context import PROJECTS, RECORD, SAMPLES, VERSIONS, Context, HostLayout, is_ulid, ulid_in
from tuibench.store.disk import damaged, drop_name, refuse_newer
from tuibench.store.documents import projects_lock
from tuibench.store.envelope import DOCUMENT, INDEX, SCHEMA, read_header, to_header
from tuibench.store.file_check import FileCheck, Findings, RecordCheck, State, TrashCheck
from tuibench.store.index import Index, clear_dirty, find_dirty, to_rows
from tuibench.store.sealed import QUARANTINE, Loaded
from tuibench.store.trash import Trash


class DocumentCheck:
    """Checks everything below the root that belongs to no host."""

    def __init__(self, file: FileCheck) -> None:
        self._file = file
        self._context = file.context

    def look(self, read_data: bool) -> None:
        """Check every document; with `read_data` also its previous version."""
        self._look_at_salt()
        if self._file.repair and self._context.files.kind(os.path.join(self._context.files.root, PROJECTS)):
            with self._context.lock(projects_lock(self._context.files.root)).hold():
                self._look_at_documents(read_data)
        else:
            self._look_at_documents(read_data)

    def _look_at_documents(self, read_data: bool) -> None:
        files = self._context.files
        for kind in (PROJECTS, VERSIONS):
            directory = os.path.join(files.root, kind)
            for name in files.names(directory):
                if ulid_in(name):
                    path = os.path.join(directory, name)
                    found = self._file.look(path, self._load)
                    if found is not State.GONE and read_data:
                        self._file.look_at_previous(path)
        self._file.sweep([files.root, *(os.path.join(files.root, kind) for kind in (PROJECTS, VERSIONS, QUARANTINE))])

    def _look_at_salt(self) -> None:
        self._file.findings.checked += 1
        try:
            self._context.host_id(False)
        except StoreDamaged as error:
            self._file.findings.add("damaged", "salt", error.reason)

    def _load(self, path: str) -> Loaded | None:
        loaded = self._file.quiet.load(path, DOCUMENT, fall_back=False)
        kind = os.path.basename(os.path.dirname(path))
        if loaded is not None and "1" not in loaded.tables.get(kind, {}):
            damage = damaged(self._context.files.name(path), because("document_missing", table=kind))
            raise self._file.quiet.misfit(path, loaded, damage)
        return loaded


class HostCheck:
    """Checks everything below one host's directory: index and names under its lock, record contents without."""

    def __init__(self, file: FileCheck, index: Index, trash: Trash, layout: HostLayout) -> None:
        self._file = file
        self._context = file.context
        self._trash = trash
        self._layout = layout
        self._findings = file.findings
        self._repair = file.repair
        self._records = RecordFiles(self._file.quiet)
        self._record = RecordCheck(self._file)
        self._seen: set[str] = set()
        self._index = index
        self._frozen = False
        """True if a newer version wrote the index, so that nothing of this host can be written."""

    def look(self, read_data: bool) -> None:
        """Check everything; with `read_data` every byte."""
        with self._locked():
            self._look_at_unfinished()
            self._look_at_leftovers()
            self._look_at_index()
        ids = self._index.ids_on_disk()
        self._findings.checked += 0 if read_data else len(ids)
        if read_data:
            for ulid in ids:
                self._look_at_record(ulid)
            TrashCheck(self._file, self._confirm).look(self._layout)
            self._file.look_at_previous(self._layout.index)
        with self._locked():
            self._compare()

    @contextmanager
    def _locked(self) -> Iterator[None]:
        try:
            held = self._context.lock(self._layout.lock).hold()
            with held:
                yield
        except StoreReadOnly:
            if self._repair:
                raise
            # A check can run without write access; a concurrent writer may then look like a leftover.
            yield

    def _look_at_unfinished(self) -> None:
        names = self._trash.unfinished(self._layout)
        done = dict(self._trash.finish(self._layout)) if self._repair else {}
        for name in names:
            path = self._context.files.name(os.path.join(self._layout.trash, name))
            detail = done.get(name) or because("removal_completed" if self._repair else "removal_pending")
            self._findings.mend("unfinished", path, detail, self._repair and not done.get(name))

    def _look_at_leftovers(self) -> None:
        files = self._context.files
        directories = [os.path.join(self._layout.records, name) for name in files.names(self._layout.records)]
        self._file.sweep([self._layout.directory, self._layout.trash, self._layout.quarantine, *directories])
        for directory in directories:
            names = set(files.names(directory))
            for name in sorted(names):
                ulid, _, rest = name.partition(".")
                orphan = is_ulid(ulid) and "." + rest in (SAMPLES, RECORD + PREVIOUS) and ulid + RECORD not in names
                if orphan:
                    self._file.quarantine("leftover", os.path.join(directory, name), because("without_record"))

    def _look_at_index(self) -> None:
        files, path = self._context.files, self._layout.index
        self._findings.checked += 1
        try:
            loaded = self._load_index(path)
        except StoreDamaged as error:
            self._rewrite_index()
            detail = "index_rebuilt" if self._repair else "index_rebuildable"
            why = drop_name(error.reason, files.name(path))
            self._findings.mend("damaged", files.name(path), because(detail, why=why), self._repair)
            return
        if loaded is None:
            if self._index.ids_on_disk():
                self._rewrite_index()
                self._findings.mend("missing", files.name(path), because("index_made"), self._repair)
            return
        if loaded.beyond:
            self._file.add_newer(path, refuse_newer(files.name(path), loaded.header.schema, loaded.header.tool))
            self._frozen = True
            return
        self._findings.read += 1

    def _load_index(self, path: str) -> Loaded | None:
        loaded = self._file.quiet.load(path, INDEX, fall_back=False, strict=True)
        if loaded is not None and not loaded.beyond:
            to_rows(loaded.tables)
        return loaded

    def _rewrite_index(self) -> None:
        if self._repair:
            self._index.rewrite()

    def _compare(self) -> None:
        files, may = self._context.files, self._repair and not self._frozen
        _, rows = self._index.rows()
        listed = {row.id: row for row in rows}
        there = set(self._index.ids_on_disk())
        put, drop = [], []

        def note(kind: str, name: str, detail: Reason) -> None:
            if self._frozen:
                self._findings.add(kind, name, detail)
            else:
                self._findings.mend(kind, name, detail, self._repair)

        for ulid in sorted(there | listed.keys()):
            name = files.name(self._layout.record(ulid)) if is_ulid(ulid) else files.name(self._layout.index)
            if ulid not in there:
                drop.append(ulid)
                run = self._file.run_of(self._layout.record(ulid)) if is_ulid(ulid) else ""
                note("missing", name, because("record_not_found", run=run, repaired=self._repair))
                continue
            row = self._row(ulid)
            if row is None:
                continue
            if ulid not in listed:
                note("unlisted", name, because("record_not_in_index"))
                put.append(row)
            elif not _agree(listed[ulid], row) and row.status != NEWER:
                note("stale", name, because("row_differs"))
                put.append(row)
        if may:
            gone = [one for one in there if not files.kind(self._layout.record(one))]
            with self._index.transaction():
                self._index.put(put)
                self._index.drop([*drop, *gone])
            for ulid in find_dirty(files, self._layout):
                clear_dirty(files, self._layout, ulid)

    def _row(self, ulid: str) -> BenchmarkRow | None:
        path = self._layout.record(ulid)
        row = self._records.peek_row(path)
        if row is None and ulid not in self._seen:
            # The head is not sound, so check the whole record.
            self._look_at_record(ulid)
        if row is None and self._context.files.kind(path):
            try:
                row = self._index.derive(ulid, self._records)
            except StoreError:
                # The check of the record has reported it.
                return None
        return row if row is not None and row.status != DAMAGED else None

    def _look_at_record(self, ulid: str) -> None:
        path = self._layout.record(ulid)
        self._seen.add(ulid)
        self._confirm(lambda: self._record.look(path))

    def _confirm(self, look: Callable[[], None]) -> None:
        """Run a check; repeat it under the lock before its problems count."""
        if not self._repair:
            before = self._findings.copy()
            look()
            if len(self._findings.problems) == len(before.problems):
                return
            # A writer may have moved the files between listing and reading.
            self._findings.reset(before)
        with self._locked():
            look()


def _agree(listed: BenchmarkRow, row: BenchmarkRow) -> bool:
    """Return whether a listed row equals its record's row; a row of an older version may lack facts."""
    return listed == row or (not row.facts and replace(listed, facts={}) == row)


def check_store(
    context: Context,
    benchmarks: Benchmarks,
    trash: Trash,
    *,
    read_data: bool,
    repair: bool,
    journals: Collection[str] = (),
) -> StoreReport:
    """Check every file; with `read_data` every byte. A repair adopts, drops or quarantines files."""
    findings = Findings(repair)
    if context.files.kind(context.files.root):
        DocumentCheck(FileCheck(context, findings, repair)).look(read_data)
    writable = context.writable_hosts() if repair else []
    for layout in context.hosts():
        file = FileCheck(context, findings, layout in writable, journals)
        HostCheck(file, benchmarks.index(layout), trash, layout).look(read_data)
    _recall_lost(context, trash, findings, journals)
    return findings.report(partial=not read_data)


def _recall_lost(context: Context, trash: Trash, findings: Findings, journals: Collection[str]) -> None:
    """Report quarantined records that their run's journal can save again; they no longer count as problems."""
    if not journals:
        return
    layouts = context.hosts()
    aside = {name.split(".")[0] for layout in layouts for name in context.files.names(layout.quarantine)}
    for ulid in sorted(aside.intersection(journals).difference(trash.ids())):
        is_reported = any(ulid in problem.path for problem in findings.problems)
        if not is_reported and not any(context.files.kind(layout.record(ulid)) for layout in layouts):
            context.notices.say(because("record_in_quarantine", run=ulid))


_FIRST = 4096


def migrate_store(context: Context, benchmarks: Benchmarks) -> StoreReport:
    """Rewrite older files and keep each original beside it; on any failure restore all of them."""
    findings = Findings()
    with ExitStack() as held:
        layouts = []
        for layout in sorted(context.writable_hosts(), key=lambda one: one.id):
            held.enter_context(context.lock(layout.lock).hold())
            layouts.append(layout)
        if context.files.kind(os.path.join(context.files.root, PROJECTS)):
            held.enter_context(context.lock(projects_lock(context.files.root)).hold())
        Migration(context, benchmarks, findings).carry_out(layouts)
    return findings.report()


class Migration:
    """One migration; it needs every lock held."""

    def __init__(self, context: Context, benchmarks: Benchmarks, findings: Findings) -> None:
        self._context = context
        self._benchmarks = benchmarks
        self._findings = findings
        self._records = RecordFiles(context.sealing)
        self._done: list[tuple[str, str]] = []
        """Rewritten files and their backups."""

    def carry_out(self, layouts: list[HostLayout]) -> None:
        """Migrate everything or nothing."""
        try:
            for layout in layouts:
                self._migrate_host(layout)
            for kind in (PROJECTS, VERSIONS):
                for path in self._older(os.path.join(self._context.files.root, kind)):
                    self._rewrite_document(path)
        except BaseException:
            for path, backup in reversed(self._done):
                self._put_back(path, backup)
            raise

    def _migrate_host(self, layout: HostLayout) -> None:
        names = self._context.files.names(layout.records)
        rows = []
        for directory in names:
            for path in self._older(os.path.join(layout.records, directory)):
                rows += self._rewrite_record(path)
        index_is_older = self._is_older(layout.index)
        if not rows and not index_is_older:
            return
        # A current index changes, too, and must be restored together with its records.
        if self._context.files.kind(layout.index):
            self._keep(layout.index, older=index_is_older)
        index = self._benchmarks.index(layout)
        with index.transaction():
            index.put(rows)
            index.rewrite()

    def _rewrite_record(self, path: str) -> list[BenchmarkRow]:
        record = self._records.read(path)
        if record is None:
            return []
        self._keep(path)
        return [self._records.write_metadata(path, record, record.metadata)]

    def _rewrite_document(self, path: str) -> None:
        loaded = self._context.sealing.load(path, DOCUMENT, fall_back=False)
        if loaded is not None:
            self._keep(path)
            self._context.sealing.write_tables(path, loaded.tables, loaded)

    def _keep(self, path: str, *, older: bool = True) -> None:
        self._done.append((path, self._context.sealing.back_up(path)))
        self._findings.migrated += older

    def _older(self, directory: str) -> list[str]:
        names = self._context.files.names(directory)
        paths = [os.path.join(directory, name) for name in names if ulid_in(name)]
        return [path for path in paths if self._is_older(path)]

    def _is_older(self, path: str) -> bool:
        beginning = self._context.files.read_beginning(path, _FIRST)
        if beginning is None:
            return False
        self._findings.checked += 1
        stated, _ = read_header(beginning[0])
        name = self._context.files.name(path)
        if stated is None:
            self._findings.add("damaged", name, because("header_unreadable"))
            return False
        schema = to_header(stated).schema
        if schema > NEWEST:
            self._findings.add("newer", name, because("left_to_newer"))
        return schema < SCHEMA

    def _put_back(self, path: str, backup: str) -> None:
        # A rename needs no space on a full disk. If even that fails, the file is intact in its new form.
        try:
            self._context.files.rename(backup, path)
            self._context.files.sync_directory(os.path.dirname(path))
        except StoreError as error:
            self._context.notices.say(error.reason)
