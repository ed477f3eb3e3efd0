"""The sides of one benchmark against each other, and all of it against what it re-ran."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from textual.app import ComposeResult

from tuibench.core.card import StoredBenchmark
from tuibench.core.comparison import SideBySide
from tuibench.core.errors import TuibenchError
from tuibench.core.short_id import short_id
from tuibench.tui.screens.comparison_figure import Material
from tuibench.tui.screens.comparison_pair import pairs_of_run, pairs_of_sides
from tuibench.tui.screens.comparison_view import ComparisonView
from tuibench.tui.screens.detail_pane import DetailPane
from tuibench.tui.widgets.text_block import TextBlock

if TYPE_CHECKING:
    from tuibench.tui.screens.base import Page


class ComparisonPane(DetailPane):
    """Interleaved sides where the benchmark has some; else the benchmark beside what it re-ran."""

    DEFAULT_CSS = "ComparisonPane TextBlock { height: auto; }"

    def compose(self) -> ComposeResult:
        """What is compared, and the comparison."""
        yield TextBlock(id="compared")
        yield ComparisonView(id="sides")

    def on_mount(self) -> None:
        """The sides, or ask for the older one."""
        run, base = self.stored.result, self.stored.card.partner
        pairs = pairs_of_run(run)
        about = self.query_one("#compared", TextBlock)
        if pairs:
            more = f"; c compares with {short_id(base)}{self._why()}" if base else ""
            about.show_lines([f" sides measured in turns, so that a verdict holds{more}"])
            self.query_one(ComparisonView).show(Material(run, run, pairs))
        elif base:
            about.show_lines([f" beside {short_id(base)}{self._why()}: measured at different times, so no verdict"])
            page = cast("Page", self.screen)
            one = self.stored.row.id
            page.ask(
                lambda: (page.desk.compare(base, one), page.desk.open(base)),
                self._show_past,
                group="past",
                otherwise=self._refuse,
            )

    def _why(self) -> str:
        card = self.stored.card
        return ", which it re-ran" if card.partner == card.rerun_of else ", as its form asked"

    def _show_past(self, found: tuple[SideBySide, StoredBenchmark]) -> None:
        side, old = found
        material = Material(old.result, self.stored.result, pairs_of_sides(side), side)
        self.query_one(ComparisonView).show(material, side.environment)

    def _refuse(self, error: TuibenchError) -> None:
        self.query_one("#compared", TextBlock).show_lines([(f" {error.message}", "warn"), f" {error.hint}"])
