"""The sides of one benchmark against each other, or all of it against what it re-ran."""

from __future__ import annotations

from dataclasses import dataclass

from textual.app import ComposeResult

from tuibench.core.card import StoredBenchmark
from tuibench.core.comparison import SideBySide
from tuibench.core.short_id import short_id
from tuibench.tui.screens.comparison_figure import Material
from tuibench.tui.screens.comparison_pair import pairs_of_run, pairs_of_sides
from tuibench.tui.screens.comparison_view import ComparisonView
from tuibench.tui.screens.detail_pane import DetailPane
from tuibench.tui.widgets.text_block import TextBlock


@dataclass(frozen=True, slots=True)
class Past:
    """What a benchmark re-ran, and how the two compare."""

    side: SideBySide
    old: StoredBenchmark


def needs_past(stored: StoredBenchmark) -> bool:
    """Whether the tab compares with what was re-run: only where the benchmark has no sides of its own."""
    return not stored.result.comparisons and bool(stored.card.partner)


class ComparisonPane(DetailPane):
    """Interleaved sides where the benchmark has some; else the benchmark beside what it re-ran."""

    DEFAULT_CSS = "ComparisonPane TextBlock { height: auto; }"

    def __init__(self, stored: StoredBenchmark, past: Past | None, *, id: str) -> None:  # noqa: A002 - Textual's name
        super().__init__(stored, id=id)
        self._past = past

    def compose(self) -> ComposeResult:
        """What is compared, and the comparison."""
        yield TextBlock(id="compared")
        yield ComparisonView(id="sides")

    def on_mount(self) -> None:
        """Both sides, and what may be said of them."""
        run, card, past = self.stored.result, self.stored.card, self._past
        why = "which it re-ran" if card.partner == card.rerun_of else "as its form asked"
        name = f"{short_id(card.partner)}, {why}" if card.partner else ""
        about, view = self.query_one("#compared", TextBlock), self.query_one(ComparisonView)
        if past is not None:
            about.show_lines([f" beside {name}: measured at different times, so no verdict"])
            material = Material(past.old.result, run, pairs_of_sides(past.side), past.side)
            view.show(material, past.side.environment)
        else:
            key = self.shown_key("compare")
            more = f"; {key} compares with {name}" if name else ""
            about.show_lines([f" measured in turns: a verdict holds{more}"])
            view.show(Material(run, run, pairs_of_run(run)))
