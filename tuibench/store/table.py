"""TinyDB's table for a file that others write too: no answer is remembered, no number is given out twice."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from tinydb import TinyDB
from tinydb.queries import QueryLike
from tinydb.table import Table

from tuibench.store.storage import SealedStorage


class LockedTable(Table):
    """Every change is a transaction of the storage, which takes the lock and reads what others wrote before."""

    default_query_cache_capacity = 0

    def _fresh(self) -> SealedStorage:
        storage = self.storage
        if not isinstance(storage, SealedStorage):
            raise TypeError("a LockedTable takes a SealedStorage")
        return storage

    def insert(self, document: Mapping[str, Any]) -> int:
        """As TinyDB's, under the lock."""
        with self._fresh().transaction():
            self._next_id = None
            return super().insert(document)

    def insert_multiple(self, documents: Iterable[Mapping[str, Any]]) -> list[int]:
        """As TinyDB's, under the lock."""
        with self._fresh().transaction():
            self._next_id = None
            return super().insert_multiple(documents)

    def update(
        self,
        fields: Mapping[Any, Any] | Callable[[Any], None],
        cond: QueryLike | None = None,
        doc_ids: Iterable[int] | None = None,
    ) -> list[int]:
        """As TinyDB's, under the lock."""
        with self._fresh().transaction():
            return super().update(fields, cond, doc_ids)

    def update_multiple(
        self, updates: Iterable[tuple[Mapping[Any, Any] | Callable[[Any], None], QueryLike]]
    ) -> list[int]:
        """As TinyDB's, under the lock."""
        with self._fresh().transaction():
            return super().update_multiple(updates)

    def upsert(self, document: Mapping[str, Any], cond: QueryLike | None = None) -> list[int]:
        """As TinyDB's, under the lock."""
        with self._fresh().transaction():
            self._next_id = None
            return super().upsert(document, cond)

    def remove(self, cond: QueryLike | None = None, doc_ids: Iterable[int] | None = None) -> list[int]:
        """As TinyDB's, under the lock."""
        with self._fresh().transaction():
            return super().remove(cond, doc_ids)

    def truncate(self) -> None:
        """As TinyDB's, under the lock."""
        with self._fresh().transaction():
            super().truncate()


class SealedDB(TinyDB):
    """TinyDB with tables that others write too."""

    table_class = LockedTable
