"""One file of the store in its envelope: read with fallback and migration, written as a new generation."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import replace

from tuibench.core.errors import StoreDamaged, StoreError
from tuibench.core.reason import Reason, because
from tuibench.core.schema import NEWEST
from tuibench.core.value import dataclass
from tuibench.store.atomic import HEAD, PREVIOUS, Stamp
from tuibench.store.disk import cannot_show, damaged, refuse_newer
from tuibench.store.envelope import (
    RECORD,
    SCHEMA,
    Header,
    Opened,
    Tables,
    Unreadable,
    encode_table,
    migrate_tables,
    read_header,
    seal,
    to_header,
    unseal,
)
from tuibench.store.files import Files

Say = Callable[[Reason], None]

QUARANTINE = "quarantine"
"""Directory for damaged files, in each host directory and in the root."""


@dataclass(frozen=True, slots=True)
class Loaded:
    """A file as found on disk, in the current schema."""

    tables: Tables
    header: Header
    stamp: Stamp
    sound: bool
    from_previous: bool = False
    raw: bytes = b""
    """The whole file if it is sound and a record: its result is checked and copied as bytes."""

    @property
    def newer(self) -> bool:
        """Return whether the file is read-only because of a newer schema."""
        return self.header.schema > NEWEST

    @property
    def beyond(self) -> bool:
        """Return whether the file is sound and newer: missing data in it is no damage."""
        return self.newer and self.sound

    @property
    def older(self) -> bool:
        """Return whether the file on disk has an older schema."""
        return self.header.schema < SCHEMA


@dataclass(frozen=True, slots=True)
class Sealing:
    """Reads and writes sealed files."""

    files: Files
    say: Say
    tool: str
    """The version of tuibench that writes."""

    def load(self, path: str, kind: str, *, fall_back: bool = True, strict: bool = False) -> Loaded | None:
        """Load a file, or its previous version if it is unreadable; raise StoreDamaged if both are.

        With `strict` a hand edit is damage, too: for files derived from others.
        """
        found = self.files.read(path)
        if found is None:
            return None
        data, stamp = found
        try:
            return self._present(path, kind, data, stamp, strict=strict)
        except Unreadable as error:
            previous = self._load_previous(path, kind, stamp) if fall_back else None
            name = self.files.name(path)
            if previous is None:
                raise damaged(name, error.reason) from error
            self.say(because("previous_used", name=name, why=error.reason))
            return previous

    def _load_previous(self, path: str, kind: str, stamp: Stamp) -> Loaded | None:
        found = self.files.read(path + PREVIOUS)
        if found is None:
            return None
        try:
            loaded = self._present(path + PREVIOUS, kind, *found)
        except Unreadable:
            return None
        return replace(loaded, stamp=stamp, from_previous=True)

    def _present(self, path: str, kind: str, data: bytes, stamp: Stamp, *, strict: bool = False) -> Loaded:
        opened: Opened = unseal(data)
        if strict and not opened.sound:
            raise Unreadable("not_as_written")
        name = self.files.name(path)
        header = opened.header
        if not opened.sound:
            self.say(because("edited_outside", name=name))
        if header.schema > NEWEST:
            self.say(refuse_newer(name, header.schema, header.tool).reason)
        tables = migrate_tables(kind, opened.tables, header.schema)
        raw = data if kind == RECORD and opened.sound else b""
        return Loaded(tables, header, stamp, opened.sound, raw=raw)

    def write(
        self,
        path: str,
        parts: Mapping[str, bytes],
        old: Loaded | None,
        marks: Mapping[str, object] | None = None,
        schema: int = SCHEMA,
    ) -> tuple[Header, Stamp]:
        """Write the generation after `old`, which stays beside it; back up hand edits and older schemas for good."""
        if old is not None:
            self._save_old(path, old)
        generation = (old.header.generation if old else 0) + 1
        header = Header(generation, schema, self.tool, dict(marks or {}))
        # A damaged or edited file is in quarantine: it must not replace the sound previous version.
        keep = old is not None and old.sound and not old.from_previous
        return header, self.files.replace(path, seal(parts, header), keep=keep)

    def write_tables(self, path: str, tables: Tables, old: Loaded | None) -> tuple[Header, Stamp]:
        """Encode the tables and call `write`."""
        return self.write(path, {name: encode_table(table) for name, table in tables.items()}, old)

    def _save_old(self, path: str, old: Loaded) -> None:
        self.refuse_newer(path, old)
        if old.older:
            self.back_up(path)
        if not old.sound or old.from_previous:
            self.set_aside(path, f"g{old.header.generation}-{old.stamp.mtime_ns:x}")

    def stand_in(self, path: str, stamp: Stamp | None) -> Loaded | None:
        """Return a placeholder for a damaged file that only continues its generation number."""
        if stamp is None:
            return None
        numbers = [0]
        for one in (path, path + PREVIOUS):
            found = self.files.read_beginning(one, HEAD)
            stated, _ = read_header(found[0]) if found else (None, 0)
            numbers.append(to_header(stated).generation if stated else 0)
        return Loaded({}, Header(max(numbers)), stamp, sound=False, from_previous=True)

    def refuse_newer(self, path: str, old: Loaded) -> None:
        """Raise StoreReadOnly if a file has a newer schema."""
        if old.newer:
            raise refuse_newer(self.files.name(path), old.header.schema, old.header.tool)

    def misfit(self, path: str, loaded: Loaded, damage: StoreDamaged) -> StoreError:
        """Return the error for unexpected content: `damage`, unless a newer version wrote it."""
        if loaded.beyond:
            return cannot_show(self.files.name(path), loaded.header.schema, loaded.header.tool)
        return damage

    def back_up(self, path: str) -> str:
        """Keep a file of an older schema under a separate name."""
        backup = f"{path}.pre-v{SCHEMA}"
        self.files.link(path, backup)
        self.files.sync_directory(os.path.dirname(path))
        return backup

    def set_aside(self, path: str, mark: str) -> str:
        """Keep a second link of a file in its quarantine."""
        directory = self.quarantine(path)
        self.files.make_directory(directory)
        kept = os.path.join(directory, f"{os.path.basename(path)}.{mark}")
        self.files.link(path, kept)
        self.files.sync_directory(directory)
        return kept

    def quarantine(self, path: str) -> str:
        """Return the directory for damaged copies of a file."""
        return os.path.join(self.part(path), QUARANTINE)

    def part(self, path: str) -> str:
        """Return the host directory of a file, or the root for shared files."""
        steps = self.files.name(path).split(os.sep)
        return os.path.join(self.files.root, *steps[:2]) if steps[0] == "hosts" else self.files.root
