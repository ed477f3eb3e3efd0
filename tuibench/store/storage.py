"""TinyDB storage on a sealed file that can be derived from others: atomic, locked, and cached until it changes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any

from tinydb import TinyDB
from tinydb.storages import Storage
from tinydb.table import Table

from tuibench.core.errors import StoreDamaged, StoreError
from tuibench.store.atomic import Stamp
from tuibench.store.envelope import INDEX, Tables
from tuibench.store.lock import StoreLock
from tuibench.store.sealed import Loaded, Sealing

Check = Callable[[Loaded], None]
"""Raises StoreDamaged for tables that are none of this file."""
Encode = Callable[[Tables], dict[str, bytes]]
Recover = Callable[[StoreError | None], Tables]
"""Returns tables for a missing file (None), or for a damaged or newer one (its error)."""


class SealedStorage(Storage):
    """One file; each write is a transaction unless the caller opens a longer one."""

    def __init__(self, sealing: Sealing, path: str, lock: StoreLock, recover: Recover, check: Check, encode: Encode):
        self._sealing = sealing
        self._path = path
        self._lock = lock
        self._recover = recover
        self._check = check
        self._encode = encode
        self._cache: tuple[Stamp | None, Tables, Loaded | None] | None = None
        self._pending: Tables | None = None
        self._old: Loaded | None = None
        self._changed = False
        self._before: Stamp | None = None

    def read(self) -> dict[str, dict[str, Any]] | None:
        """Return the tables, inside this thread's transaction the pending ones; readers must not change them."""
        if self._lock.mine and self._pending is not None:
            return self._pending
        return self.snapshot()[1]

    def snapshot(self) -> tuple[Stamp | None, Tables]:
        """Return the tables with the stamp of their file."""
        stamp = self._sealing.files.stamp(self._path)
        cache = self._cache
        if cache is None or cache[0] != stamp:
            cache = self._cache = self._load()
        return cache[0], cache[1]

    def write(self, data: dict[str, dict[str, Any]]) -> None:
        """Replace the tables; they become durable when the transaction ends."""
        with self.transaction():
            self._pending = data
            self._changed = True

    @contextmanager
    def transaction(self) -> Iterator[bool]:
        """Write several changes as one generation, or none on an error; yield True in the outermost transaction."""
        with self._lock.hold():
            if self._pending is not None:
                yield False
                return
            try:
                self._begin()
                yield True
                self._end()
            finally:
                self._pending = self._old = None
                self._changed = False

    def before(self) -> Stamp | None:
        """Return the file's stamp at the start of this thread's transaction, or else of the last one."""
        return self._before

    def stamp(self) -> Stamp | None:
        """Return the stamp of the cached file, or None."""
        cache = self._cache
        return cache[0] if cache is not None else None

    def _begin(self) -> None:
        # TinyDB changes documents in place: a cache shared with readers or kept after an error would differ from the
        # disk.
        self.snapshot()
        cache, self._cache = self._cache, None
        if cache is None:
            cache = self._load()
        self._before, self._pending, self._old = cache
        if self._old is not None:
            self._sealing.refuse_newer(self._path, self._old)

    def _end(self) -> None:
        tables = self._pending if self._pending is not None else {}
        if not self._changed:
            self._cache = self._before, tables, self._old
            return
        header, stamp = self._sealing.write(self._path, self._encode(tables), self._old)
        self._cache = stamp, tables, Loaded({}, header, stamp, True)

    def _load(self) -> tuple[Stamp | None, Tables, Loaded | None]:
        loaded = None
        try:
            loaded = self._sealing.load(self._path, INDEX, fall_back=False, strict=True)
            if loaded is not None:
                self._check(loaded)
        except StoreDamaged as damage:
            # A newer version's file stays read-only, even if its rows are unusable.
            if loaded is not None and loaded.beyond:
                return loaded.stamp, self._recover(self._sealing.misfit(self._path, loaded, damage)), loaded
            stamp = self._sealing.files.stamp(self._path)
            return stamp, self._recover(damage), self._sealing.stand_in(self._path, stamp)
        if loaded is None:
            return None, self._recover(None), None
        return loaded.stamp, loaded.tables, loaded


class LockedTable(Table):
    """Makes every change a storage transaction, which takes the lock and reads other writers' changes first."""

    default_query_cache_capacity = 0


def _lock(name: str) -> None:
    """Let a method of TinyDB's table run in a transaction; another writer may have taken the next id."""
    method = getattr(Table, name)

    @wraps(method)
    def change(table: LockedTable, *args: Any, **options: Any) -> Any:
        storage = table.storage
        if not isinstance(storage, SealedStorage):
            raise TypeError("a LockedTable takes a SealedStorage")
        with storage.transaction():
            table._next_id = None
            return method(table, *args, **options)

    setattr(LockedTable, name, change)


for _name in ("insert", "insert_multiple", "update", "update_multiple", "upsert", "remove", "truncate"):
    _lock(_name)


class SealedDB(TinyDB):
    """TinyDB with LockedTable tables."""

    table_class = LockedTable
