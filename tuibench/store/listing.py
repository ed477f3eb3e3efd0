"""The rows of all hosts as one list, with a text search for each keystroke."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import fields
from operator import attrgetter

from tuibench.core.card import BenchmarkRow
from tuibench.core.headline import fact_texts

_TEXTS = attrgetter(*(field.name for field in fields(BenchmarkRow) if field.type in ("str", str)))


class Listing:
    """An immutable list, newest first."""

    def __init__(self, rows: tuple[BenchmarkRow, ...], before: Listing | None = None) -> None:
        self.rows = rows
        self._texts: list[str] | None = None
        # The previous list is only useful if it has search texts.
        self._before = before if before is not None and before._texts is not None else None

    def search(self, text: str) -> tuple[BenchmarkRow, ...]:
        """Return the rows that contain every word in some field, ignoring case."""
        words = text.casefold().split()
        if not words:
            return self.rows
        texts = self._texts
        if texts is None:
            # No word contains a line break, so a match never spans two fields.
            before = self._before
            known = before.texts_by_row() if before is not None else {}
            texts = [
                known.get(id(row)) or "\n".join((*_TEXTS(row), *fact_texts(row.facts))).casefold() for row in self.rows
            ]
            self._texts, self._before = texts, None
        first, *others = words
        found = [place for place, line in enumerate(texts) if first in line]
        for word in others:
            found = [place for place in found if word in texts[place]]
        return tuple(self.rows[place] for place in found)

    def texts_by_row(self) -> dict[int, str]:
        """Return the search texts by row identity; rows are immutable and live as long as this list."""
        return dict(zip(map(id, self.rows), self._texts or (), strict=False))


def join_rows(parts: Sequence[Iterable[BenchmarkRow]]) -> tuple[BenchmarkRow, ...]:
    """Return all rows, newest first; for a duplicate id keep the row of the earlier part."""
    if len(parts) == 1:
        rows = list(parts[0])
    else:
        known: dict[str, BenchmarkRow] = {}
        for part in parts:
            for row in part:
                known.setdefault(row.id, row)
        rows = list(known.values())
    return tuple(sorted(rows, key=attrgetter("id"), reverse=True))
