"""Tables of layers as plain lines, from the same columns as on screens."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from tuibench.core.text import show
from tuibench.core.units import count_of
from tuibench.core.width import wrapped as by_columns
from tuibench.insight.bar import Summary
from tuibench.insight.column import Column
from tuibench.plots.bar import draw_bars
from tuibench.plots.styled import text_of
from tuibench.report.column import Column as Laid
from tuibench.report.column import lay_out
from tuibench.report.profile_heading import ProfileHeading, heading_lines
from tuibench.report.profile_rows import LayerDetail, cut
from tuibench.report.profile_shown import Shown
from tuibench.report.style import fit, to_ascii

R = TypeVar("R")
_MOST_BARS = 12
_WIDE = 100
"""Terminal width from which more than the narrow table is shown."""
_NARROWEST = 20
_LABEL = 22


def layer_table(columns: Sequence[Column[R]], rows: Sequence[R], width: int, narrow: int) -> list[str]:
    """Return a line of titles and one per row; below 100 columns only the first `narrow` columns."""
    shown = columns if width >= _WIDE else columns[:narrow]
    laid = [Laid(each.title, each.right, each.least, each.rank, each.middle) for each in shown]
    limits = [each.most if width < _WIDE else None for each in shown]
    texts = [[_limited(each.text(row), most) for each, most in zip(shown, limits, strict=True)] for row in rows]
    return lay_out(laid, texts, width)


def _limited(text: str, most: int | None) -> str:
    return text if most is None else fit(text, most)


def bar_lines(bars: Sequence[tuple[str, float, str]], width: int, ascii_only: bool) -> list[str]:
    """Return one line per (label, length, text) up to a limit, then the number of the others."""
    more = len(bars) - _MOST_BARS
    rest = [f"and {count_of(more, 'more operator')}"] if more > 0 else []
    return [*text_of(draw_bars(bars[:_MOST_BARS], width, ascii_only)).splitlines(), *rest]


def summed_lines(found: Summary, shown: Shown) -> list[str]:
    """Return the bars of a summary with its notes; without bars, the reason."""
    words = [line for each in found.words for line in wrapped(each, shown.width)]
    bars = [(bar.label, bar.length, bar.text) for bar in found.bars]
    if not bars and not words:
        return [f"{found.title}: none"]
    return [f"{found.title}:", *bar_lines(bars, shown.width, shown.ascii_only), *words]


def detail_lines(details: Sequence[LayerDetail], heading: ProfileHeading, shown: Shown) -> list[str]:
    """Return layers one after the other, each with a line per detail."""
    kept = cut(details, shown)
    lines = heading_lines(heading)
    for each in kept:
        lines += ["", each.title, *(line for pair in each.pairs for line in _pair_lines(*pair, shown.width))]
    return finished([*lines, *left_out(len(kept), len(details), "--top N")], shown.ascii_only)


def _pair_lines(label: str, value: str, width: int) -> list[str]:
    """Return a label, and beside it the value on as many lines as it needs."""
    room = max(width - _LABEL - 2, _NARROWEST)
    first, *more = by_columns(value, room) or [""]
    return [f"  {label:<{_LABEL}}{first}", *(f"{'':<{_LABEL + 2}}{line}" for line in more)]


def results_title(shown: Shown, what: str = "") -> str:
    """Return the title of the table of layers, with its filter."""
    return f"Layer results{what}" + (f" with '{show(shown.text, 60)}'" if shown.text else "")


def nothing_words(shown: Shown) -> str:
    """Return the words in place of a table without rows."""
    return "No layer holds that text" if shown.text else "There is no layer to show"


def left_out(shown: int, of: int, how: str) -> list[str]:
    """Return a line about the rows that are not shown, and how to see them."""
    return [f"{of - shown} more rows ({how})"] if shown < of else []


def wrapped(text: str, width: int) -> list[str]:
    """Return a sentence on as many lines as it needs, all but the first indented."""
    # Keep a number and its per cent sign on one line.
    whole = text.replace(" %", "\u00a0%")
    lines = by_columns(whole, max(width, _NARROWEST), "  ")
    return [line.replace("\u00a0", " ") for line in lines] or [""]


def finished(lines: Sequence[str], ascii_only: bool) -> list[str]:
    """Return the lines, in ASCII if requested."""
    return [to_ascii(line) for line in lines] if ascii_only else list(lines)


def capital(text: str) -> str:
    """Return a sentence with a capital first letter."""
    return f"{text[:1].upper()}{text[1:]}"
