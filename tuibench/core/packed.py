"""Compact storage for many rows of one kind: by column, compressed, in blocks that are unpacked one at a time.

Uncompressed, a profile of 60,000 nodes is a hundred times larger, and reading it blocks every other thread.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

LEAST = 256
"""Fewest rows that are packed; fewer stay readable in the file."""
_BLOCK = 2048
"""Rows per block."""
_MOST_BYTES = 1 << 26
"""Most bytes of one block; tuibench never writes more."""


def pack(names: Sequence[str], columns: Sequence[Sequence[Any]]) -> dict[str, Any] | None:
    """Pack named columns of plain values; return None if a block would be too large to read back."""
    blocks = []
    for begin in range(0, len(columns[0]), _BLOCK):
        text = json.dumps([column[begin : begin + _BLOCK] for column in columns], separators=(",", ":")).encode("ascii")
        if len(text) > _MOST_BYTES:
            return None
        blocks.append(base64.b64encode(zlib.compress(text)).decode("ascii"))
    return {"columns": list(names), "rows": len(columns[0]), "blocks": blocks}


def unpack(found: Mapping[str, Any]) -> Iterator[dict[str, list[Any]]]:
    """Yield the named columns of each packed block; raise ValueError for anything that `pack` did not write."""
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
