"""The profiles of a project, of one kind; below them what it has without a measurement."""

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
    """Sorted, filtered and marked as benchmarks are."""

    sorts = SORTS
    nothing = ("No profile.", "", "A profile is made in a project, by n.")

    def __init__(self, kind: str, *, has_theory: bool, id: str, classes: str | None = None) -> None:  # noqa: A002 - Textual's name
        """`kind` is performance or loss."""
        self.kind = kind
        # Not before there are rows: the cursor would stay on what stands last.
        self._theory = ""
        super().__init__(id=id, classes=classes)
        self._theory = _THEORIES[kind] if has_theory else ""

    @property
    def word(self) -> str:  # type: ignore[override]
        """For the title."""
        return f"{self.kind.capitalize()} profiles"

    @property
    def kept(self) -> str:  # type: ignore[override]
        """The order of each kind is its own."""
        return f"{self.kind}_profiles"

    def make_rows(self, rows: Sequence[BenchmarkRow] = (), runs: Sequence[RunRow] = ()) -> BenchmarkRows:
        """Those of this kind."""
        mine = [row for row in rows if row.kind == self.kind]
        return ProfileRows(self.kind, self._theory, mine, self.runs_of_mine(runs))

    def runs_of_mine(self, runs: Sequence[RunRow]) -> tuple[RunRow, ...]:
        """Runs that make a profile of this kind."""
        return tuple(row for row in runs if row.info.kind == self.kind)

    def columns(self, glyphs: Glyphs) -> tuple[Column, ...]:
        """See profile_rows."""
        return columns(glyphs, self.kind)

    def refresh_lines(self) -> None:
        """What stands last gets no cursor that another line has lost, and gives it back where it had none beside it."""
        table, theory = self.table, self._theory
        was, alone = table.cursor_key, table.keys == (theory,)
        super().refresh_lines()
        records = [one for one in table.keys if one != theory]
        if theory and records and table.cursor_key == theory and (alone or was != theory):
            table.move_to(records[0 if alone else -1])

    def preview_of_theory(self, name: str) -> list[LineLike] | None:
        """What it is, and what more there could be."""
        if name != self._theory:
            return None
        title, origin, about = THEORIES[name]
        return [(f"{title}: {origin}", "title"), about, (_MORE[name], "dim")]

    def preview(self, name: str, desk: Desk, width: int, glyphs: Glyphs, ascii_only: bool) -> list[LineLike]:
        """What a profile says, in a few lines."""
        return preview_lines(desk.open(name), width, glyphs)
