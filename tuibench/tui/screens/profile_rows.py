"""The lines of a list of profiles: runs, stored profiles, and below them the theoretical one of each project."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tuibench.core.card import DAMAGED, BenchmarkRow
from tuibench.core.profile_spec import LOSS, PERFORMANCE
from tuibench.core.short_id import short_id
from tuibench.core.trash import NEWER
from tuibench.core.watch import RunRow
from tuibench.report.age import age
from tuibench.tui.desk_profile import APPROXIMATED, FLOPS
from tuibench.tui.glyph import Glyphs
from tuibench.tui.screens.benchmark_rows import BenchmarkRows, run_words, style_of_state
from tuibench.tui.screens.best import engine_word
from tuibench.tui.screens.run_cell import SIGNS
from tuibench.tui.widgets.record_table import Column, Line

SORTS = ("age", "name", "cores", "best", "grade")
"""Sort orders of `s`; the first is newest first."""
_OF_KIND: dict[str, Callable[[Glyphs], tuple[Column, ...]]] = {
    PERFORMANCE: lambda glyphs: (
        Column("best", "TIME", 20, grow=True, wide=60, part=4),
        Column("half", f"{glyphs.plus_minus}%", 4, right=True),
        Column("grade", "G", 1),
    ),
    LOSS: lambda _: (Column("best", "MOST SENSITIVE", 26, grow=True, wide=60, part=3),),
}
THEORIES = {
    FLOPS: ("FLOPS", "theoretical", "what each layer costs by its shapes: nothing of it is measured"),
    APPROXIMATED: ("Approximated", "from weights", "what weights alone tell of each layer: a proxy, nothing is run"),
}
"""Name, origin and description."""


def columns(glyphs: Glyphs, kind: str) -> tuple[Column, ...]:
    """Return the columns from left to right; on narrow screens those of the highest rank are hidden first."""
    return (
        Column("state", "", 1, frozen=True),
        Column("id", "ID", 4, frozen=True),
        Column("age", "AGE", 4, right=True, frozen=True),
        Column("name", "NAME", 12, grow=True, wide=30, part=5, frozen=True),
        Column("engine", "ENGINE", 7, rank=3, wide=12, part=8),
        Column("batch", "BATCH", 5, rank=2, right=True),
        Column("cores", "CORES", 5, rank=1, right=True),
        *_OF_KIND[kind](glyphs),
        Column("note", "NOTE", 16, grow=True, rank=7, wide=40),
    )


class ProfileRows(BenchmarkRows):
    """Rows of profiles, as those of benchmarks; the theoretical profile is always last."""

    def __init__(self, kind: str, theory: str, rows: Sequence[BenchmarkRow] = (), runs: Sequence[RunRow] = ()) -> None:
        """Create the rows; `theory` is FLOPS or APPROXIMATED, '' without a project."""
        self.kind = kind
        self.theory = theory
        super().__init__(rows, runs)

    def keys(self, sort: str, reverse: bool, text: str) -> tuple[str, ...]:
        """Return ids of runs, stored profiles and the theoretical profile, in this order."""
        words = text.casefold().split()
        said = " ".join(THEORIES.get(self.theory, ())).casefold()
        last = (self.theory,) if self.theory and all(word in said for word in words) else ()
        return (*super().keys(sort, reverse, text), *last)

    def line(self, key: str, now: float, glyphs: Glyphs, damaged: bool = False) -> Line:
        """Return one line of the table; a damaged record shows no number."""
        if key == self.theory:
            name, origin, about = THEORIES[key]
            return Line(key, ("", "", "", name, "", "", "", origin, *self._more("", ""), about))
        if key in self.runs:
            return self._run_line(self.runs[key], now, glyphs)
        row = self.stored[key]
        best = self.best(row, glyphs)
        state = "failed" if damaged or row.status in (DAMAGED, NEWER) else ""
        state = state or ("" if row.status == "finished" else "interrupted")
        cells = (
            getattr(glyphs, state) if state else "",
            short_id(row.id),
            age(row.started_utc, now),
            row.name,
            engine_word(row.engines),
            row.batches,
            row.cores,
            "its record is damaged" if damaged else best.text,
            *self._more("" if damaged else best.plus_minus, "" if damaged else row.grade),
            row.note,
        )
        return Line(key, cells, style_of_state(state))

    def _more(self, half: str, grade: str) -> tuple[str, ...]:
        """Return interval and grade; loss profiles have no such columns."""
        return (half, grade) if self.kind == PERFORMANCE else ()

    def _run_line(self, row: RunRow, now: float, glyphs: Glyphs) -> Line:
        info = row.info
        state = SIGNS.get(info.state, "")
        cells = (
            getattr(glyphs, state) if state else "",
            short_id(info.id),
            age(info.started_utc, now),
            info.name,
            engine_word(row.engines),
            row.batches,
            row.cores,
            # The sign shows that it is queued, and the column is narrower than that of benchmarks.
            run_words(info, queued=False),
            *self._more("", ""),
            row.note,
        )
        return Line(info.id, cells, style_of_state(state))
