"""Rewrites every file of an older schema in the current one: all of them, or none."""

from __future__ import annotations

import os
from contextlib import ExitStack

from tuibench.core.errors import StoreError
from tuibench.core.schema import NEWEST
from tuibench.core.stored import BenchmarkRow, StoreReport
from tuibench.store.benchmarks import Benchmarks
from tuibench.store.context import Context
from tuibench.store.documents import projects_lock
from tuibench.store.envelope import DOCUMENT, SCHEMA, read_header, to_header
from tuibench.store.file_check import Findings
from tuibench.store.layout import PROJECTS, RECORD, VERSIONS, HostLayout, is_ulid
from tuibench.store.record import RecordFiles

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
        paths = [os.path.join(directory, n) for n in names if n.endswith(RECORD) and is_ulid(n.removesuffix(RECORD))]
        return [path for path in paths if self._is_older(path)]

    def _is_older(self, path: str) -> bool:
        beginning = self._context.files.read_beginning(path, _FIRST)
        if beginning is None:
            return False
        self._findings.checked += 1
        stated, _ = read_header(beginning[0])
        name = self._context.files.name(path)
        if stated is None:
            self._findings.add("damaged", name, "what it says of itself cannot be read; `store check` says more")
            return False
        schema = to_header(stated).schema
        if schema > NEWEST:
            self._findings.add("newer", name, "written by a newer version: it is left as it is")
        return schema < SCHEMA

    def _put_back(self, path: str, backup: str) -> None:
        # A rename needs no space on a full disk. If even that fails, the file is intact in its new form.
        try:
            self._context.files.rename(backup, path)
            self._context.files.sync_directory(os.path.dirname(path))
        except StoreError as error:
            self._context.notices.say(error.message)
