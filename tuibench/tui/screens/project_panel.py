"""The facts of a project, beside the list of all projects."""

from __future__ import annotations

from collections.abc import Sequence

from tuibench.core.card import BenchmarkRow
from tuibench.core.project import ProjectRow
from tuibench.core.short_id import short_id
from tuibench.core.units import count_of, size
from tuibench.report.age import age
from tuibench.report.listing import headline_words
from tuibench.tui.widgets.row import LineLike


def panel_lines(row: ProjectRow, newest: Sequence[BenchmarkRow], now: float) -> list[LineLike]:
    """Return name, description, model and the newest results."""
    project = row.project
    lines: list[LineLike] = [(project.name, "title")]
    lines += [(project.description, "dim")] if project.description else []
    if project.versions:
        model = project.versions[-1].model
        weights = sum(stamp.size for stamp in model.external)
        lines += ["", model.asked, (f"{size(model.file.size + weights)}, sha256 {model.sha256[:12]}", "dim")]
        if len(project.versions) > 1:
            last = age(project.versions[-1].created_utc, now)
            lines.append((f"{count_of(len(project.versions), 'version')}, the last {last} old", "dim"))
    lines += [f"{name} = {value}" for name, value in project.dims.items()]
    stored = f", {size(row.size_bytes)}" if row.size_bytes >= 0 else ""
    if row.benchmarks >= 0:
        lines += ["", (f"{row.held}{stored}", "dim")]
    for one in newest:
        lines += ["", ((f"{short_id(one.id)} ", "title"), (f"{age(one.started_utc, now)}  {one.name}", "dim"))]
        lines.append(headline_words(one))
    return lines
