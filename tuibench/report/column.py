"""Rows of a list as aligned plain lines; a narrow terminal drops the least important columns first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tuibench.report.style import fit, fit_apart, pad, width_of

_GAP = "  "


@dataclass(frozen=True, slots=True)
class Column:
    """One column, with the ways to make it narrower."""

    title: str
    right: bool = False
    least: int | None = None
    """Least width after a cut; None if it is never cut."""
    rank: int = 0
    """0 is always shown; the highest rank is dropped first."""
    middle: bool = False
    """True if it is cut in the middle, not at the end."""


def lay_out(columns: Sequence[Column], rows: Sequence[Sequence[str]], width: int | None) -> list[str]:
    """Return a line of titles and one per row; `width` None cuts nothing, for pipes."""
    texts = [[column.title, *(row[i] for row in rows)] for i, column in enumerate(columns)]
    # Drop optional columns without any text.
    kept = [i for i, column in enumerate(columns) if column.rank == 0 or any(texts[i][1:])]
    natural = {i: max(map(width_of, texts[i])) for i in kept}
    if width is not None:
        kept = _drop(columns, kept, natural, width)
    widths = dict(natural) if width is None else _shrink(columns, kept, natural, width)
    last = kept[-1]
    laid = [_set(columns[i], texts[i], widths[i], natural[i], pads=i != last) for i in kept]
    return [_GAP.join(line).rstrip() for line in zip(*laid, strict=True)]


def _drop(columns: Sequence[Column], kept: list[int], natural: dict[int, int], width: int) -> list[int]:
    while _least_total(columns, kept, natural) > width:
        able = [i for i in kept if columns[i].rank]
        if not able:
            break
        kept = [i for i in kept if i != max(able, key=lambda i: columns[i].rank)]
    return kept


def _least_total(columns: Sequence[Column], kept: Sequence[int], natural: dict[int, int]) -> int:
    return sum(_floor(columns[i], natural[i]) for i in kept) + len(_GAP) * (len(kept) - 1)


def _floor(column: Column, natural: int) -> int:
    return natural if column.least is None else min(column.least, natural)


def _shrink(columns: Sequence[Column], kept: Sequence[int], natural: dict[int, int], width: int) -> dict[int, int]:
    """Shorten the widest columns first, down to their least width."""
    widths = {i: natural[i] for i in kept}
    excess = sum(widths.values()) + len(_GAP) * (len(kept) - 1) - width
    while excess > 0:
        able = [i for i in kept if widths[i] > _floor(columns[i], natural[i])]
        if not able:
            break
        widest = max(able, key=lambda i: widths[i])
        widths[widest] -= 1
        excess -= 1
    return widths


def _set(column: Column, texts: list[str], width: int, natural: int, pads: bool) -> list[str]:
    if width >= natural:
        cut = texts
    else:
        cut = fit_apart(texts, width) if column.middle else [fit(text, width) for text in texts]
    return [pad(text, width, column.right) for text in cut] if pads or column.right else cut
