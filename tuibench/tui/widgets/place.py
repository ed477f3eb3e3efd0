"""Where one is in a list: which record is under the cursor and which is the first in sight, whatever comes and goes."""

from __future__ import annotations

from itertools import chain


class Place:
    """Cursor and first line in sight of a list of keys."""

    def __init__(self) -> None:
        self.keys: tuple[str, ...] = ()
        self.cursor = 0
        self.top = 0

    @property
    def key(self) -> str | None:
        """The record under the cursor; None where there are none."""
        return self.keys[self.cursor] if self.keys else None

    def take(self, keys: tuple[str, ...], page: int) -> None:
        """Go on in a changed list: on the same record, or where that is gone on the next one that was there."""
        old, at, above = self.keys, self.cursor, self.cursor - self.top
        self.keys = keys
        index = {key: n for n, key in enumerate(keys)}
        near = chain(range(at, len(old)), range(at - 1, -1, -1))
        self.cursor = next((index[old[n]] for n in near if old[n] in index), 0)
        # What comes above the first page is seen; further down the picture stays as it was.
        self.top = self.cursor - above if self.top else 0
        self.follow(page)

    def move(self, by: int, page: int) -> None:
        """Move the cursor; leaps of more than a line move what is seen as far."""
        at = min(max(self.cursor + by, 0), max(len(self.keys) - 1, 0))
        if abs(by) > 1:
            self.top += at - self.cursor
        self.cursor = at
        self.follow(page)

    def follow(self, page: int) -> None:
        """Keep the cursor in sight of a page of so many lines."""
        # A step out of sight brings half a page: every scrolled line sends all of them again, and keys repeat fast.
        if self.cursor < self.top:
            self.top = min(self.cursor, self.top - page // 2)
        elif self.cursor >= self.top + page:
            self.top = max(self.cursor - page + 1, self.top + page // 2)
        self.top = max(min(self.top, len(self.keys) - page), 0)
