"""A line of selectors that switch a page's content, each with its key."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich.cells import cell_len

from tuibench.tui.widgets.painted import Painted
from tuibench.tui.widgets.row import Row, Span, cut, safe, width_of

_MOST = 1000
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
        *,
        id: str | None = None,  # noqa: A002 - Textual's name
        classes: str | None = None,
    ) -> None:
        super().__init__(id=id, classes=classes)
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
        while around and width_of(row) > self.size.width:
            around -= 1
            row = self._line(around)
        if (excess := width_of(row) - self.size.width) > 0:
            longest = max(
                (cell_len(self.legible(text)) for s in self._selectors for text in s.choices[s.index : s.index + 1]),
                default=0,
            )
            row = self._line(around, max(longest - excess, _FEWEST))
        return row

    def _line(self, around: int, most: int = _MOST) -> Row:
        parts: list[Span] = []
        for selector in self._selectors:
            parts += [("   " if parts else " ", ""), *self._selector(selector, around, most)]
        return tuple(parts)

    def _selector(self, selector: Selector, around: int, most: int) -> list[Span]:
        name, key, *choices = (self.legible(safe(text)) for text in (selector.name, selector.key, *selector.choices))
        at = selector.index
        held = cut(choices[at], most, self.glyphs.ellipsis) if 0 <= at < len(choices) else "-"
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
