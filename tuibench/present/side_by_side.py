"""Two stored results in two columns: each pair of cells with its ratio, then the other differences."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from tuibench.core.ids import short_id
from tuibench.core.result import CellPair, Comparison, Figure, SideBySide
from tuibench.core.text import cut, pad, show, width_of
from tuibench.core.units import count_of, ms, short
from tuibench.present.amount import plus_minus, ratio_digits
from tuibench.present.json_export import finite, side_values
from tuibench.present.reason import all_words, no_interval_words
from tuibench.present.table import as_text

WIDTH = 80
SCHEMA = 1
_MAX_CHARS = 500
_GAP = "  "
_NARROWEST = 8
_LEGEND = "Ratio: new / old in time (below 1 is faster), measured at different times."
_NO_DIFFERENCE = "Environment: nothing that matters for speed is known to differ."


def side_by_side(side: SideBySide, width: int = WIDTH, ascii_only: bool = False) -> str:
    """Return the text: a row per pair (two lines if the settings are too long), notes, environments."""
    lines = [*_table(side, width), *_notes(side)]
    lines += [f"Only in {show(short_id(side.old_id), 20)}: {show(name, _MAX_CHARS)}" for name in side.old_only]
    lines += [f"Only in {show(short_id(side.new_id), 20)}: {show(name, _MAX_CHARS)}" for name in side.new_only]
    lines += [_LEGEND] if side.comparisons else []
    lines += [f"Environment: {line}" for line in all_words(side.environment)] or [_NO_DIFFERENCE]
    return as_text(lines, ascii_only)


def document(side: SideBySide) -> dict[str, Any]:
    """Return the comparison as plain values for `--json`; every number is finite."""
    reasons: dict[str, str] = {}
    plain: dict[str, Any] = finite({"schema": SCHEMA, **side_values(side)}, "", reasons)
    return plain | {"reasons": reasons}


def dumps(side: SideBySide) -> str:
    """Return the document as ASCII text, which every terminal and codec accepts."""
    return json.dumps(document(side), indent=2, ensure_ascii=True, allow_nan=False) + "\n"


def _table(side: SideBySide, width: int) -> list[str]:
    if not side.pairs:
        return ["No matching cells: nothing to compare."]
    heads = ["", f"old {show(short_id(side.old_id), 20)}", f"new {show(short_id(side.new_id), 20)}", "ratio"]
    rows = [[show(p.name, _MAX_CHARS), _figure(p.old, p), _figure(p.new, p), _ratio(p.comparison)] for p in side.pairs]
    widths = [max(width_of(row[i]) for row in (heads, *rows)) for i in range(4)]
    room = width - sum(widths[1:]) - len(_GAP) * 3
    if widths[0] <= room:
        return [_join(row, widths) for row in (heads, *rows)]
    # Print the figures below the settings, so that neither is cut.
    widths[0] = len(_GAP)
    lines = [_join(heads, widths)]
    for row in rows:
        lines += [cut(row[0], max(width, _NARROWEST)), _join(["", *row[1:]], widths)]
    return lines


def _join(row: list[str], widths: list[int]) -> str:
    return _GAP.join(pad(text, room) for text, room in zip(row, widths, strict=True)).rstrip()


def _figure(figure: Figure, pair: CellPair) -> str:
    value = figure.estimate.value
    if value is None:
        return show(figure.status, 20)
    amount = ms(value) if pair.unit == "ms" else f"{short(value)}/s"
    return " ".join(filter(None, [amount, plus_minus(figure.estimate), show(figure.grade, 4)]))


def _ratio(comparison: Comparison | None) -> str:
    if comparison is None:
        return "-"
    found = comparison.verdict
    if found.low is None or found.high is None:
        return ratio_digits(found.ratio)
    return f"{ratio_digits(found.ratio)} ({ratio_digits(found.low)} to {ratio_digits(found.high)})"


def _notes(side: SideBySide) -> Iterator[str]:
    """Yield reasons for missing ratios and intervals, and unequal conditions; each reason once."""
    total = len(side.pairs)
    yield from _counted((no_interval_words(pair.reason) for pair in side.pairs if pair.reason), total)
    yield from _counted((text for pair in side.pairs for text in all_words(pair.bars)), total, "Not the same: ")


def _counted(texts: Iterable[str], total: int, prefix: str = "") -> Iterator[str]:
    for text, count in Counter(texts).items():
        many = f" ({count} of {count_of(total, 'cell')})" if total > 1 else ""
        yield f"{prefix}{show(text, _MAX_CHARS)}{many}"
