"""How a file of the store tells whether it is what was written, and still is plain TinyDB JSON.

A table `_meta` stands first. Its first value is a checksum over every byte behind it, so that none goes unwatched, and
the file is exactly what `json.dumps` gives for it, so that rewriting it with stock TinyDB unchanged changes nothing.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tuibench.core.collector import pause_collector
from tuibench.core.form import BENCHMARK, NEWEST

META = "_meta"
SCHEMA = BENCHMARK
"""Of every file that says nothing newer; raised together with a step in migration.py."""
Tables = dict[str, dict[str, Any]]

_BEGIN = b'{"_meta": {"1": {"crc32": "'
_DIGITS = 8
_META_AT = len(b'{"_meta": ')


class Unreadable(Exception):
    """Not a file of the store any more: no JSON, or no tables in it."""


@dataclass(frozen=True, slots=True)
class Meta:
    """What a file says about itself."""

    generation: int
    schema: int = SCHEMA
    tool: str = ""
    """The version of tuibench that wrote it."""
    marks: Mapping[str, Any] = field(default_factory=dict)
    """What a kind of file adds, such as the checksum of a result."""


@dataclass(frozen=True, slots=True)
class Opened:
    """A file that could be read."""

    meta: Meta
    tables: Tables
    sound: bool
    """Whether it is what was written; if not, somebody edited it, or a disk did."""


def encode_table(table: Mapping[str, Any]) -> bytes:
    """One table as it stands in a file."""
    return json.dumps(table).encode("ascii")


def seal(parts: Mapping[str, bytes], meta: Meta) -> bytes:
    """A whole file from its encoded tables, in their order."""
    body = [piece for name, part in parts.items() for piece in (b", " + encode_name(name) + b": ", part)] + [b"}"]
    length = sum(map(len, body))
    known = {"generation": meta.generation, "length": length, "schema": meta.schema, "tool": meta.tool}
    head = json.dumps(known | dict(meta.marks)).encode("ascii")
    pieces = [b'", ' + head[1:] + b"}", *body]
    crc = 0
    for piece in pieces:
        crc = zlib.crc32(piece, crc)
    return b"".join([_BEGIN, b"%08x" % crc, *pieces])


def encode_name(name: str) -> bytes:
    """A key as it stands in a file."""
    return json.dumps(name).encode("ascii")


def unseal(data: bytes) -> Opened:
    """Read a file; Unreadable where there is nothing to be had from it.

    One that a newer version sealed is sound whatever is in it, and has no tables where these are none as we know them.
    """
    sound = data[: len(_BEGIN)] == _BEGIN and _crc(data) == data[len(_BEGIN) : len(_BEGIN) + _DIGITS]
    try:
        tables = _read_tables(data)
    except Unreadable:
        stated, _ = read_meta(data) if sound else (None, 0)
        if stated is None or to_meta(stated).schema <= NEWEST:
            raise
        return Opened(to_meta(stated), {}, sound)
    table = tables.pop(META, {})
    return Opened(to_meta(table.get("1", {})), tables, sound)


def check_head(head: bytes) -> None:
    """Parse the head of a file that is about to become the truth: what it says of itself must be JSON."""
    stated, _ = read_meta(head)
    if stated is None or to_meta(stated).generation < 1:
        raise Unreadable("the head that was written is not JSON")


def read_meta(head: bytes) -> tuple[dict[str, Any] | None, int]:
    """What the head of a file says of itself and where that ends; None where it is cut short or says nothing."""
    if head[: len(_BEGIN)] != _BEGIN:
        return None, 0
    try:
        table, end = json.JSONDecoder().raw_decode(head.decode("ascii", "replace"), _META_AT)
        stated = table["1"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return None, 0
    return (stated, end) if isinstance(stated, dict) else (None, 0)


def to_meta(stated: Mapping[str, Any]) -> Meta:
    """A Meta from what a file says, whatever that is: a hand edit may have left anything."""
    generation, schema, tool = stated.get("generation"), stated.get("schema"), stated.get("tool")
    return Meta(
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
        raise Unreadable("not JSON") from error
    if not isinstance(value, dict) or not all(isinstance(table, dict) for table in value.values()):
        raise Unreadable("JSON, but no tables")
    if not all(isinstance(document, dict) for table in value.values() for document in table.values()):
        raise Unreadable("tables, but not of documents")
    return value
