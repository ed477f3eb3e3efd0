"""The list of a project's profiles of one kind; the theoretical profile is the last line, with actions of its own."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import partial

from tuibench.core.activity import RunInfo, RunRow
from tuibench.core.ids import short_id
from tuibench.core.spec import LOSS, PERFORMANCE
from tuibench.core.stored import DAMAGED, NEWER, BenchmarkRow, StoredBenchmark
from tuibench.core.units import count_of
from tuibench.present.headline import result_headline
from tuibench.present.listing import PROFILE_COLUMNS, Listed
from tuibench.present.outcome import export_words
from tuibench.present.reason import all_words
from tuibench.services.api import Services
from tuibench.services.form_values import APPROXIMATED, FLOPS
from tuibench.tui.screens.base import Page
from tuibench.tui.screens.benchmark.export import Export, ExportQuestion, carry_out
from tuibench.tui.screens.benchmark.list import BenchmarkList
from tuibench.tui.screens.benchmark.preview import fold
from tuibench.tui.screens.benchmark.rows import BenchmarkRows, Best, engine_word, run_words
from tuibench.tui.widgets.painted import Glyphs, LineLike
from tuibench.tui.widgets.record_table import Line, line_of


def preview_lines(stored: StoredBenchmark, width: int, glyphs: Glyphs) -> list[LineLike]:
    """Return the settings, result and note of a profile."""
    run, row = stored.result, stored.row
    dot = f" {glyphs.dot} "
    sizes = (f"batch {row.batches}" if row.batches else "", f"cores {row.cores}" if row.cores else "")
    dims = [f"{name} {','.join(map(str, values))}" for name, values in run.spec.dims]
    what = (short_id(row.id), f'"{row.name}"' if row.name else "", row.models, row.engines, run.spec.precision)
    lines: list[LineLike] = [dot.join(filter(None, (*what, *sizes, *dims)))]
    lines += [(result_headline(run), "title")]
    lines += [(f"note: {stored.metadata.note}", "")] if stored.metadata.note else []
    lines += (
        [(f"re-run of {short_id(stored.metadata.rerun_of)}: c compares", "dim")] if stored.metadata.rerun_of else []
    )
    profile = run.profile
    if profile is not None and profile.performance is not None:
        made = profile.performance
        said = f"{count_of(made.processes, 'process')}, {made.runs} profiled runs each"
        lines.append((said, "dim"))
    lines += [(f"warning: {text}", "warn") for text in all_words(run.warnings)]
    return fold(lines, width)


SORTS = ("age", "name", "cores", "best", "grade")
"""Sort orders of `s`; the first is newest first."""
THEORIES = {
    FLOPS: ("FLOPS", "theoretical", "costs of each layer, computed from shapes"),
    APPROXIMATED: ("Approximated", "from weights", "loss of each layer, estimated from weights (a proxy)"),
}
"""Name, origin and description."""


class ProfileRows(BenchmarkRows):
    """Rows of profiles, as those of benchmarks; the theoretical profile is always last."""

    def __init__(self, kind: str, theory: str, rows: Sequence[BenchmarkRow] = (), runs: Sequence[RunRow] = ()) -> None:
        """Create the rows; `theory` is FLOPS or APPROXIMATED, '' without a project."""
        self.kind = kind
        self.theory = theory
        self.columns = PROFILE_COLUMNS[kind]
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
            return line_of(self.columns, key, Listed(name=name, result=origin, note=about))
        return super().line(key, now, glyphs, damaged)

    def _asked(self, row: BenchmarkRow, glyphs: Glyphs) -> tuple[str, ...]:
        return engine_word(row.engines), "", ""

    def _state_of(self, row: BenchmarkRow, best: Best) -> str:
        if row.status in (DAMAGED, NEWER):
            return "failed"
        return "" if row.status == "finished" else "interrupted"

    def _run_words(self, info: RunInfo) -> str:
        # The sign shows that it is queued, and the column is narrower than that of benchmarks.
        return run_words(info, queued=False)


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

    def preview(self, name: str, services: Services, width: int, glyphs: Glyphs, ascii_only: bool) -> list[LineLike]:
        """Return the preview of a stored profile."""
        return preview_lines(services.library.get(name), width, glyphs)


class TheoryActions(Page):
    """Mixin placed before `Page`; a profile is named by its project and FLOPS or APPROXIMATED."""

    def copy_theory(self, project: str, what: str) -> None:
        """Copy the shell command for the profile to the clipboard and a file."""
        self.copy_text(lambda: self.services.theory.command(project, what))

    def export_theory(self, project: str, what: str) -> None:
        """Ask for a path and export; the profile describes only the model and contains nothing private."""

        def write(export: Export) -> str:
            path = os.path.abspath(export.path)
            model = self.services.theory.export(project, what, path)
            return export_words(f"the {what} profile of {model}", path, private=True)

        name = THEORIES[what][0]
        question = ExportQuestion(what, name=name, has_private=False)
        self.app.push_screen(question, partial(carry_out, self, write=write))
