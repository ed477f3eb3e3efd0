"""Derives the headline facts of rows written by an older version from their records, a few per call."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from tuibench.core.card import DAMAGED, BenchmarkRow
from tuibench.core.errors import StoreDamaged, StoreError, StoreNewer
from tuibench.core.trash import NEWER
from tuibench.store.index import Index
from tuibench.store.layout import HostLayout
from tuibench.store.record_file import RecordFiles
from tuibench.store.sealed import Sealing

MOST = 30
"""Largest number of records read per call."""
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

    def fill(self, parts: Sequence[Part]) -> list[Sequence[BenchmarkRow]]:
        """Return the rows of each host with all known facts; the newest rows are derived first."""
        lacking = [(row.id, layout) for layout, rows in parts for row in rows if _lacks(row)]
        unread = sorted((one for one in lacking if one[0] not in self._known), key=lambda one: one[0], reverse=True)
        for ulid, layout in unread[:MOST]:
            self._derive(ulid, layout.record(ulid))
        self.pending = len(unread) > MOST
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

    def _derive(self, ulid: str, path: str) -> None:
        self.reads += 1
        try:
            found = self._records.get(path)
        except (StoreDamaged, StoreNewer):
            # An unreadable record keeps its sentence; opening it reports the cause.
            self._known[ulid] = {}
        except StoreError:
            self._refused[ulid] = self._refused.get(ulid, 0) + 1
            if self._refused[ulid] >= TRIES:
                self._known[ulid] = {}
        else:
            self._known[ulid] = found.row.facts if found is not None else {}


def _lacks(row: BenchmarkRow) -> bool:
    return not row.facts and row.status not in (DAMAGED, NEWER)
