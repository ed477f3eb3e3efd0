"""Widgets of one or two lines: title, rule, tabs, footer, selectors."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from tuibench.core.text import cut, width_of
from tuibench.present.plots.drawing import Row, Span, row_width, spread
from tuibench.tui.widgets.painted import LineLike, Painted, safe, shown


class TitleLine(Painted):
    """A text at the left and one at the right; if both do not fit, the longest span at the left is cut first."""

    DEFAULT_CSS = "TitleLine { height: 1; }"

    def __init__(self, left: LineLike = "", right: LineLike = "", **attributes: str | None) -> None:
        super().__init__(**attributes)
        self._ends = (shown(left), shown(right))

    def show(self, left: LineLike, right: LineLike = "") -> None:
        """Show both texts; put a long name into its own span, as in (("a long name", "title"), (" › Runs", ""))."""
        self._ends = (shown(left), shown(right))
        self.repaint()

    def show_end(self, right: LineLike) -> None:
        """Replace the text at the right."""
        self._ends = (self._ends[0], shown(right))
        self.repaint()

    def row(self, y: int) -> Row:
        """Return both texts in one line."""
        left, right = (self.legible_row(end) for end in self._ends)
        return spread(_set_in(left), right, self.size.width, self.glyphs.ellipsis) if y == 0 else ()


def _set_in(row: Row) -> Row:
    return ((" " + row[0][0], row[0][1]), *row[1:]) if row else ()


class RuleLine(Painted):
    """A rule between two parts of a screen."""

    DEFAULT_CSS = "RuleLine { height: 1; }"

    def row(self, y: int) -> Row:
        """Return a rule of the whole width."""
        return ((self.glyphs.rule * self.size.width, "dim"),)


class TabLine(Painted):
    """A line such as `1 Base [2 Cores] 3 Batch`; the number is the key."""

    DEFAULT_CSS = "TabLine { height: 1; }"

    def __init__(
        self,
        names: Sequence[str] = (),
        active: int = 0,
        **attributes: str | None,
    ) -> None:
        super().__init__(**attributes)
        self._names = tuple(names)
        self._active = active
        self._disabled: frozenset[int] = frozenset()
        self._right: Row = ()

    def show(
        self, names: Sequence[str], active: int = 0, *, disabled: Collection[int] = (), right: LineLike = ""
    ) -> None:
        """Show these tabs; `active` and `disabled` are indexes into `names`."""
        self._names = tuple(names)
        self._active = active
        self._disabled = frozenset(disabled)
        self._right = shown(right)
        self.repaint()

    def row(self, y: int) -> Row:
        """Return as many tabs around the active one as fit."""
        if y:
            return ()
        tabs = [self._tab(n) for n in range(len(self._names))]
        first, last = 0, len(tabs)
        while last - first > 1 and row_width(_joined(tabs[first:last])) > self.size.width:
            if self._active - first > last - 1 - self._active:
                first += 1
            else:
                last -= 1
        return spread(_joined(tabs[first:last]), self.legible_row(self._right), self.size.width, self.glyphs.ellipsis)

    def _tab(self, n: int) -> Span:
        name = self.legible(safe(self._names[n]))
        if n == self._active:
            return (f"[{n + 1} {name}]", "title")
        return (f" {n + 1} {name} ", "dim" if n in self._disabled else "")


def _joined(tabs: Sequence[Span]) -> Row:
    """Join tabs; neighbours share one blank."""
    spans: list[Span] = []
    for text, style in tabs:
        shares = spans and spans[-1][0][-1:] == " " and text[:1] == " "
        spans.append((text[1:] if shares else text, style))
    return tuple(spans)


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
        **attributes: str | None,
    ) -> None:
        super().__init__(**attributes)
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
    return row_width(row) + row_width(spans) + row_width(tail) <= width


def _spans(pairs: Sequence[Pair]) -> list[Span]:
    spans: list[Span] = []
    for key, word in pairs:
        spans += [(f" {safe(key)}", "key"), (f" {safe(word)} ", "dim")]
    return spans


_MAX_CHOICE_WIDTH = 1000
_FEWEST = 8
"""Minimum width of the selected choice, in columns."""


@dataclass(frozen=True, slots=True)
class Selector:
    """A setting with several choices, one of them selected."""

    name: str
    choices: tuple[str, ...]
    index: int
    key: str
    """The key as displayed."""
    spread: bool = False
    """True to show all choices instead of the selected one only."""


class SelectorLine(Painted):
    """A line such as ` batch ‹ 1 8 [32] ›  ←→   metric [items/s] m`."""

    DEFAULT_CSS = "SelectorLine { height: 1; }"

    def __init__(
        self,
        selectors: Sequence[Selector] = (),
        **attributes: str | None,
    ) -> None:
        super().__init__(**attributes)
        self._selectors = tuple(selectors)

    def show(self, selectors: Sequence[Selector]) -> None:
        """Show these selectors, the most important first."""
        self._selectors = tuple(selectors)
        self.repaint()

    def row(self, y: int) -> Row:
        """Return as many choices around the selected one as fit, or that one alone, cut if necessary."""
        if y:
            return ()
        around = max((len(s.choices) for s in self._selectors if s.spread), default=0)
        row = self._line(around)
        while around and row_width(row) > self.size.width:
            around -= 1
            row = self._line(around)
        if (excess := row_width(row) - self.size.width) > 0:
            longest = max(
                (width_of(self.legible(text)) for s in self._selectors for text in s.choices[s.index : s.index + 1]),
                default=0,
            )
            row = self._line(around, max(longest - excess, _FEWEST))
        return row

    def _line(self, around: int, max_width: int = _MAX_CHOICE_WIDTH) -> Row:
        parts: list[Span] = []
        for selector in self._selectors:
            parts += [("   " if parts else " ", ""), *self._selector(selector, around, max_width)]
        return tuple(parts)

    def _selector(self, selector: Selector, around: int, max_width: int) -> list[Span]:
        name, key, *choices = (self.legible(safe(text)) for text in (selector.name, selector.key, *selector.choices))
        at = selector.index
        held = cut(choices[at], max_width, self.glyphs.ellipsis) if 0 <= at < len(choices) else "-"
        spans = [(f"{name} ", "dim"), (f"[{held}]", "title")]
        if selector.spread and len(choices) > 1:
            glyphs = self.glyphs
            low, high = max(at - around, 0), at + around + 1
            before = "".join(f"{text} " for text in choices[low:at])
            after = "".join(f" {text}" for text in choices[at + 1 : high])
            start = glyphs.before if low == 0 else glyphs.ellipsis
            end = glyphs.after if high >= len(choices) else glyphs.ellipsis
            spans[1:1] = [(f"{start} {before}", "")]
            spans.append((f"{after} {end}", ""))
        return [*spans, (f" {key}", "key")] if key and len(choices) > 1 else spans
