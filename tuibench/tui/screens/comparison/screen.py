"""Page that compares two stored benchmarks, and the comparison tab of one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.widget import Widget

from tuibench.core.errors import TuibenchError
from tuibench.core.ids import short_id
from tuibench.core.result import SideBySide
from tuibench.core.stored import StoredBenchmark
from tuibench.present.error.words import hint_words, message_words
from tuibench.present.reason import all_words
from tuibench.tui import key, route
from tuibench.tui.screens.base import Page
from tuibench.tui.screens.comparison.pair import pairs_of_run, pairs_of_sides
from tuibench.tui.screens.comparison.view import ComparisonData, ComparisonView
from tuibench.tui.screens.detail.facts import DetailPane
from tuibench.tui.widgets.record_table import RecordTable
from tuibench.tui.widgets.text_block import TextBlock

Found = tuple[SideBySide, StoredBenchmark, StoredBenchmark]


class ComparisonPage(Page):
    """Base of pages that compare two stored records; either can be the base."""

    follows_store = False
    what: ClassVar[str] = "Comparison"
    """First word of the title."""

    def __init__(self, old: str, new: str) -> None:
        super().__init__()
        self.old = old
        self.new = new
        self.names = ("", "")
        """Names that the user gave, once the records are read."""

    @property
    def is_swapped(self) -> bool:
        """True if the newer record is the base."""
        raise NotImplementedError

    def title_parts(self) -> tuple[str, ...]:
        """Return both ids with their names, the base first."""
        both = [
            f'{short_id(one)} "{name}"' if name else short_id(one)
            for one, name in zip((self.old, self.new), self.names, strict=True)
        ]
        return (self.what, f" {self.dashboard.glyphs.to} ".join(both[:: -1 if self.is_swapped else 1]))

    def refuse(self, error: TuibenchError) -> None:
        """Show why there is no comparison, in place of its table."""
        self.query_one("#pairs", RecordTable).empty = (message_words(error), "", hint_words(error))
        self.explain(error)

    def action_copy_command(self) -> None:
        """Copy the shell command for the same comparison."""
        sides = (self.old, self.new)[:: -1 if self.is_swapped else 1]
        command = " ".join(("tuibench compare", *map(short_id, sides)))
        self.copy_text(lambda: command)


class ComparisonScreen(ComparisonPage):
    """Shows each cell of the newer benchmark beside the matching cell of the older one."""

    BINDINGS: ClassVar[list[BindingType]] = key.bindings(only=("copy-command",))
    hints: tuple[str, ...] = ("side", "figure", "metric", "open", "copy-command", "wide", "back", "palette", "help")
    words: ClassVar[Mapping[str, str]] = {**key.ONE_WORD, "side": "swap"}
    about = (
        "Two benchmarks measured at different times: the ratio of times with its 95 % interval for each pair of "
        "cells, and no verdict, since the machine may have changed between the two. For a verdict, measure both in "
        "one benchmark, which interleaves them. Below the table are both cells of the pair under the cursor, and the "
        "differences between the two environments."
    )

    def body(self) -> Iterable[Widget]:
        """Yield the comparison."""
        yield ComparisonView(id="comparison")

    @property
    def is_swapped(self) -> bool:
        """True if the newer benchmark is the base."""
        return any(view.is_swapped for view in self.query(ComparisonView))

    def load(self) -> None:
        """Read both records once: stored records do not change."""
        if not self.names[0] and not self.query_one(ComparisonView).pair:
            old, new = self.old, self.new
            self.request(
                lambda: (
                    self.services.exchange.side_by_side(old, new),
                    self.services.library.get(old),
                    self.services.library.get(new),
                ),
                self._show,
                group="comparison",
                otherwise=self.refuse,
            )

    def _show(self, found: Found) -> None:
        side, old, new = found
        self.names = (old.metadata.name, new.metadata.name)
        alone = [f"only in {short_id(side.old_id)}: {name}" for name in side.old_only]
        alone += [f"only in {short_id(side.new_id)}: {name}" for name in side.new_only]
        material = ComparisonData(old.result, new.result, pairs_of_sides(side), side)
        self.query_one(ComparisonView).show(material, (*all_words(side.environment), *alone))
        self.show_title()

    def on_record_table_opened(self, message: RecordTable.Opened) -> None:
        """Open the selected cell of the newer benchmark."""
        message.stop()
        view = self.query_one(ComparisonView)
        newer = None if view.pair is None else view.pair.base if view.is_swapped else view.pair.new
        self.dashboard.go(route.detail(self.new, cell=newer.key if newer is not None else ""))

    def on_comparison_view_swapped(self, message: ComparisonView.Swapped) -> None:
        """Update the title, which names the baseline first."""
        message.stop()
        self.show_title()


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
        why = "its original" if metadata.partner == metadata.rerun_of else "chosen in the form"
        name = f"{short_id(metadata.partner)}, {why}" if metadata.partner else ""
        about, view = self.query_one("#compared", TextBlock), self.query_one(ComparisonView)
        if past is not None:
            about.show_lines([f" compared with {name}: measured at different times, no verdict"])
            material = ComparisonData(past.old.result, run, pairs_of_sides(past.side), past.side)
            view.show(material, all_words(past.side.environment))
        else:
            key = self.page.shown_key("compare")
            more = f"; {key} compares with {name}" if name else ""
            about.show_lines([f" measured interleaved: verdicts are valid{more}"])
            view.show(ComparisonData(run, run, pairs_of_run(run)))
