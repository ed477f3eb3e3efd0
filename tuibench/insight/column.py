"""Columns of a table of layers: cell text, sort value and text search."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

UNKNOWN, NONE = "unknown", "–"
"""Texts for a value that could not be found out, and for one that a row does not have."""


R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Column(Generic[R]):
    """One column of a screen, a report or an export."""

    key: str
    title: str
    value: Callable[[R], float | str | None]
    """Return the sort value of a row."""
    text: Callable[[R], str]
    """Return the cell's text, safe to print."""
    right: bool = True
    ascending: bool = False
    """True if the least value comes first; None always comes last."""
    rank: int = 0
    """0 is always shown; where space is short, the highest rank is dropped first."""
    least: int | None = None
    """Least width after a cut, in terminal columns; None if it is never cut."""
    middle: bool = False
    """True if it is cut in the middle, since both ends of a name matter."""
    most: int | None = None
    """Greatest width where space is short; None for no limit."""
    hint: str = ""


def column_of(columns: Sequence[Column[R]], key: str) -> Column[R] | None:
    """Return the column with this key or title, ignoring case; None if there is none."""
    wanted = key.casefold()
    return next((column for column in columns if wanted in (column.key.casefold(), column.title.casefold())), None)


def ordered(rows: Iterable[R], column: Column[R], reverse: bool = False) -> list[R]:
    """Return the rows sorted by a column; rows without a value come last, equal ones keep their order."""
    pairs = [(column.value(row), row) for row in rows]
    known = [(_comparable(value), row) for value, row in pairs if value is not None]
    known.sort(key=lambda pair: pair[0], reverse=column.ascending == reverse)
    return [row for _, row in known] + [row for value, row in pairs if value is None]


def found(rows: Iterable[R], text: str, searched: Callable[[R], str]) -> list[R]:
    """Return the rows that contain every word of a text."""
    words = text.casefold().split()
    return [row for row in rows if all(word in searched(row) for word in words)] if words else list(rows)


def _comparable(value: float | str) -> tuple[int, float, str]:
    """Return a sort key for numbers and words in one column; NaN sorts below all numbers."""
    if isinstance(value, str):
        return 1, 0.0, value.casefold()
    return (0, value, "") if value == value else (0, float("-inf"), "")
