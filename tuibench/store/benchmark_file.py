"""The file of one benchmark: its result, written once under a sha256, and its metadata, rewritten on each edit.

The data for lists comes first under its own checksum, so that an index can be rebuilt from the heads of files.
"""

from __future__ import annotations

import hashlib
import json
import os
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass, replace
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from tuibench.core.errors import StoreDamaged, StoreError
from tuibench.core.headline import to_facts
from tuibench.core.reason import because
from tuibench.core.record import from_plain, pause_collector, to_compact, to_plain, written
from tuibench.core.schema import NEWEST, REASONS
from tuibench.core.spec import KINDS
from tuibench.core.stored import DAMAGED, NEWER, BenchmarkRow, Metadata, StoredBenchmark
from tuibench.core.value import dataclass
from tuibench.store.atomic import PREVIOUS
from tuibench.store.context import RECORD as FILE
from tuibench.store.disk import cannot_show, damaged
from tuibench.store.envelope import (
    RECORD,
    SCHEMA,
    Header,
    Unreadable,
    encode_name,
    encode_table,
    read_header,
    to_header,
)
from tuibench.store.sealed import Loaded, Sealing

if TYPE_CHECKING:
    from tuibench.core.result import RunResult


_NAMES = tuple(field.name for field in fields(BenchmarkRow))
_NUMBERS = frozenset({"cells", "measured", "card_generation"})
_FACTS = "facts"
_TYPES = tuple(int if name in _NUMBERS else dict if name == _FACTS else str for name in _NAMES)
_ALL = itemgetter(*_NAMES)
_KINDS = dict(zip(_NAMES, _TYPES, strict=True))
_LATER: dict[str, Any] = {"kind": "", _FACTS: {}, "headline": ""}
"""Optional fields of a row, with their defaults."""


class InvalidRow(TypeError):
    """A row that lacks a column, or has a value of another type; the reason says which."""

    def __init__(self, code: str, **fields: Any) -> None:
        super().__init__(code)
        self.reason = because(code, **fields)


def summarize(result: RunResult) -> dict[str, Any]:
    """Return the part of a row that comes from the result; the rest comes from the metadata."""
    from tuibench.core.result_headline import headline_of  # lazy: rows do not need the types of results

    headline = headline_of(result)
    asked = [cell.asked for cell in result.cells]
    letters = [cell.grade.letter for cell in result.cells if cell.grade is not None and cell.grade.letter]
    measured = result.profile.performance if result.profile is not None else None
    if measured is not None and measured.grade is not None and measured.grade.letter:
        letters.append(measured.grade.letter)
    batches = [cell.asked.batch if cell.asked.batch is not None else _used_batch(cell.used) for cell in result.cells]
    if result.profile is not None:
        batches.append(result.profile.costs.batch)
    return {
        "id": result.id,
        "host": result.host,
        "started_utc": result.started_utc,
        "status": result.status,
        "models": _join(os.path.basename(os.path.normpath(source.asked)) for source in result.spec.models),
        "model_sha256": result.models[0].sha256 if result.models else "",
        "engines": _join(one.engine for one in asked) or _join(result.spec.engines),
        "scenarios": _join(one.scenario for one in asked) or _join(result.spec.scenarios),
        "cores": _join(sorted({one.cores for one in asked})) or _join(result.spec.cores),
        "batches": _join(sorted({batch for batch in batches if batch is not None})) or _join(result.spec.batches),
        "cells": len(result.cells),
        "measured": sum(cell.status in ("ok", "partial") for cell in result.cells),
        "grade": headline.grade or max(letters, default=""),
        "foreign": result.foreign,
        "kind": result.spec.profile.kind if result.spec.profile is not None else "",
        # Never empty: empty facts mean that they are not derived yet.
        _FACTS: to_facts(headline) or {"status": result.status},
    }


def join_metadata(summary: Mapping[str, Any], metadata: Metadata, generation: int) -> BenchmarkRow:
    """Return the whole row; raise InvalidRow for an invalid summary. Fields of newer versions are dropped."""
    own = {
        "name": metadata.name,
        "note": metadata.note,
        "project": metadata.project or "",
        "rerun_of": metadata.rerun_of or "",
        "card_generation": generation,
    }
    return to_row({**summary, **own})


def damaged_row(ulid: str) -> BenchmarkRow:
    """Return the row for a record that cannot be read."""
    return to_row({**{name: kind() for name, kind in zip(_NAMES, _TYPES, strict=True)}, "id": ulid, "status": DAMAGED})


def foreign_row(ulid: str, sources: Iterable[Mapping[str, Any]]) -> BenchmarkRow:
    """Return the row for a record of a newer version, with the fields that this version knows."""
    known = {name: value for one in sources for name, value in one.items() if type(value) is _KINDS.get(name)}
    return to_row({**to_document(damaged_row(ulid)), **known, "id": ulid, "status": NEWER, _FACTS: {}})


def to_document(row: BenchmarkRow) -> dict[str, Any]:
    """Return a row as stored in the index."""
    return {name: getattr(row, name) for name in _NAMES}


def to_row(document: Mapping[str, Any]) -> BenchmarkRow:
    """Return a row of the index; raise InvalidRow if it is invalid. Unknown fields are dropped."""
    try:
        values = _ALL(document)
    except KeyError:
        values = _older(document)
    if tuple(map(type, values)) != _TYPES:
        wrong = next(name for name, value, kind in zip(_NAMES, values, _TYPES, strict=True) if type(value) is not kind)
        raise InvalidRow("column_invalid", column=wrong, is_number=wrong in _NUMBERS)
    return BenchmarkRow(*values)


def _older(document: Mapping[str, Any]) -> tuple[Any, ...]:
    """Return the values of a row that was written before some of its fields existed."""
    try:
        return tuple(_ALL({**_LATER, **document}))
    except KeyError as error:
        raise InvalidRow("column_missing", column=str(error.args[0])) from error


def _used_batch(used: Any) -> int | None:
    return used.batch if used is not None else None


def _join(values: Iterable[object]) -> str:
    return ",".join(dict.fromkeys(str(value) for value in values))


SUMMARY, METADATA, RESULT = "summary", "card", "result"
KIND = "kind"
_RECORD_FILE_KINDS = KINDS | {""}
_FIRST = 8192
_RESULT = b", " + encode_name(RESULT) + b": "
_SHA, _HEAD, _HEAD_CRC = "result_sha256", "head", "head_crc32"


@dataclass(frozen=True, slots=True)
class Record:
    """A record in memory, with its result as raw bytes: new metadata leaves those unchanged."""

    loaded: Loaded
    summary: dict[str, Any]
    metadata: Metadata
    result: bytes

    @property
    def generation(self) -> int:
        """Return the metadata's generation; a result has only one."""
        return self.loaded.header.generation

    @property
    def row(self) -> BenchmarkRow:
        """Return the row of this record."""
        return join_metadata(self.summary, self.metadata, self.generation)


@dataclass(frozen=True, slots=True)
class RecordFiles:
    """Reads and writes the files of benchmarks."""

    sealing: Sealing

    def write_new(self, path: str, result: RunResult, metadata: Metadata) -> BenchmarkRow:
        """Write a record for the first time."""
        with pause_collector():
            plain = _shallow(result) | {"profile": to_compact(result.profile)}
            encoded = json.dumps({"1": plain}, default=_shallow).encode("ascii")
        summary = summarize(result)
        header = self._write(path, summary, metadata, encoded, None)
        return join_metadata(summary, metadata, header.generation)

    def write_metadata(self, path: str, record: Record, metadata: Metadata) -> BenchmarkRow:
        """Write new metadata before the same result."""
        header = self._write(path, record.summary, metadata, record.result, record.loaded)
        return join_metadata(record.summary, metadata, header.generation)

    def _write(
        self, path: str, summary: Mapping[str, Any], metadata: Metadata, result: bytes, old: Loaded | None
    ) -> Header:
        parts = {
            SUMMARY: encode_table({"1": dict(summary)}),
            METADATA: encode_table({"1": to_plain(metadata)}),
            RESULT: result,
        }
        head = _join_head(parts[SUMMARY], parts[METADATA])
        generation = (old.header.generation if old else 0) + 1
        marks = {
            _SHA: hashlib.sha256(result).hexdigest(),
            _HEAD: len(head),
            _HEAD_CRC: _head_crc(generation, head),
        }
        header, _ = self.sealing.write(path, parts, old, marks, _form(summary, old))
        return header

    def read(self, path: str) -> Record | None:
        """Return a record with an intact result; raise StoreDamaged if neither it nor its predecessor has one."""
        try:
            return self._read(path)
        except StoreDamaged as error:
            # A check of the store gives the details and the path.
            raise StoreDamaged("record_damaged", id=os.path.basename(path).removesuffix(FILE)) from error

    def _read(self, path: str) -> Record | None:
        loaded = self.sealing.load(path, RECORD)
        if loaded is None:
            return None
        try:
            return self._check(path, loaded)
        except (Unreadable, InvalidRow) as error:
            if loaded.beyond:
                raise self._damage(path, error, loaded) from error
            found = None if loaded.from_previous else self.sealing.load(path + PREVIOUS, RECORD, fall_back=False)
            name = self.sealing.files.name(path)
            if found is not None:
                try:
                    record = self._check(path, found)
                except (Unreadable, InvalidRow):
                    record = None
                if record is not None:
                    self.sealing.say(because("previous_used", name=name, why=error.reason))
                    return record
            raise self._damage(path, error, loaded) from error

    def read_strictly(self, path: str) -> Loaded | None:
        """Load a record without falling back; raise StoreDamaged if its result or metadata is invalid."""
        loaded = self.sealing.load(path, RECORD, fall_back=False)
        if loaded is None:
            return None
        try:
            self._check(path, loaded)
        except (Unreadable, InvalidRow) as error:
            raise self._damage(path, error, loaded) from error
        return loaded

    def get(self, path: str) -> StoredBenchmark | None:
        """Return a whole benchmark."""
        record = self.read(path)
        if record is None:
            return None
        result = self._decode(path, record)
        return StoredBenchmark(with_facts(record.row, result), record.metadata, result)

    def read_facts(self, path: str) -> dict[str, Any]:
        """Return the facts of a record's row; empty if there is no record."""
        record = self.read(path)
        if record is None:
            return {}
        if record.row.facts:
            return record.row.facts
        # Facts are made of the estimates of cells; executions with their series are nine tenths of a result.
        cells = record.loaded.tables[RESULT]["1"].get("cells")
        for cell in cells if isinstance(cells, list) else ():
            cell["executions"] = ()
        facts: dict[str, Any] = summarize(self._decode(path, record))["facts"]
        return facts

    def _decode(self, path: str, record: Record) -> RunResult:
        """Return the result; raise StoreNewer or StoreDamaged if this version cannot read it."""
        if record.summary.get(KIND, "") not in _RECORD_FILE_KINDS:
            # An unknown kind must not be shown as an empty benchmark.
            header = record.loaded.header
            raise cannot_show(self.sealing.files.name(path), header.schema, header.tool)
        try:
            return _to_result(record.loaded.tables[RESULT]["1"])
        except (TypeError, ValueError, KeyError, AttributeError) as error:
            damage = StoreDamaged("record_form_unknown", name=self.sealing.files.name(path))
            raise self.sealing.misfit(path, record.loaded, damage) from error

    def read_row(self, path: str) -> BenchmarkRow:
        """Return a record's row, from its head alone if sound; raise StoreDamaged or FileNotFoundError."""
        row = self.peek_row(path)
        if row is not None:
            return row
        record = self.read(path)
        if record is None:
            raise FileNotFoundError(path)
        return record.row

    def read_foreign(self, path: str) -> tuple[dict[str, Any], ...]:
        """Return the summary and metadata in a newer version's record, whatever they contain."""
        loaded = self.sealing.load(path, RECORD, fall_back=False)
        tables = loaded.tables if loaded is not None and loaded.beyond else {}
        return tuple(tables.get(name, {}).get("1", {}) for name in (SUMMARY, METADATA))

    def _damage(self, path: str, error: Unreadable | InvalidRow, loaded: Loaded) -> StoreError:
        return self.sealing.misfit(path, loaded, damaged(self.sealing.files.name(path), error.reason))

    def peek_row(self, path: str) -> BenchmarkRow | None:
        """Return the row from a record's head; None if it is not sound or the file has another length."""
        found = self.sealing.files.read_beginning(path, _FIRST)
        if found is None:
            return None
        beginning, size = found
        stated, end = read_header(beginning)
        if stated is None or stated.get("length") != size - end:
            return None
        header = to_header(stated)
        length = header.marks.get(_HEAD)
        if not SCHEMA <= header.schema <= NEWEST or type(length) is not int or length < 0:
            return None
        if end + length > len(beginning):
            found = self.sealing.files.read_beginning(path, end + length)
            beginning = found[0] if found else b""
        head = beginning[end : end + length]
        if _head_crc(header.generation, head) != header.marks.get(_HEAD_CRC):
            return None
        tables = json.loads(b"{" + head[2:] + b"}")
        return join_metadata(tables[SUMMARY]["1"], from_plain(Metadata, tables[METADATA]["1"]), header.generation)

    def _check(self, path: str, loaded: Loaded) -> Record:
        tables = loaded.tables
        try:
            metadata = from_plain(Metadata, tables[METADATA]["1"])
            encoded = _encoded_result(loaded)
            if hashlib.sha256(encoded).hexdigest() != loaded.header.marks.get(_SHA):
                encoded = encode_table(tables[RESULT])
            if hashlib.sha256(encoded).hexdigest() != loaded.header.marks.get(_SHA):
                raise Unreadable("result_not_measured")
            summary = tables.get(SUMMARY, {}).get("1")
            if not loaded.sound or summary is None:
                summary = summarize(_to_result(tables[RESULT]["1"]))
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise Unreadable("tables_of_no_benchmark") from error
        if any(type(getattr(metadata, field.name)) not in (str, type(None)) for field in fields(Metadata)):
            raise Unreadable("metadata_invalid")
        record = Record(loaded, summary, metadata, encoded)
        join_metadata(summary, metadata, record.generation)
        return record


def with_facts(row: BenchmarkRow, result: RunResult) -> BenchmarkRow:
    """Return a row with the facts of its headline, which a row of an older version lacks."""
    return row if row.facts else replace(row, facts=summarize(result)["facts"])


def _encoded_result(loaded: Loaded) -> bytes:
    """Return the bytes of the result in a sound file, b"" if they are not where this version writes them."""
    head, (_, end) = loaded.header.marks.get(_HEAD), read_header(loaded.raw[:_FIRST])
    begin = end + head + len(_RESULT) if type(head) is int else 0
    return loaded.raw[begin:-1] if loaded.raw[begin - len(_RESULT) : begin] == _RESULT else b""


def _form(summary: Mapping[str, Any], old: Loaded | None) -> int:
    """Return the form of a record: one of an older version keeps the sentence that this version needs to read it."""
    return REASONS if old is None or "headline" not in summary else max(old.header.schema, SCHEMA)


def _join_head(summary: bytes, metadata: bytes) -> bytes:
    return b", " + encode_name(SUMMARY) + b": " + summary + b", " + encode_name(METADATA) + b": " + metadata


def _head_crc(generation: int, head: bytes) -> str:
    return f"{zlib.crc32(head, generation):08x}"


def _shallow(value: Any) -> dict[str, Any]:
    """Encode one level of a dataclass; the JSON encoder recurses itself, ten times faster than a deep copy."""
    if is_dataclass(value) and not isinstance(value, type):
        return dict(written(value))
    raise TypeError(f"{type(value).__name__} is no part of a result")


def _to_result(plain: dict[str, Any]) -> RunResult:
    from tuibench.core.result import RunResult  # as above

    return from_plain(RunResult, plain)
