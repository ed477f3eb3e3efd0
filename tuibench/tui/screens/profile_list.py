"""The list of a project's profiles of one kind; the theoretical profile is the last line."""

from __future__ import annotations

from collections.abc import Sequence

from tuibench.core.card import BenchmarkRow
from tuibench.core.profile_spec import LOSS, PERFORMANCE
from tuibench.tui.desk import Desk, RunRow
from tuibench.tui.desk_profile import APPROXIMATED, FLOPS
from tuibench.tui.glyph import Glyphs
from tuibench.tui.screens.benchmark_list import BenchmarkList
from tuibench.tui.screens.benchmark_rows import BenchmarkRows
from tuibench.tui.screens.profile_preview import preview_lines
from tuibench.tui.screens.profile_rows import SORTS, THEORIES, ProfileRows, columns
from tuibench.tui.widgets.record_table import Column
from tuibench.tui.widgets.row import LineLike

_THEORIES = {PERFORMANCE: FLOPS, LOSS: APPROXIMATED}
_MORE = {
    FLOPS: "enter shows it; n measures where the time really goes, on this machine",
    APPROXIMATED: "enter shows it; n measures how outputs change, layer by layer, on your data or on seeded inputs",
}


class ProfileList(BenchmarkList):
    """Sorts, filters and marks like the list of benchmarks."""

    sorts = SORTS
    nothing = ("No profile.", "", "A profile is made in a project, by n.")

    def __init__(self, kind: str, *, has_theory: bool, id: str, classes: str | None = None) -> None:  # noqa: A002 - Textual's name
        """`kind` is performance or loss."""
        self.kind = kind
        # Set after __init__: the cursor would otherwise start on the last line.
        self._theory = ""
        super().__init__(id=id, classes=classes)
        self._theory = _THEORIES[kind] if has_theory else ""

    @property
    def word(self) -> str:  # type: ignore[override]
        """The noun for the title."""
        return f"{self.kind.capitalize()} profiles"

    @property
    def kept(self) -> str:  # type: ignore[override]
        """The key under which this list's order is saved; each kind has its own."""
        return f"{self.kind}_profiles"

    def make_rows(self, rows: Sequence[BenchmarkRow] = (), runs: Sequence[RunRow] = ()) -> BenchmarkRows:
        """Return the rows of this kind."""
        mine = [row for row in rows if row.kind == self.kind]
        return ProfileRows(self.kind, self._theory, mine, self.runs_of_mine(runs))

    def runs_of_mine(self, runs: Sequence[RunRow]) -> tuple[RunRow, ...]:
        """Return the runs that make a profile of this kind."""
        return tuple(row for row in runs if row.info.kind == self.kind)

    def columns(self, glyphs: Glyphs) -> tuple[Column, ...]:
        """Return the columns; see profile_rows."""
        return columns(glyphs, self.kind)

    def refresh_lines(self) -> None:
        """Refresh; never leave the cursor on the theoretical profile unless the user moved it there."""
        table, theory = self.table, self._theory
        was, alone = table.cursor_key, table.keys == (theory,)
        super().refresh_lines()
        records = [one for one in table.keys if one != theory]
        if theory and records and table.cursor_key == theory and (alone or was != theory):
            table.move_to(records[0 if alone else -1])

    def preview_of_theory(self, name: str) -> list[LineLike] | None:
        """Return the preview of the theoretical profile; None for another line."""
        if name != self._theory:
            return None
        title, origin, about = THEORIES[name]
        return [(f"{title}: {origin}", "title"), about, (_MORE[name], "dim")]

    def preview(self, name: str, desk: Desk, width: int, glyphs: Glyphs, ascii_only: bool) -> list[LineLike]:
        """Return the preview of a stored profile."""
        return preview_lines(desk.open(name), width, glyphs)
