"""The preview below a list of profiles."""

from __future__ import annotations

from tuibench.core.card import StoredBenchmark
from tuibench.core.short_id import short_id
from tuibench.report.headline import result_headline
from tuibench.tui.glyph import Glyphs
from tuibench.tui.screens.benchmark_preview import fold
from tuibench.tui.screens.profile_words import processes
from tuibench.tui.widgets.row import LineLike


def preview_lines(stored: StoredBenchmark, width: int, glyphs: Glyphs) -> list[LineLike]:
    """Return the settings, result and note of a profile."""
    run, row = stored.result, stored.row
    dot = f" {glyphs.dot} "
    sizes = (f"batch {row.batches}" if row.batches else "", f"cores {row.cores}" if row.cores else "")
    dims = [f"{name} {','.join(map(str, values))}" for name, values in run.spec.dims]
    what = (short_id(row.id), f'"{row.name}"' if row.name else "", row.models, row.engines, run.spec.precision)
    lines: list[LineLike] = [dot.join(filter(None, (*what, *sizes, *dims)))]
    lines += [(result_headline(run), "title")]
    lines += [(text, "") for text in run.conclusions]
    lines += [(f"note: {stored.metadata.note}", "")] if stored.metadata.note else []
    lines += (
        [(f"re-run of {short_id(stored.metadata.rerun_of)}: c compares", "dim")] if stored.metadata.rerun_of else []
    )
    profile = run.profile
    if profile is not None and profile.performance is not None:
        made = profile.performance
        said = f"{processes(made.processes)}, {made.runs} profiled runs each"
        lines.append((said, "dim"))
    lines += [(f"warning: {text}", "warn") for text in run.warnings]
    return fold(lines, width)
