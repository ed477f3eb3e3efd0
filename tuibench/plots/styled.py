"""Styled text rows for figures: parts have roles, and each surface chooses the colours."""

from __future__ import annotations

from collections.abc import Iterable

from tuibench.core.width import fit, width_of, wrapped

Span = tuple[str, str]
"""(text, style)."""
Row = tuple[Span, ...]
"""One line of a figure; all rows of a figure have the same width."""

STYLES = ("plain", "dim", "axis", "series-1", "series-2", "series-3", "ideal", "mark", "good", "bad")
"""All roles of parts; the characters alone must convey each role's meaning, too."""
SERIES_STYLES = ("series-1", "series-2", "series-3")


def text_of(rows: Iterable[Row]) -> str:
    """Return the figure without styles and trailing blanks, for pipes, exports and tests."""
    return "\n".join("".join(text for text, _ in row).rstrip() for row in rows)


def joined(spans: Iterable[Span]) -> Row:
    """Merge neighbouring parts of the same style."""
    row: list[Span] = []
    for text, style in spans:
        if row and row[-1][1] == style:
            row[-1] = (row[-1][0] + text, style)
        elif text:
            row.append((text, style))
    return tuple(row)


def filled(spans: Iterable[Span], width: int) -> Row:
    """Return the parts as a row of exactly `width` columns: padded with blanks or cut with an ellipsis."""
    row: list[Span] = []
    room = width
    for text, style in spans:
        kept = fit(text, room)
        row.append((kept, style))
        room -= width_of(kept)
        if kept != text:
            break
    return joined([*row, (" " * room, "plain")])


def message_rows(message: str, width: int, height: int, ascii_only: bool = False) -> tuple[Row, ...]:
    """Return a figure with only a centred message, wrapped as needed."""
    ellipsis = "~" if ascii_only else "…"
    lines = wrapped(message, width)
    if len(lines) > height > 0:
        # Join the remaining lines into the last one, so that its ellipsis shows the cut.
        lines = [*lines[: height - 1], " ".join(lines[height - 1 :])]
    lines = [fit(line, width, ellipsis) for line in lines]
    first = (height - len(lines)) // 2 if len(lines) > 1 else (height - 1) // 2
    texts = {first + number: line for number, line in enumerate(lines)}
    rows = []
    for at in range(height):
        line = texts.get(at, "")
        left = " " * ((width - width_of(line)) // 2)
        rows.append(filled([(left + line, "dim")] if line else [], width))
    return tuple(rows)
