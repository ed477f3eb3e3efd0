"""Caches encoded rows: of ten thousand, usually one has changed."""

from __future__ import annotations

import json
from typing import Any

from tuibench.core.collector import pause_collector
from tuibench.store.envelope import Tables, encode_name, encode_table


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
