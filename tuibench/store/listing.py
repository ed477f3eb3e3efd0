"""The rows of all hosts as one list, and what is needed to search it while somebody types."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import fields
from operator import attrgetter

from tuibench.core.card import BenchmarkRow

_TEXTS = attrgetter(*(field.name for field in fields(BenchmarkRow) if field.type in ("str", str)))


class Listing:
    """An immutable list, newest first."""

    def __init__(self, rows: tuple[BenchmarkRow, ...]) -> None:
        self.rows = rows
        self._texts: list[str] | None = None

    def search(self, text: str) -> tuple[BenchmarkRow, ...]:
        """The rows that have every word somewhere, in any case."""
        words = text.casefold().split()
        if not words:
            return self.rows
        texts = self._texts
        if texts is None:
            # A line break is in no word, so no word is found across two fields.
            texts = self._texts = ["\n".join(_TEXTS(row)).casefold() for row in self.rows]
        first, *others = words
        found = [place for place, line in enumerate(texts) if first in line]
        for word in others:
            found = [place for place in found if word in texts[place]]
        return tuple(self.rows[place] for place in found)


def join_rows(parts: Sequence[Iterable[BenchmarkRow]]) -> tuple[BenchmarkRow, ...]:
    """All rows, newest first; of two with one id the one of the earlier part."""
    if len(parts) == 1:
        rows = list(parts[0])
    else:
        known: dict[str, BenchmarkRow] = {}
        for part in parts:
            for row in part:
                known.setdefault(row.id, row)
        rows = list(known.values())
    return tuple(sorted(rows, key=attrgetter("id"), reverse=True))
