"""Footer of every screen: the keys that do something now."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tuibench.tui.widgets.painted import Painted
from tuibench.tui.widgets.row import Row, Span, safe, width_of

Pair = tuple[str, str]
"""(displayed key, what it does in a word)."""
_ARROWS = ("←", "↑")


class KeyLine(Painted):
    """Pairs of a key and a word, the most important first; pairs that do not fit appear only on the help page."""

    DEFAULT_CSS = "KeyLine { height: 2; }"

    def __init__(
        self,
        pairs: Sequence[Pair] = (),
        last: Sequence[Pair] = (),
        *,
        id: str | None = None,  # noqa: A002 - Textual's name
        classes: str | None = None,
    ) -> None:
        super().__init__(id=id, classes=classes)
        self._pairs = (tuple(pairs), tuple(last))

    def show(self, pairs: Sequence[Pair], last: Sequence[Pair] = ()) -> None:
        """Show these pairs; `last` come at the end and are kept at any width."""
        self._pairs = (tuple(pairs), tuple(last))
        self.repaint()

    def row(self, y: int) -> Row:
        """Return row `y` of the footer."""
        pairs, last = ([(self.legible(safe(k)), self.legible(safe(w))) for k, w in some] for some in self._pairs)
        rows = fill_rows(pairs, last, self.size.width, self.size.height)
        return rows[y] if y < len(rows) else ()


def fill_rows(pairs: Sequence[Pair], last: Sequence[Pair], width: int, height: int) -> list[Row]:
    """Fill rows from the left and append `last`; use one row if everything fits into it."""
    if height < 1:
        return []
    tail = _spans(last)
    rows: list[list[Span]] = [[] for _ in range(height)]
    at = 0
    for pair in pairs:
        spans = _spans([pair])
        while at < height and not _fits(rows[at], spans, tail if at == height - 1 else [], width):
            at += 1
        if at == height:
            break
        rows[at] += spans
    first = height == 1 or (not rows[1] and _fits(rows[0], [], tail, width))
    rows[0 if first else -1] += tail
    return [tuple(row) for row in rows]


def together(pairs: Iterable[Pair]) -> list[Pair]:
    """Merge neighbouring pairs with the same word, such as the two directions of a move."""
    found: list[Pair] = []
    for name, word in pairs:
        before = found.pop()[0] if found and found[-1][1] == word else ""
        gap = " " if before and before not in _ARROWS else ""
        found.append((f"{before}{gap}{name}", word))
    return found


def _fits(row: list[Span], spans: list[Span], tail: list[Span], width: int) -> bool:
    return width_of(row) + width_of(spans) + width_of(tail) <= width


def _spans(pairs: Sequence[Pair]) -> list[Span]:
    spans: list[Span] = []
    for key, word in pairs:
        spans += [(f" {safe(key)}", "key"), (f" {safe(word)} ", "dim")]
    return spans
