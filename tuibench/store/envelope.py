"""The envelope of a store file: detects any change and remains plain TinyDB JSON.

The table `_meta` comes first. Its first value is a checksum over every byte after it. The file equals the output of
`json.dumps` exactly, so stock TinyDB can rewrite it without changing a byte.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Mapping
from dataclasses import field
from typing import Any

from tuibench.core.reason import because
from tuibench.core.record import pause_collector
from tuibench.core.schema import BENCHMARK, NEWEST
from tuibench.core.value import dataclass

META = "_meta"
SCHEMA = BENCHMARK
"""Schema of files without newer content; raise it together with a step in `STEPS`."""
Tables = dict[str, dict[str, Any]]

_BEGIN = b'{"_meta": {"1": {"crc32": "'
_DIGITS = 8
_META_AT = len(b'{"_meta": ')
_DECODER = json.JSONDecoder()


class Unreadable(Exception):
    """Not a file of the store: no JSON, or no tables in it; the reason says which."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.reason = because(code)


@dataclass(frozen=True, slots=True)
class Header:
    """The metadata of a file."""

    generation: int
    schema: int = SCHEMA
    tool: str = ""
    """The version of tuibench that wrote it."""
    marks: Mapping[str, Any] = field(default_factory=dict)
    """Values added by a kind of file, such as the checksum of a result."""


@dataclass(frozen=True, slots=True)
class Opened:
    """A file that could be read."""

    header: Header
    tables: Tables
    sound: bool
    """True if the file is as written; otherwise it was edited or the disk is damaged."""


def encode_table(table: Mapping[str, Any]) -> bytes:
    """Encode one table for a file."""
    return json.dumps(table).encode("ascii")


def seal(parts: Mapping[str, bytes], header: Header) -> bytes:
    """Build a whole file from its encoded tables, in their order."""
    body = [piece for name, part in parts.items() for piece in (b", " + encode_name(name) + b": ", part)] + [b"}"]
    length = sum(map(len, body))
    known = {"generation": header.generation, "length": length, "schema": header.schema, "tool": header.tool}
    head = json.dumps(known | dict(header.marks)).encode("ascii")
    pieces = [b'", ' + head[1:] + b"}", *body]
    crc = 0
    for piece in pieces:
        crc = zlib.crc32(piece, crc)
    return b"".join([_BEGIN, b"%08x" % crc, *pieces])


def encode_name(name: str) -> bytes:
    """Encode a key for a file."""
    return json.dumps(name).encode("ascii")


def unseal(data: bytes) -> Opened:
    """Read a file; raise Unreadable if it has no usable content.

    A sealed file of a newer version is sound whatever it contains; it has no tables if their form is unknown.
    """
    sound = data[: len(_BEGIN)] == _BEGIN and _crc(data) == data[len(_BEGIN) : len(_BEGIN) + _DIGITS]
    try:
        tables = _read_tables(data)
    except Unreadable:
        stated, _ = read_header(data) if sound else (None, 0)
        if stated is None or to_header(stated).schema <= NEWEST:
            raise
        return Opened(to_header(stated), {}, sound)
    table = tables.pop(META, {})
    return Opened(to_header(table.get("1", {})), tables, sound)


def check_head(head: bytes) -> None:
    """Check that the metadata in a newly written head is valid JSON."""
    stated, _ = read_header(head)
    if stated is None or to_header(stated).generation < 1:
        raise Unreadable("head_not_json")


def read_header(head: bytes) -> tuple[dict[str, Any] | None, int]:
    """Return the metadata in the head of a file and its end; None if it is incomplete or missing."""
    if head[: len(_BEGIN)] != _BEGIN:
        return None, 0
    try:
        table, end = _DECODER.raw_decode(head.decode("ascii", "replace"), _META_AT)
        stated = table["1"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return None, 0
    return (stated, end) if isinstance(stated, dict) else (None, 0)


def to_header(stated: Mapping[str, Any]) -> Header:
    """Make a Header from any metadata; a hand edit may have left anything in it."""
    generation, schema, tool = stated.get("generation"), stated.get("schema"), stated.get("tool")
    return Header(
        generation if type(generation) is int and generation > 0 else 0,
        schema if type(schema) is int else SCHEMA,
        tool if isinstance(tool, str) else "",
        {k: v for k, v in stated.items() if k not in ("crc32", "generation", "length", "schema", "tool")},
    )


def _crc(data: bytes) -> bytes:
    return b"%08x" % zlib.crc32(memoryview(data)[len(_BEGIN) + _DIGITS :])


def _read_tables(data: bytes) -> Tables:
    try:
        with pause_collector():
            value = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise Unreadable("not_json") from error
    if not isinstance(value, dict) or not all(isinstance(table, dict) for table in value.values()):
        raise Unreadable("no_tables")
    if not all(isinstance(document, dict) for table in value.values() for document in table.values()):
        raise Unreadable("no_documents")
    return value


RECORD, INDEX, DOCUMENT = "record", "index", "document"
Step = Callable[[Tables], Tables]
Steps = Mapping[tuple[str, int], Step]
"""Keyed by kind of file and the schema that a step migrates from; unchanged kinds have no step."""


def migrate_tables(kind: str, tables: Tables, schema: int, steps: Steps | None = None) -> Tables:
    """Return the tables in the current schema; do not change the given ones."""
    known = STEPS if steps is None else steps
    for number in range(schema, SCHEMA):
        step = known.get((kind, number))
        tables = step(tables) if step is not None else tables
    return tables


STEPS: dict[tuple[str, int], Step] = {}
"""No schema has changed since the first release."""


class RowEncoder:
    """Encodes one table of flat documents whose values keep their types, so that equal values have equal bytes."""

    def __init__(self, table: str) -> None:
        self._table = table
        self._kept: dict[str, tuple[tuple[Any, ...], bytes]] = {}

    def encode(self, tables: Tables) -> dict[str, bytes]:
        """Encode every table for a file."""
        with pause_collector():
            return {
                name: self._encode_rows(table) if name == self._table else encode_table(table)
                for name, table in tables.items()
            }

    def _encode_rows(self, table: dict[str, Any]) -> bytes:
        known = self._kept
        kept: dict[str, tuple[tuple[Any, ...], bytes]] = {}
        for number, document in table.items():
            values = (*document, *document.values())
            entry = known.get(number)
            if entry is None or entry[0] != values:
                entry = values, encode_name(number) + b": " + json.dumps(document).encode("ascii")
            kept[number] = entry
        self._kept = kept
        return b"{" + b", ".join([encoded for _, encoded in kept.values()]) + b"}"
