"""Checks a record and its samples against their checksums, in the directory or the trash."""

from __future__ import annotations

import os
import zlib

from tuibench.core.errors import StoreError
from tuibench.store.file_check import FileCheck, State
from tuibench.store.layout import SAMPLES
from tuibench.store.quarantine import put_aside
from tuibench.store.record_file import RecordFiles
from tuibench.store.sealed import Loaded


class RecordCheck:
    """Checks every byte of a benchmark."""

    def __init__(self, file: FileCheck) -> None:
        self._file = file
        self._records = RecordFiles(file.quiet)

    def look(self, path: str) -> None:
        """Check a record, its previous generation and its samples; quarantine the samples of a lost record."""
        samples = path.removesuffix(".json") + SAMPLES
        found = self._file.look(path, self._load, self._accept)
        if found is not State.GONE:
            self._file.look_at_previous(path)
        if found is State.USABLE:
            self._look_at_samples(samples)
        elif found is State.GONE and self._file.repair and self._file.context.files.kind(samples):
            put_aside(self._file.context, samples)

    def _load(self, path: str) -> Loaded | None:
        return self._records.read_strictly(path)

    def _accept(self, path: str) -> None:
        record = self._records.read(path)
        if record is not None:
            self._records.write_metadata(path, record, record.metadata)

    def _look_at_samples(self, directory: str) -> None:
        files, findings = self._file.context.files, self._file.findings
        for name in files.names(directory):
            path = os.path.join(directory, name)
            findings.checked += 1
            try:
                found = files.read(path)
                if found is not None:
                    zlib.decompress(found[0])
                findings.read += 1
            except zlib.error:
                kept = f"; kept as {put_aside(self._file.context, path)}" if self._file.repair else ""
                findings.mend("damaged", files.name(path), f"the samples cannot be unpacked{kept}", self._file.repair)
            except StoreError as error:
                findings.add("damaged", files.name(path), error.message)
