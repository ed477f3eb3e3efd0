"""Columns of a table of layers: what a cell says, what it is sorted by, and which rows a text finds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

UNKNOWN, NONE = "unknown", "–"
"""What could not be found out, and what does not exist for a row."""


R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Column(Generic[R]):
    """One column, for a screen, a report or an export alike."""

    key: str
    title: str
    value: Callable[[R], float | str | None]
    """What rows are sorted by."""
    text: Callable[[R], str]
    """Safe to print."""
    right: bool = True
    ascending: bool = False
    """Whether the least comes first; None is last either way."""
    rank: int = 0
    """0 always stays; of the others the highest goes first where the room is short."""
    least: int | None = None
    """Columns that must be left when it is cut; None where it is never cut."""
    middle: bool = False
    """Whether it is cut in the middle: of a name both ends tell."""
    most: int | None = None
    """Columns that it takes at most where the room is short, though it could have more."""
    hint: str = ""


def column_of(columns: Sequence[Column[R]], key: str) -> Column[R] | None:
    """The column with this key, or with this title whatever its case."""
    wanted = key.casefold()
    return next((column for column in columns if wanted in (column.key.casefold(), column.title.casefold())), None)


def ordered(rows: Iterable[R], column: Column[R], reverse: bool = False) -> list[R]:
    """Rows by a column; those without a value last, and equal ones in the order they had."""
    pairs = [(column.value(row), row) for row in rows]
    known = [(_comparable(value), row) for value, row in pairs if value is not None]
    known.sort(key=lambda pair: pair[0], reverse=column.ascending == reverse)
    return [row for _, row in known] + [row for value, row in pairs if value is None]


def found(rows: Iterable[R], text: str, searched: Callable[[R], str]) -> list[R]:
    """The rows that hold every word of a text."""
    words = text.casefold().split()
    return [row for row in rows if all(word in searched(row) for word in words)] if words else list(rows)


def _comparable(value: float | str) -> tuple[int, float, str]:
    """Numbers and words in one column compare, too; no number is no value to go by."""
    if isinstance(value, str):
        return 1, 0.0, value.casefold()
    return (0, value, "") if value == value else (0, float("-inf"), "")
