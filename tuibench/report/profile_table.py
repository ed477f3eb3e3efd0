"""Tables of layers as plain lines, from the columns that screens have, too."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from tuibench.insight.column import Column
from tuibench.plots.bar import draw_bars
from tuibench.plots.styled import text_of
from tuibench.report.column import Column as Laid
from tuibench.report.column import lay_out

R = TypeVar("R")
_WIDE = 100
"""Columns of a terminal from which more is shown than the narrow table has."""


@dataclass(frozen=True, slots=True)
class ProfileHeading:
    """What a profile is called: whatever of it is known."""

    name: str = ""
    id: str = ""
    model: str = ""
    started: str = ""
    note: str = ""


def layer_table(columns: Sequence[Column[R]], rows: Sequence[R], width: int, narrow: int) -> list[str]:
    """A line of titles and one per row; below 100 columns only the first `narrow` of them."""
    shown = columns if width >= _WIDE else columns[:narrow]
    laid = [Laid(each.title, each.right, each.least, each.rank, each.middle) for each in shown]
    return lay_out(laid, [[each.text(row) for each in shown] for row in rows], width)


def bar_lines(bars: Sequence[tuple[str, float, str]], width: int, ascii_only: bool) -> list[str]:
    """One line per bar."""
    return text_of(draw_bars(bars, width, ascii_only)).splitlines() if bars else []


def left_out(shown: int, of: int, how: str) -> list[str]:
    """That a table is not the whole one, and how the rest can be seen."""
    return [f"{of - shown} more rows ({how})"] if shown < of else []
