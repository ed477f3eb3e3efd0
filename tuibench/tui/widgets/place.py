"""The cursor and scroll position of a list, kept on the same record while records are added and removed."""

from __future__ import annotations

from itertools import chain


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
