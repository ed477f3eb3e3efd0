"""Resolves a typed token to a benchmark: any form of its id, or a unique name."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence

from tuibench.core.card import BenchmarkRow
from tuibench.core.errors import UnknownId
from tuibench.core.short_id import LENGTH, resolve, short_ids
from tuibench.core.text import show

_SHOWN = 8


def find_row(token: str, rows: Sequence[BenchmarkRow]) -> BenchmarkRow:
    """Return the row of `rows`, newest first, that the token names; raise UnknownId with the candidates."""
    typed = unicodedata.normalize("NFC", token.strip())
    if not _is_id(typed, rows):
        named = [row for row in rows if row.name and unicodedata.normalize("NFC", row.name) == typed]
        if named and _are_one_line(named, rows):
            return named[0]
        if named:
            raise _several(typed, named, rows)
    wanted = resolve(typed, [row.id for row in rows], {row.id: row.rerun_of for row in rows if row.rerun_of})
    found = next((row for row in rows if row.id == wanted), None)
    if found is None:
        raise UnknownId(f"what {show(typed, 40)} repeats was removed", "`tuibench trash` shows what can come back.")
    return found


def _is_id(typed: str, rows: Sequence[BenchmarkRow]) -> bool:
    """Return whether the token is an id; an id shown on screen wins over a benchmark's name."""
    lowered = typed.lower()
    if lowered == "last" or lowered.startswith("last~") or lowered.endswith("~"):
        return True
    return len(typed) >= LENGTH and sum(row.id.endswith(typed.upper()) for row in rows) == 1


def _are_one_line(named: Sequence[BenchmarkRow], rows: Sequence[BenchmarkRow]) -> bool:
    """Return whether all are re-runs of the same benchmark: re-runs inherit its name, which then means the newest."""
    repeated = {row.id: row.rerun_of for row in rows}
    return len({_first(row.id, repeated) for row in named}) == 1


def _first(one: str, repeated: Mapping[str, str]) -> str:
    seen = set()
    # A cycle is possible only after a manual edit.
    while (before := repeated.get(one)) and one not in seen:
        seen.add(one)
        one = before
    return one


def _several(typed: str, named: Sequence[BenchmarkRow], rows: Sequence[BenchmarkRow]) -> UnknownId:
    names = short_ids(row.id for row in rows)
    listed = ", ".join(names[row.id] for row in named[:_SHOWN])
    more = f" and {len(named) - _SHOWN} more" if len(named) > _SHOWN else ""
    return UnknownId(f"{len(named)} benchmarks are called {show(typed, 40)}", f"Type the id of one: {listed}{more}")
