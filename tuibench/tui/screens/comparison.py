"""Comparison of two stored benchmarks."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from textual.binding import BindingType
from textual.widget import Widget

from tuibench.core.card import StoredBenchmark
from tuibench.core.comparison import SideBySide
from tuibench.core.errors import TuibenchError
from tuibench.core.short_id import short_id
from tuibench.tui import key, route
from tuibench.tui.desk import Pulse
from tuibench.tui.screens.base import Page
from tuibench.tui.screens.comparison_figure import Material
from tuibench.tui.screens.comparison_pair import pairs_of_sides
from tuibench.tui.screens.comparison_view import ComparisonView
from tuibench.tui.widgets.record_table import RecordTable

Found = tuple[SideBySide, StoredBenchmark, StoredBenchmark]


class ComparisonScreen(Page):
    """Shows each cell of the newer benchmark beside the matching cell of the older one."""

    BINDINGS: ClassVar[list[BindingType]] = key.bindings(only=("copy-command",))
    hints: tuple[str, ...] = ("side", "figure", "metric", "open", "copy-command", "wide", "back", "palette", "help")
    about = (
        "Two benchmarks that were measured at different times: a ratio of times with its 95 % interval for each pair "
        "of cells, and no verdict, since the machine may have changed between the two. For a verdict measure both "
        "sides in one benchmark, where they take turns. Below the table stand both sides of the pair under the "
        "cursor, and what differs between the two environments."
    )

    def __init__(self, old: str, new: str) -> None:
        super().__init__()
        self.old = old
        self.new = new
        self._names = ("", "")

    def body(self) -> Iterable[Widget]:
        """Yield the comparison."""
        yield ComparisonView(id="comparison")

    def title_parts(self) -> tuple[str, ...]:
        """Return both ids with their users' names."""
        both = [
            f'{short_id(one)} "{name}"' if name else short_id(one)
            for one, name in zip((self.old, self.new), self._names, strict=True)
        ][:: -1 if self._is_turned else 1]
        return ("Comparison", f"{both[0]} {self.dashboard.glyphs.to} {both[1]}")

    @property
    def _is_turned(self) -> bool:
        return any(view.is_turned for view in self.query(ComparisonView))

    def load(self) -> None:
        """Read both records once: stored records do not change."""
        if not self._names[0] and not self.query_one(ComparisonView).pair:
            old, new = self.old, self.new
            self.ask(
                lambda: (self.desk.compare(old, new), self.desk.open(old), self.desk.open(new)),
                self._show,
                group="comparison",
                otherwise=self._refuse,
            )

    def pulse_changed(self, pulse: Pulse, before: Pulse | None) -> None:
        """Do nothing: other sessions cannot change this page."""

    def _show(self, found: Found) -> None:
        side, old, new = found
        self._names = (old.metadata.name, new.metadata.name)
        alone = [f"only in {short_id(side.old_id)}: {name}" for name in side.old_only]
        alone += [f"only in {short_id(side.new_id)}: {name}" for name in side.new_only]
        material = Material(old.result, new.result, pairs_of_sides(side), side)
        self.query_one(ComparisonView).show(material, (*side.environment, *alone))
        self.show_title()

    def _refuse(self, error: TuibenchError) -> None:
        self.query_one("#pairs", RecordTable).empty = (error.message, "", error.hint)
        self.explain(error)

    def on_record_table_opened(self, message: RecordTable.Opened) -> None:
        """Open the newer benchmark."""
        message.stop()
        self.dashboard.go(route.detail(self.new))

    def on_comparison_view_turned(self, message: ComparisonView.Turned) -> None:
        """Update the title, which names the baseline first."""
        message.stop()
        self.show_title()

    def action_copy_command(self) -> None:
        """Copy the equivalent shell command."""
        sides = (self.new, self.old) if self._is_turned else (self.old, self.new)
        command = " ".join(("tuibench compare", *map(short_id, sides)))
        self.ask(lambda: self.desk.keep_copy(command), lambda file: self._show_copied(command, file), group="command")

    def _show_copied(self, command: str, file: str) -> None:
        self.app.copy_to_clipboard(command)
        self.say(f"copied, and kept in {file}: {command}")
