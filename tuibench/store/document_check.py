"""Checks the projects, versions and salt, which all hosts share."""

from __future__ import annotations

import os

from tuibench.core.errors import StoreDamaged
from tuibench.store.context import Context
from tuibench.store.documents import projects_lock
from tuibench.store.file_check import FileCheck, State
from tuibench.store.finding import Findings
from tuibench.store.layout import PROJECTS, QUARANTINE, RECORD, VERSIONS, is_ulid
from tuibench.store.migration import DOCUMENT
from tuibench.store.sealed import Loaded
from tuibench.store.sweep import Sweeper
from tuibench.store.trouble import damaged


class DocumentCheck:
    """Checks everything below the root that belongs to no host."""

    def __init__(self, context: Context, findings: Findings, repair: bool) -> None:
        self._context = context
        self._findings = findings
        self._repair = repair
        self._file = FileCheck(context, findings, repair)

    def look(self, read_data: bool) -> None:
        """Check every document; with `read_data` also its previous generation."""
        self._look_at_salt()
        if self._repair and self._context.files.kind(os.path.join(self._context.files.root, PROJECTS)):
            with self._context.lock(projects_lock(self._context.files.root)).hold():
                self._look_at_documents(read_data)
        else:
            self._look_at_documents(read_data)

    def _look_at_documents(self, read_data: bool) -> None:
        files = self._context.files
        for kind in (PROJECTS, VERSIONS):
            directory = os.path.join(files.root, kind)
            for name in files.names(directory):
                if name.endswith(RECORD) and is_ulid(name.removesuffix(RECORD)):
                    path = os.path.join(directory, name)
                    found = self._file.look(path, self._load, self._accept)
                    if found is not State.GONE and read_data:
                        self._file.look_at_previous(path)
        for directory in (files.root, *(os.path.join(files.root, kind) for kind in (PROJECTS, VERSIONS, QUARANTINE))):
            for path in Sweeper(self._context).find(directory):
                if self._repair:
                    files.remove(path)
                self._findings.mend("leftover", files.name(path), "of a writer that died", self._repair)

    def _look_at_salt(self) -> None:
        self._findings.checked += 1
        try:
            self._context.host_id(False)
        except StoreDamaged as error:
            self._findings.add("damaged", "salt", error.message)

    def _load(self, path: str) -> Loaded | None:
        loaded = self._file.quiet.load(path, DOCUMENT, fall_back=False)
        kind = os.path.basename(os.path.dirname(path))
        if loaded is not None and "1" not in loaded.tables.get(kind, {}):
            damage = damaged(self._context.files.name(path), f"it holds none of the {kind}")
            raise self._file.quiet.misfit(path, loaded, damage)
        return loaded

    def _accept(self, path: str) -> None:
        loaded = self._load(path)
        if loaded is not None:
            self._file.quiet.write_tables(path, loaded.tables, loaded)
