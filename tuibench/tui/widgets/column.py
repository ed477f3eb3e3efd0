"""Which columns of a table fit, and how wide each becomes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

_WIDEST = 60


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a RecordTable."""

    key: str
    title: str
    width: int
    """The least it needs."""
    grow: bool = False
    """Whether it takes a share of the room that is left."""
    right: bool = False
    """Whether its cells stand at the right, as numbers do."""
    rank: int = 0
    """The higher, the sooner it goes where room is short; of equals the right one goes first."""
    wide: int = 0
    """What it takes where all columns are shown and the table may be scrolled; 0 for `width`."""
    part: int = 0
    """At most one of so many parts of the line is what it takes then, so that numbers behind it are seen at once."""
    frozen: bool = False
    """Whether it stands while what is behind it is scrolled; for columns at the left."""
    middle: bool = False
    """Whether what does not fit gives way in its middle: names of layers differ at their ends."""
    shared: tuple[str, str] = ("", "")
    """What all its cells begin and end with, safe to print: that gives way before the middle does."""


@dataclass(frozen=True, slots=True)
class Layout:
    """Positions in the list of columns with their widths, and the titles of those that went."""

    shown: tuple[tuple[int, int], ...]
    dropped: tuple[str, ...]

    @property
    def width(self) -> int:
        """Columns of the terminal that a line takes, a blank between two of the table."""
        return _width(self.shown)

    def frozen(self, columns: Sequence[Column], room: int) -> int:
        """How many of those shown stand while the others are scrolled; none where they would take most of the room."""
        count = next((n for n, (i, _) in enumerate(self.shown) if not columns[i].frozen), len(self.shown))
        return count if 2 * _width(self.shown[:count]) < room else 0


def _width(shown: Sequence[tuple[int, int]]) -> int:
    return sum(width for _, width in shown) + max(len(shown) - 1, 0)


def lay_out(columns: Sequence[Column], room: int, wide: bool = False) -> Layout:
    """Fit columns into `room`; with `wide` all of them stay, however much they take."""
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
