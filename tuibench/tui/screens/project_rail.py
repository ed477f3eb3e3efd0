"""The side of a project's screen where that is wide: its tabs, its model, what it holds."""

from __future__ import annotations

from collections.abc import Sequence

from tuibench.core.project import ProjectRow
from tuibench.core.reference import UNCHANGED, ModelState
from tuibench.core.units import size
from tuibench.report.age import age
from tuibench.tui.glyph import Glyphs
from tuibench.tui.widgets.row import LineLike


def rail_lines(
    tabs: Sequence[str], active: int, row: ProjectRow | None, model: ModelState | None, now: float, glyphs: Glyphs
) -> list[LineLike]:
    """Tabs with their numbers, then what is known of the project so far."""
    lines: list[LineLike] = [
        (f"[{n + 1} {name}]", "title") if n == active else f" {n + 1} {name}" for n, name in enumerate(tabs)
    ]
    if row is None:
        return lines
    project = row.project
    lines += ["", (project.description, "dim")] if project.description else []
    lines += ["", _file_name(project.versions[-1].model.asked)] if project.versions else []
    if model is not None and model.state != UNCHANGED:
        lines.append((f"{glyphs.differs} {model.state}", "warn"))
    lines += [f"{name} = {value}" for name, value in project.dims.items()]
    last = f"last run {_ago(row.last_run_utc, now)}" if row.last_run_utc else "never measured"
    return [*lines, "", row.held, last, f"{size(row.size_bytes)} stored"]


def _file_name(asked: str) -> str:
    return asked.rstrip("/").rpartition("/")[2] or asked


def _ago(utc: str, now: float) -> str:
    words = age(utc, now)
    return f"{words} ago" if words[:1].isdigit() and "-" not in words else words
