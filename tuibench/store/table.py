"""TinyDB table for a file with several writers: no cached queries, no reused ids."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from tinydb import TinyDB
from tinydb.queries import QueryLike
from tinydb.table import Table

from tuibench.store.storage import SealedStorage


class LockedTable(Table):
    """Makes every change a storage transaction, which takes the lock and reads other writers' changes first."""

    default_query_cache_capacity = 0

    def _fresh(self) -> SealedStorage:
        storage = self.storage
        if not isinstance(storage, SealedStorage):
            raise TypeError("a LockedTable takes a SealedStorage")
        return storage

    def insert(self, document: Mapping[str, Any]) -> int:
        """Call TinyDB's method under the lock."""
        with self._fresh().transaction():
            self._next_id = None
            return super().insert(document)

    def insert_multiple(self, documents: Iterable[Mapping[str, Any]]) -> list[int]:
        """Call TinyDB's method under the lock."""
        with self._fresh().transaction():
            self._next_id = None
            return super().insert_multiple(documents)

    def update(
        self,
        fields: Mapping[Any, Any] | Callable[[Any], None],
        cond: QueryLike | None = None,
        doc_ids: Iterable[int] | None = None,
    ) -> list[int]:
        """Call TinyDB's method under the lock."""
        with self._fresh().transaction():
            return super().update(fields, cond, doc_ids)

    def update_multiple(
        self, updates: Iterable[tuple[Mapping[Any, Any] | Callable[[Any], None], QueryLike]]
    ) -> list[int]:
        """Call TinyDB's method under the lock."""
        with self._fresh().transaction():
            return super().update_multiple(updates)

    def upsert(self, document: Mapping[str, Any], cond: QueryLike | None = None) -> list[int]:
        """Call TinyDB's method under the lock."""
        with self._fresh().transaction():
            self._next_id = None
            return super().upsert(document, cond)

    def remove(self, cond: QueryLike | None = None, doc_ids: Iterable[int] | None = None) -> list[int]:
        """Call TinyDB's method under the lock."""
        with self._fresh().transaction():
            return super().remove(cond, doc_ids)

    def truncate(self) -> None:
        """Call TinyDB's method under the lock."""
        with self._fresh().transaction():
            super().truncate()


class SealedDB(TinyDB):
    """TinyDB with LockedTable tables."""

    table_class = LockedTable
