"""Fits the columns of a table into the width of the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

_WIDEST = 60


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a RecordTable."""

    key: str
    title: str
    width: int
    """The minimum width."""
    grow: bool = False
    """True if it takes a share of the spare width."""
    right: bool = False
    """True to align its cells to the right, as numbers are."""
    rank: int = 0
    """Columns with a higher rank are dropped first; of equal ranks, the rightmost."""
    wide: int = 0
    """Width used when all columns are shown and the table scrolls sideways; 0 for `width`."""
    part: int = 0
    """Limits `wide` to 1/part of the table's width, so that the numbers behind the column are visible at once."""
    frozen: bool = False
    """True if it stays in place while the columns to its right scroll; for columns at the left."""
    middle: bool = False
    """True to shorten text in its middle: names of layers differ at their ends."""
    shared: tuple[str, str] = ("", "")
    """Prefix and suffix common to all its cells, safe to print; they are cut before the middle."""


@dataclass(frozen=True, slots=True)
class Layout:
    """Indexes of the shown columns with their widths, and the titles of the dropped ones."""

    shown: tuple[tuple[int, int], ...]
    dropped: tuple[str, ...]

    @property
    def width(self) -> int:
        """Width of a line in terminal columns, with one blank between two table columns."""
        return _width(self.shown)

    def frozen(self, columns: Sequence[Column], room: int) -> int:
        """Return how many shown columns stay in place while the others scroll; 0 if they would fill half of `room`."""
        count = next((n for n, (i, _) in enumerate(self.shown) if not columns[i].frozen), len(self.shown))
        return count if 2 * _width(self.shown[:count]) < room else 0


def _width(shown: Sequence[tuple[int, int]]) -> int:
    return sum(width for _, width in shown) + max(len(shown) - 1, 0)


def lay_out(columns: Sequence[Column], room: int, wide: bool = False) -> Layout:
    """Fit columns into `room`; with `wide`, keep all of them at any total width."""
    kept = list(range(len(columns)))
    widths = [max(c.width, _wide(c, room) if wide else 0) for c in columns]
    while not wide and len(kept) > 1 and sum(widths[i] for i in kept) + len(kept) - 1 > room:
        kept.remove(max(kept, key=lambda i: (columns[i].rank, i)))
    if len(kept) == 1 and not wide:
        widths[kept[0]] = min(widths[kept[0]], max(room, 0))
    _share(columns, kept, widths, room - sum(widths[i] for i in kept) - max(len(kept) - 1, 0))
    dropped = tuple(c.title or c.key for i, c in enumerate(columns) if i not in kept)
    return Layout(tuple((i, widths[i]) for i in kept), dropped)


def _wide(column: Column, room: int) -> int:
    return min(column.wide, room // column.part) if column.part else column.wide


def _share(columns: Sequence[Column], kept: list[int], widths: list[int], room: int) -> None:
    growing = [i for i in kept if columns[i].grow]
    for place, i in enumerate(growing):
        share = room // (len(growing) - place)
        added = max(min(share, _WIDEST - widths[i]), 0)
        widths[i] += added
        room -= added


class Place:
    """Cursor and first visible line of a list of keys."""

    def __init__(self) -> None:
        self.keys: tuple[str, ...] = ()
        self.cursor = 0
        self.top = 0

    @property
    def key(self) -> str | None:
        """The key of the record under the cursor; None if the list is empty."""
        return self.keys[self.cursor] if self.keys else None

    def take(self, keys: tuple[str, ...], page: int) -> None:
        """Replace the list and stay on the same record, or on the next remaining one if that is gone."""
        old, at, above = self.keys, self.cursor, self.cursor - self.top
        self.keys = keys
        index = {key: n for n, key in enumerate(keys)}
        near = chain(range(at, len(old)), range(at - 1, -1, -1))
        self.cursor = next((index[old[n]] for n in near if old[n] in index), 0)
        # On the first page, new lines above are shown; further down the view stays as it was.
        self.top = self.cursor - above if self.top else 0
        self.follow(page)

    def move(self, by: int, page: int) -> None:
        """Move the cursor; a move of more than one line scrolls the view as far."""
        at = min(max(self.cursor + by, 0), max(len(self.keys) - 1, 0))
        if abs(by) > 1:
            self.top += at - self.cursor
        self.cursor = at
        self.follow(page)

    def follow(self, page: int) -> None:
        """Scroll so that the cursor is within a page of `page` lines."""
        # A step out of view scrolls half a page: every scroll sends all lines again, and keys repeat fast.
        if self.cursor < self.top:
            self.top = min(self.cursor, self.top - page // 2)
        elif self.cursor >= self.top + page:
            self.top = max(self.cursor - page + 1, self.top + page // 2)
        self.top = max(min(self.top, len(self.keys) - page), 0)
