"""The first tab of a profile: the model as a whole, what follows from it, and a bar for each type of layer."""

from __future__ import annotations

from textual.app import ComposeResult

from tuibench.tui.screens.detail_fact import FactBlock
from tuibench.tui.screens.profile_bars import BarList
from tuibench.tui.screens.profile_pane import ChoicePane
from tuibench.tui.widgets.row import LineLike, shown, wrapped
from tuibench.tui.widgets.selector_line import SelectorLine
from tuibench.tui.widgets.text_block import TextBlock
from tuibench.tui.widgets.title_line import RuleLine

_INDENT = 13


class SummaryPane(ChoicePane):
    """Numbers above, sentence and bars below; w gives all of the room to either."""

    def compose(self) -> ComposeResult:
        """From the whole to its parts."""
        yield FactBlock(self.book.facts(self.dashboard.glyphs), _INDENT, id="facts")
        yield RuleLine()
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

    def focus_first(self) -> None:
        """The bars: numbers above them are mostly all in sight."""
        self.screen.set_focus(self.query_one(BarList))

    def draw(self) -> None:
        """Bars, and by which method they came to be."""
        summed = self.book.summed(self.chosen_kind, self.chosen_display)
        self.query_one(BarList).show_bars(summed.bars, summed.words)
        block, width = self.query_one("#words", TextBlock), max(self.app.size.width - 2, 1)
        words = (summed.title, *summed.words) if summed.bars else (summed.title,)
        told = [part for text in words for part in wrapped(block.legible_row(shown((text, "dim"))), width)]
        block.show_lines([((" ", ""), *part) for part in told])
        self._show_said()

    def _show_said(self) -> None:
        width = max(self.app.size.width - 2, 1)
        block = self.query_one("#said", TextBlock)
        lines: list[LineLike] = [
            part for line in self.book.said(self.chosen_kind) for part in wrapped(block.legible_row(shown(line)), width)
        ]
        block.show_lines([((" ", ""), *shown(line)) for line in lines])
