"""Checks the files in a host's trash against their checksums."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial

from tuibench.core.errors import StoreError, StoreNewer
from tuibench.store.file_check import FileCheck, State
from tuibench.store.layout import PROJECTS, RECORD, VERSIONS, HostLayout, is_ulid
from tuibench.store.manifest import NAME, load_manifest, read_manifest
from tuibench.store.migration import DOCUMENT
from tuibench.store.quarantine import put_aside
from tuibench.store.record_check import RecordCheck
from tuibench.store.sealed import Loaded


class TrashCheck:
    """Checks every byte of every finished removal."""

    def __init__(self, file: FileCheck, confirm: Callable[[Callable[[], None]], None]) -> None:
        """`confirm` runs the check of one removal, and repeats it under the host's lock before it reports a problem."""
        self._file = file
        self._confirm = confirm
        self._record = RecordCheck(file)

    def look(self, layout: HostLayout) -> None:
        """Check each removal."""
        for name in self._file.context.files.names(layout.trash):
            if is_ulid(name):
                self._confirm(partial(self._look_at_removal, os.path.join(layout.trash, name)))

    def _look_at_removal(self, directory: str) -> None:
        files = self._file.context.files
        if not files.kind(directory):
            return  # restored or deleted since it was listed
        manifest = os.path.join(directory, NAME)
        try:
            missing = read_manifest(self._file.quiet, directory) is None
            why = "it is not there"
        except StoreNewer:
            # Only the newer version knows the layout; the files can still be checked.
            missing, why = False, ""
        except StoreError as error:
            missing, why = True, error.message
        if missing:
            # Without a manifest the origins are unknown, so quarantine the whole removal.
            kept = (
                f"; the whole removal is kept as {put_aside(self._file.context, directory)}"
                if self._file.repair
                else ""
            )
            self._file.findings.checked += 1
            self._file.findings.mend("damaged", files.name(manifest), why + kept, self._file.repair)
            return
        self._file.look(manifest, self._load, self._accept)
        for name in files.names(directory):
            if not name.endswith(RECORD) or name == NAME:
                continue
            path = os.path.join(directory, name)
            if name.startswith((PROJECTS, VERSIONS)):
                if self._file.look(path, self._load, self._accept) is not State.GONE:
                    self._file.look_at_previous(path)
            else:
                self._record.look(path)

    def _load(self, path: str) -> Loaded | None:
        if os.path.basename(path) == NAME:
            return load_manifest(self._file.quiet, os.path.dirname(path))
        return self._file.quiet.load(path, DOCUMENT, fall_back=False)

    def _accept(self, path: str) -> None:
        loaded = self._load(path)
        if loaded is not None:
            self._file.quiet.write_tables(path, loaded.tables, loaded)
