"""The first tab of a profile: the model as a whole, what follows from it, and a bar for each type of layer."""

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
    """The model as a whole; where it has more lines than room, the rule below says which of them are seen."""

    class Moved(Message):
        """Other lines are seen."""

    def _set_first(self, first: int) -> None:
        super()._set_first(first)
        self.post_message(self.Moved())


class Below(RuleLine):
    """The rule below them."""

    text = ""

    def row(self, y: int) -> Row:
        """The whole width, with the text near its end."""
        rule = self.glyphs.rule
        end = rule * 2 if self.text else ""
        return ((rule * max(self.size.width - len(self.text) - len(end), 0), "dim"), (self.text, ""), (end, "dim"))


class SummaryPane(ChoicePane):
    """Numbers above, sentence and bars below."""

    _words: tuple[str, ...] = ()
    """By which method the bars came to be."""

    def compose(self) -> ComposeResult:
        """From the whole to its parts."""
        yield Numbers(self.book.facts(self.dashboard.glyphs), _INDENT, id="facts")
        yield Below()
        yield TextBlock(id="said")
        yield SelectorLine(id="choices")
        yield BarList(id="bars")
        yield TextBlock(id="words")

    def on_mount(self) -> None:
        """What was chosen last."""
        self.take_up()

    def on_resize(self) -> None:
        """Sentences are broken at another place."""
        self._show_said()
        self._show_words()

    def on_numbers_moved(self) -> None:
        """Nothing is hidden without a word."""
        app, below = self.dashboard, self.query_one(Below)
        seen = self.query_one(Numbers).position
        tab = key.shown("focus-next", app.keymap, app.ascii_only)
        below.text = f" lines {seen}, {tab} and arrows " if seen else ""
        below.repaint()

    def focus_first(self) -> None:
        """The bars: numbers above them are mostly all in sight."""
        self.screen.set_focus(self.query_one(BarList))

    def draw(self) -> None:
        """Bars, and by which method they came to be."""
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
