"""Two profiles of one kind compared by layer, the greatest difference first."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import ClassVar

from textual.binding import BindingType
from textual.widget import Widget

from tuibench.core.errors import TuibenchError
from tuibench.core.profile import Profile
from tuibench.core.stored import StoredBenchmark
from tuibench.core.units import count_of
from tuibench.present.plots.drawing import wrapped
from tuibench.present.profile.pairs import Pairs, pairs_of
from tuibench.tui import key
from tuibench.tui.screens.comparison.screen import ComparisonPage
from tuibench.tui.screens.detail.facts import Fact, hung
from tuibench.tui.widgets.field import FilterLine
from tuibench.tui.widgets.painted import LineLike, shown
from tuibench.tui.widgets.record_table import Line, RecordTable, line_of
from tuibench.tui.widgets.status_line import Notice
from tuibench.tui.widgets.text_block import TextBlock
from tuibench.tui.widgets.title_line import RuleLine

Sides = tuple[StoredBenchmark, StoredBenchmark]
Compared = tuple[Sides, Pairs | None, bool]
"""The older and newer benchmark, their pairs of layers, and True if the newer one is the baseline."""
_INDENT = 11
_LEAST_LINES, _MOST_LINES, _TALL = 6, 14, 30
"""Most lines above the pairs on a low and a tall terminal, and the lines of a tall one."""


class ProfileComparisonScreen(ComparisonPage):
    """Compares two profiles; matches layers by the nodes of the model, however the engine fused them."""

    what = "Comparison of profiles"
    CSS_PATH = "profile_comparison.tcss"
    BINDINGS: ClassVar[list[BindingType]] = key.bindings(only=("copy-command", "filter", "side"))
    words: ClassVar[Mapping[str, str]] = {**key.ONE_WORD, "side": "swap"}
    hints: tuple[str, ...] = ("open", "side", "filter", "copy-command", "wide", "back", "palette", "help")
    about = (
        "Two profiles layer by layer: those of one model are matched by their nodes, whatever the engine fused with "
        "what. The greatest difference stands first. They were measured at different times, so what is clear, as "
        "the intervals of both lie apart, may still be the machine: below the heading stands what else is known to "
        "differ. f makes the other one the base, and enter shows all of a pair."
    )

    def __init__(self, old: str, new: str) -> None:
        super().__init__(old, new)
        self.text = ""
        self._sides: Sides | None = None
        self._pairs: Pairs | None = None
        self._turned = self._wanted = False
        """True if the newer profile is the baseline: as shown, and as requested last."""

    def body(self) -> Iterable[Widget]:
        """Yield the summary, the other differences, and the pairs."""
        yield FilterLine(id="filter")
        yield TextBlock(id="whole")
        yield RuleLine()
        yield RecordTable(id="pairs")

    @property
    def is_swapped(self) -> bool:
        """True if the newer profile is the base."""
        return self._turned

    @property
    def table(self) -> RecordTable:
        """The table of pairs."""
        return self.query_one("#pairs", RecordTable)

    def load(self) -> None:
        """Read both records once; a stored record never changes."""
        if self._sides is None:
            self.table.empty = ("comparing them ...",)
            self._compare(False)

    def _compare(self, turned: bool) -> None:
        """Compare in a thread: thousands of layers take too long for a key press."""
        services, known, one, other = self.services, self._sides, self.old, self.new

        def work() -> Compared:
            sides = known or (services.library.get(one), services.library.get(other))
            old, new = sides[::-1] if turned else sides
            profiles = old.result.profile, new.result.profile
            if profiles[0] is None or profiles[1] is None:
                return sides, None, turned
            differ = services.exchange.differences(old.result, new.result)
            return sides, pairs_of(profiles[0], profiles[1], differ), turned

        self.request(work, self._show, group="comparison", otherwise=self.refuse)

    def _show(self, found: Compared) -> None:
        self._sides, pairs, self._turned = found
        self.names = (self._sides[0].metadata.name, self._sides[1].metadata.name)
        if pairs is None:
            self.refuse(_unlike(self._sides))
            return
        self._pairs = pairs
        self.show_title()
        self._show_pairs()
        self._show_whole()

    def _show_whole(self) -> None:
        pairs = self._pairs
        if pairs is None:
            return
        block, width = self.query_one("#whole", TextBlock), max(self.size.width - 2, 1)
        lines: list[LineLike] = [(pairs.head, "title"), *((f"differs: {text}", "warn") for text in pairs.words)]
        if unseen := self.table.dropped:
            lines.append((f"w shows more columns: {', '.join(unseen)}", "dim"))
        rows = [part for line in lines for part in wrapped(block.legible_row(shown(line)), width)]
        most = _MOST_LINES if self.size.height >= _TALL else _LEAST_LINES
        if len(rows) > most:
            left = count_of(len(rows) - most + 1, "line")
            rows[most - 1 :] = [((f"{left} more: the command that y copies prints them", "warn"),)]
        block.show_lines([((" ", ""), *row) for row in rows])

    def _show_pairs(self) -> None:
        pairs = self._pairs
        if pairs is None:
            return
        nothing = (f"No pair has all of these words: {self.text}", "", "esc   all of them again")
        self.table.empty = nothing if self.text else ("Neither has any layer.",)

        def line(key: str) -> Line:
            return line_of(pairs.columns, key, pairs.rows[int(key)])

        self.table.show_rows(pairs.columns, pairs.find(self.text), line)

    def on_record_table_widened(self, message: RecordTable.Widened) -> None:
        """Update the note on hidden columns."""
        super().on_record_table_widened(message)
        self._show_whole()

    def on_resize(self) -> None:
        """Wrap the text again, after the table has chosen its columns for the new width."""
        self.call_after_refresh(self._show_whole)

    # Keys

    def on_record_table_opened(self, message: RecordTable.Opened) -> None:
        """Show all facts of a pair."""
        message.stop()
        if self._pairs is None:
            return
        width = max(self.size.width - 2, 20)
        rows = [
            ((" ", ""), *row)
            for fact in self._pairs.facts(self._pairs.rows[int(message.key)][1])
            for row in hung(Fact(*fact), _INDENT, width, self.table.legible)
        ]
        self.app.push_screen(Notice("One pair", rows))

    def action_side(self) -> None:
        """Swap the baseline."""
        if self._pairs is not None:
            self._wanted = not self._wanted
            self._compare(self._wanted)

    def action_filter(self) -> None:
        """Open the filter line."""
        self.query_one(FilterLine).open_with(self.text)

    def on_filter_line_typed(self, message: FilterLine.Typed) -> None:
        """Filter the pairs while the user types."""
        message.stop()
        self._filter_by(message.text)

    def _filter_by(self, text: str) -> None:
        if text != self.text:
            self.text = text
            self._show_pairs()

    def action_back(self) -> None:
        """Clear the filter, else go back."""
        if self.text:
            self._filter_by("")
        else:
            super().action_back()


def _has_layers(profile: Profile | None) -> bool:
    return profile is not None and (profile.performance or profile.loss) is not None


def _unlike(sides: Sides) -> TuibenchError:
    """Return why the two cannot be compared."""
    kinds = [each.row.kind for each in sides]
    if kinds[0] != kinds[1] or not kinds[0]:
        return TuibenchError("profiles_unlike", kinds=kinds)
    empty = [each.row.id for each in sides if not _has_layers(each.result.profile)]
    return TuibenchError("profiles_empty", ids=empty)
