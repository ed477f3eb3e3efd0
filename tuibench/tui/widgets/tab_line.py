"""The tabs of a screen with their numbers; the active one is in brackets."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from tuibench.tui.widgets.painted import Painted
from tuibench.tui.widgets.row import LineLike, Row, Span, safe, shown, spread, width_of


class TabLine(Painted):
    """A line such as `1 Base [2 Cores] 3 Batch`; the number is the key."""

    DEFAULT_CSS = "TabLine { height: 1; }"

    def __init__(
        self,
        names: Sequence[str] = (),
        active: int = 0,
        *,
        id: str | None = None,  # noqa: A002 - Textual's name
        classes: str | None = None,
    ) -> None:
        super().__init__(id=id, classes=classes)
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
        while last - first > 1 and width_of(_joined(tabs[first:last])) > self.size.width:
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
