"""The Summary tab: the model as a whole, the conclusion, and a bar for each type of layer."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.message import Message

from tuibench.tui import key
from tuibench.tui.screens.detail_fact import FactBlock
from tuibench.tui.screens.profile_bars import BarList
from tuibench.tui.screens.profile_pane import ChoicePane
from tuibench.tui.widgets.row import LineLike, Row, shown, wrapped
from tuibench.tui.widgets.selector_line import SelectorLine
from tuibench.tui.widgets.text_block import TextBlock
from tuibench.tui.widgets.title_line import RuleLine

_INDENT = 13


class Numbers(FactBlock):
    """The facts of the whole model; if they exceed the room, the rule below shows the position."""

    class Moved(Message):
        """Posted when other lines become visible."""

    def _set_first(self, first: int) -> None:
        super()._set_first(first)
        self.post_message(self.Moved())


class Below(RuleLine):
    """The rule below the facts."""

    text = ""

    def row(self, y: int) -> Row:
        """Return the rule, with the text near its end."""
        rule = self.glyphs.rule
        end = rule * 2 if self.text else ""
        return ((rule * max(self.size.width - len(self.text) - len(end), 0), "dim"), (self.text, ""), (end, "dim"))


class SummaryPane(ChoicePane):
    """Facts at the top, conclusion and bars below."""

    _words: tuple[str, ...] = ()
    """The title and method of the bars."""

    def compose(self) -> ComposeResult:
        """Yield the widgets from the whole to its parts."""
        yield Numbers(self.book.facts(self.dashboard.glyphs), _INDENT, id="facts")
        yield Below()
        yield TextBlock(id="said")
        yield SelectorLine(id="choices")
        yield BarList(id="bars")
        yield TextBlock(id="words")

    def on_mount(self) -> None:
        """Show the last choice."""
        self.take_up()

    def on_resize(self) -> None:
        """Wrap the texts again."""
        self._show_said()
        self._show_words()

    def on_numbers_moved(self) -> None:
        """Show the visible line range on the rule if lines are hidden."""
        app, below = self.dashboard, self.query_one(Below)
        seen = self.query_one(Numbers).position
        tab = key.shown("focus-next", app.keymap, app.ascii_only)
        below.text = f" lines {seen}, {tab} and arrows " if seen else ""
        below.repaint()

    def focus_first(self) -> None:
        """Focus the bars, since the facts above mostly fit."""
        self.screen.set_focus(self.query_one(BarList))

    def draw(self) -> None:
        """Draw the bars and their method."""
        summed = self.book.summed(self.chosen_kind, self.chosen_display)
        self.query_one(BarList).show_bars(summed.bars, summed.words)
        self._words = (summed.title, *summed.words) if summed.bars else (summed.title,)
        self._show_words()
        self._show_said()

    def _show_words(self) -> None:
        block, width = self.query_one("#words", TextBlock), max(self.app.size.width - 2, 1)
        told = [part for text in self._words for part in wrapped(block.legible_row(shown((text, "dim"))), width)]
        block.show_lines([((" ", ""), *part) for part in told])

    def _show_said(self) -> None:
        width = max(self.app.size.width - 2, 1)
        block = self.query_one("#said", TextBlock)
        lines: list[LineLike] = [
            part for line in self.book.said(self.chosen_kind) for part in wrapped(block.legible_row(shown(line)), width)
        ]
        block.show_lines([((" ", ""), *shown(line)) for line in lines])
