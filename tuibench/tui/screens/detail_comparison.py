"""The comparison tab: the operands within one benchmark, or the benchmark with the one it re-ran."""

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
    """The benchmark that was re-run, and its comparison with this one."""

    side: SideBySide
    old: StoredBenchmark


def needs_past(stored: StoredBenchmark) -> bool:
    """Return whether the tab shows the benchmark that was re-run: only if this one has no comparisons."""
    return not stored.result.comparisons and bool(stored.metadata.partner)


class ComparisonPane(DetailPane):
    """Interleaved operands if the benchmark has any; else the benchmark beside the one it re-ran."""

    DEFAULT_CSS = "ComparisonPane TextBlock { height: auto; }"

    def __init__(self, stored: StoredBenchmark, past: Past | None, *, id: str) -> None:  # noqa: A002 - Textual's name
        super().__init__(stored, id=id)
        self._past = past

    def compose(self) -> ComposeResult:
        """Yield the heading and the comparison."""
        yield TextBlock(id="compared")
        yield ComparisonView(id="sides")

    def on_mount(self) -> None:
        """Show both operands, and the kind of comparison."""
        run, metadata, past = self.stored.result, self.stored.metadata, self._past
        why = "which it re-ran" if metadata.partner == metadata.rerun_of else "as its form asked"
        name = f"{short_id(metadata.partner)}, {why}" if metadata.partner else ""
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
