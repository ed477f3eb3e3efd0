"""The rows of all hosts as one list, and what is needed to search it while somebody types."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import fields
from operator import attrgetter

from tuibench.core.card import BenchmarkRow

_TEXTS = attrgetter(*(field.name for field in fields(BenchmarkRow) if field.type in ("str", str)))


class Listing:
    """An immutable list, newest first."""

    def __init__(self, rows: tuple[BenchmarkRow, ...], before: Listing | None = None) -> None:
        self.rows = rows
        self._texts: list[str] | None = None
        # Of the list before this one only what was searched already is of use.
        self._before = before if before is not None and before._texts is not None else None

    def search(self, text: str) -> tuple[BenchmarkRow, ...]:
        """The rows that have every word somewhere, in any case."""
        words = text.casefold().split()
        if not words:
            return self.rows
        texts = self._texts
        if texts is None:
            # A line break is in no word, so no word is found across two fields.
            before = self._before
            known = before.texts_by_row() if before is not None else {}
            texts = [known.get(id(row)) or "\n".join(_TEXTS(row)).casefold() for row in self.rows]
            self._texts, self._before = texts, None
        first, *others = words
        found = [place for place, line in enumerate(texts) if first in line]
        for word in others:
            found = [place for place in found if word in texts[place]]
        return tuple(self.rows[place] for place in found)

    def texts_by_row(self) -> dict[int, str]:
        """What was made for searching, by the identity of its row; rows are immutable, and live as long as this."""
        return dict(zip(map(id, self.rows), self._texts or (), strict=False))


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
