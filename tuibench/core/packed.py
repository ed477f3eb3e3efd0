"""Very many rows of one kind in little room: column by column, compressed, in blocks that are unpacked one by one.

Written out, a profile of 60,000 nodes takes a hundred times as much, and reading it holds up every other thread.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

LEAST = 256
"""Rows that are worth it: fewer can be read in the file by whoever opens it."""
_BLOCK = 2048
"""Rows that are encoded and decoded at once."""
_MOST_BYTES = 1 << 26
"""Of one block; more was not written by us."""


def pack(names: Sequence[str], columns: Sequence[Sequence[Any]]) -> dict[str, Any] | None:
    """Columns of plain values under their names; None where a block of them would be too large to be read back."""
    blocks = []
    for begin in range(0, len(columns[0]), _BLOCK):
        text = json.dumps([column[begin : begin + _BLOCK] for column in columns], separators=(",", ":")).encode("ascii")
        if len(text) > _MOST_BYTES:
            return None
        blocks.append(base64.b64encode(zlib.compress(text)).decode("ascii"))
    return {"columns": list(names), "rows": len(columns[0]), "blocks": blocks}


def unpack(found: Mapping[str, Any]) -> Iterator[dict[str, list[Any]]]:
    """The columns of one block after the other of what `pack` gave, under their names; ValueError for anything else."""
    count = 0
    for block in found["blocks"]:
        columns = json.loads(_inflate(block))
        lengths = {len(column) for column in columns}
        if len(lengths) != 1:
            raise ValueError("columns of several lengths")
        count += lengths.pop()
        yield dict(zip(found["columns"], columns, strict=True))
    if count != found["rows"]:
        raise ValueError(f"{count} rows of {found['rows']}")


def _inflate(block: str) -> bytes:
    engine = zlib.decompressobj()
    try:
        text = engine.decompress(base64.b64decode(block, validate=True), _MOST_BYTES)
    except zlib.error as error:
        raise ValueError(f"a block that cannot be unpacked: {error}") from error
    if not engine.eof:
        raise ValueError("a block that is cut short, or larger than any that is written")
    return text
