"""Rows of styled text for screens and figures, the canvas of dots, and the scales of axes."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from tuibench.core.text import ELLIPSIS, cut, pieces, width_of, wrap

Span = tuple[str, str]
"""(text, style)."""
Row = tuple[Span, ...]
"""One line; all rows of a figure have the same width."""

STYLES = ("", "dim", "axis", "series-1", "series-2", "series-3", "ideal", "mark", "good", "bad")
"""All roles of the parts of figures; the characters alone must convey each role's meaning, too."""
SERIES_STYLES = ("series-1", "series-2", "series-3")


def text_of(rows: Iterable[Row]) -> str:
    """Return the rows without styles and trailing blanks, for pipes, exports and tests."""
    return "\n".join("".join(text for text, _ in row).rstrip() for row in rows)


def row_width(row: Iterable[Span]) -> int:
    """Return the width of all parts together."""
    return sum(width_of(text) for text, _ in row)


def joined(spans: Iterable[Span]) -> Row:
    """Merge neighbouring parts of the same style, so that each style is sent once."""
    row: list[Span] = []
    for text, style in spans:
        if row and row[-1][1] == style:
            row[-1] = (row[-1][0] + text, style)
        elif text:
            row.append((text, style))
    return tuple(row)


def filled(spans: Iterable[Span], width: int, ellipsis: str = ELLIPSIS) -> Row:
    """Return the parts as a row of exactly `width` columns: padded with blanks or cut with an ellipsis."""
    row: list[Span] = []
    room = width
    for text, style in spans:
        kept = cut(text, room, ellipsis)
        row.append((kept, style))
        room -= width_of(kept)
        if kept != text:
            break
    return joined([*row, (" " * room, "")])


def squeezed(row: Row, width: int, ellipsis: str = ELLIPSIS) -> Row:
    """Return at most `width` columns, shortening the longest part first: its neighbours stay whole."""
    spans = list(row)
    while spans and (excess := row_width(spans) - width) > 0:
        lengths = [width_of(text) for text, _ in spans]
        longest = max(lengths)
        if longest <= 1:
            return filled(spans, max(width, 0), ellipsis)
        at = lengths.index(longest)
        # Stop at the next longest; from there the two are shortened in turn.
        floor = max([n for n in lengths if n < longest] + [longest // 2, 1])
        spans[at] = (cut(spans[at][0], max(longest - excess, floor), ellipsis), spans[at][1])
    return tuple(spans)


def spread(left: Row, right: Row, width: int, ellipsis: str = ELLIPSIS) -> Row:
    """Put `left` and `right` at the two ends of a line; if both do not fit, `right` keeps at most half."""
    gap = 1 if right else 0
    if row_width(left) + gap + row_width(right) > width:
        right = squeezed(right, max(width // 2, width - row_width(left) - gap), ellipsis)
        left = squeezed(left, max(width - row_width(right) - gap, 0), ellipsis)
    blanks = " " * (width - row_width(left) - row_width(right))
    return filled((*left, (blanks, ""), *right), width, ellipsis)


def wrapped(row: Row, width: int) -> list[Row]:
    """Break a line at blanks, or within words wider than a line; indent the following lines like the first."""
    if row_width(row) <= width:
        return [row]
    text = row[0][0] if row else ""
    indent = min(len(text) - len(text.lstrip(" ")), width // 2)
    rows: list[Row] = []
    current: list[Span] = []
    used = 0
    for word, style in _words(row, max(width - indent, 1)):
        if used and used + width_of(word.rstrip(" ")) > width:
            rows.append(_trimmed(current))
            current, used = ([(" " * indent, "")] if indent else []), indent
        kept = word if used > indent or not rows else word.lstrip(" ")
        current.append((kept, style))
        used += width_of(kept)
    return [*rows, _trimmed(current)]


def _trimmed(spans: Sequence[Span]) -> Row:
    """Return the spans without trailing blanks, which could exceed the width and cut off a letter."""
    kept = list(spans)
    while kept and not kept[-1][0].rstrip(" "):
        kept.pop()
    return (*kept[:-1], (kept[-1][0].rstrip(" "), kept[-1][1])) if kept else ()


def _words(row: Row, width: int) -> Iterator[Span]:
    for text, style in row:
        for word in re.findall(r" *[^ ]+ *| +", text):
            yield from ((part, style) for part in pieces(word, width))


def message_rows(message: str, width: int, height: int, ascii_only: bool = False) -> tuple[Row, ...]:
    """Return a figure with only a centred message, wrapped as needed."""
    ellipsis = "~" if ascii_only else ELLIPSIS
    lines = wrap(message, width)
    if len(lines) > height > 0:
        # Join the remaining lines into the last one, so that its ellipsis shows the cut.
        lines = [*lines[: height - 1], " ".join(lines[height - 1 :])]
    lines = [cut(line, width, ellipsis) for line in lines]
    first = (height - len(lines)) // 2 if len(lines) > 1 else (height - 1) // 2
    texts = {first + number: line for number, line in enumerate(lines)}
    rows = []
    for at in range(height):
        line = texts.get(at, "")
        left = " " * ((width - width_of(line)) // 2)
        rows.append(filled([(left + line, "dim")] if line else [], width))
    return tuple(rows)


DOTS_ACROSS, DOTS_DOWN = 2, 4
_BRAILLE = 0x2800
_BITS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))


class Canvas:
    """Line points count in dots, two across and four down per character; signs count in characters.

    Signs cover lines, and lines cover the backdrop, in any drawing order.
    """

    def __init__(self, width: int, height: int, ascii_only: bool = False) -> None:
        self.width, self.height = width, height
        self._ascii = ascii_only
        self._dots: dict[tuple[int, int], tuple[int, str]] = {}
        self._signs: dict[tuple[int, int], tuple[str, str]] = {}
        self._back: dict[tuple[int, int], tuple[str, str]] = {}

    def sign(self, column: int, row: int, char: str, style: str) -> None:
        """Put a character on top of lines and backdrop."""
        self._signs[column, row] = char, style

    def backdrop(self, column: int, row: int, char: str, style: str) -> None:
        """Put a character that shows only where nothing else is drawn."""
        self._back[column, row] = char, style

    def is_taken(self, column: int, row: int) -> bool:
        """Return whether a sign is at this place."""
        return (column, row) in self._signs

    def line(self, start: tuple[int, int], end: tuple[int, int], style: str) -> None:
        """Draw a straight line between two dots, both included."""
        if self._ascii:
            self._strokes(start, end, style)
        else:
            self._dotted(start, end, style)

    def rows(self) -> tuple[Row, ...]:
        """Return the drawing in exactly the canvas size."""
        return tuple(joined(self._cell(x, y) for x in range(self.width)) for y in range(self.height))

    def _cell(self, x: int, y: int) -> tuple[str, str]:
        place = x, y
        if place in self._signs:
            return self._signs[place]
        if place in self._dots:
            bits, style = self._dots[place]
            return chr(bits if self._ascii else _BRAILLE + bits), style
        return self._back.get(place, (" ", ""))

    def _dotted(self, start: tuple[int, int], end: tuple[int, int], style: str) -> None:
        (x0, y0), (x1, y1) = start, end
        steps = max(abs(x1 - x0), abs(y1 - y0), 1)
        for i in range(steps + 1):
            x, y = x0 + round((x1 - x0) * i / steps), y0 + round((y1 - y0) * i / steps)
            place = x // DOTS_ACROSS, y // DOTS_DOWN
            before, owner = self._dots.get(place, (0, style))
            bit = _BITS[y % DOTS_DOWN][x % DOTS_ACROSS]
            # A character has one style, so two lines cannot share it: the later line takes it.
            self._dots[place] = (before | bit if owner == style else bit), style

    def _strokes(self, start: tuple[int, int], end: tuple[int, int], style: str) -> None:
        (x0, y0), (x1, y1) = sorted((start, end))
        left, right = x0 // DOTS_ACROSS, x1 // DOTS_ACROSS
        for column in range(left, right + 1):
            # The line's height at both edges of this character column.
            enter = _at(max(column * DOTS_ACROSS, x0), x0, y0, x1, y1)
            leave = _at(min(column * DOTS_ACROSS + DOTS_ACROSS, x1), x0, y0, x1, y1) if x1 > x0 else y1
            first, last = round(enter) // DOTS_DOWN, round(leave) // DOTS_DOWN
            for row in range(min(first, last), max(first, last) + 1):
                char = (
                    _stroke(enter, leave) if first == last else "|" if abs(first - last) > 1 else "/\\"[leave > enter]
                )
                self._dots[column, row] = ord(char), style


def _at(x: int, x0: int, y0: int, x1: int, y1: int) -> float:
    return y0 + (y1 - y0) * (x - x0) / (x1 - x0) if x1 > x0 else y0


def _stroke(enter: float, leave: float) -> str:
    """Return the ASCII character for a part of a line, by its slope and height within the character."""
    if abs(enter - leave) >= DOTS_DOWN // 2:
        return "/" if leave < enter else "\\"
    return "_" if (enter + leave) / 2 % DOTS_DOWN >= DOTS_DOWN - 1 else "-"


_STEPS = {1.0: 0.0, 2.0: 0.0, 2.5: 0.0, 5.0: 0.0, 1.5: 0.05, 3.0: 0.05, 4.0: 0.05, 6.0: 0.05, 8.0: 0.05}
"""First digits of round spacings, each with a penalty for being less round."""
_GREATEST, _SMALLEST = 1e250, 1e-250
"""Beyond these, differences and products of values could overflow; no measured value comes near."""


@dataclass(frozen=True, slots=True)
class Scale:
    """One axis from `low` at place `first` to `high` at place `last`; places may run either way."""

    low: float
    high: float
    first: int
    last: int
    log2: bool = False

    def place(self, value: float) -> int:
        """Return the place of a value, which may be beyond either end."""
        low, high = self._turned(self.low), self._turned(self.high)
        if high <= low:
            return round((self.first + self.last) / 2)
        share = (self._turned(value) - low) / (high - low)
        return self.first + round(max(-9.0, min(9.0, share)) * (self.last - self.first))

    def value(self, place: float) -> float:
        """Return the value at a place."""
        if self.last == self.first:
            return self.low
        low, high = self._turned(self.low), self._turned(self.high)
        turned = low + (high - low) * (place - self.first) / (self.last - self.first)
        return 2.0**turned if self.log2 else turned

    def _turned(self, value: float) -> float:
        return math.log2(max(value, _SMALLEST)) if self.log2 else value


def tame(value: float) -> float:
    """Clamp the value to the range that axis arithmetic can handle."""
    if abs(value) < _SMALLEST:
        return 0.0
    return max(-_GREATEST, min(_GREATEST, value))


def round_ticks(low: float, high: float, max_ticks: int) -> tuple[float, ...]:
    """Return two to `max_ticks` evenly spaced round values that cover `low` to `high`.

    Choose the spacing that leaves the least of the axis empty.
    """
    if not high > low:
        low, high = (low, low + abs(low)) if low else (0.0, 1.0)
    span = high - low
    best: tuple[float, tuple[float, ...]] | None = None
    power = math.floor(math.log10(span / max(max_ticks, 2)))
    powers = (power - 1, power, power + 1, power + 2)
    for step, dislike in ((digit * 10.0**p, dislike) for p in powers for digit, dislike in _STEPS.items()):
        start = math.floor(low / step + 1e-9)
        end = math.ceil(high / step - 1e-9)
        count = end - start + 1
        if not 2 <= count <= max(max_ticks, 2):
            continue
        waste = dislike + (count - 1) * step / span - 1 + 0.02 * (max(max_ticks, 2) - count)
        if best is None or waste < best[0] - 1e-12:
            best = waste, tuple(step * i for i in range(start, end + 1))
    return best[1] if best is not None else (low, high)


def tick_labels(ticks: Sequence[float]) -> tuple[str, ...]:
    """Format the ticks with the same number of decimals and the same unit (k, M)."""
    greatest = max((abs(tick) for tick in ticks), default=0.0)
    step = min((b - a for a, b in pairwise(ticks)), default=greatest) or 1.0
    if greatest >= 1e10 or 0 < greatest < 1e-4:
        return tuple(f"{tick:.3g}" for tick in ticks)
    divisor, unit = next(((d, u) for d, u in ((1e9, "G"), (1e6, "M"), (1e4, "k")) if greatest >= d), (1.0, ""))
    divisor = 1e3 if unit == "k" else divisor
    decimals = max(0, -math.floor(math.log10(step / divisor) + 1e-9))
    # A spacing of 2.5 needs one more digit than one of 2.
    decimals += not math.isclose(step / divisor * 10**decimals, round(step / divisor * 10**decimals))
    return tuple(f"{tick / divisor:.{min(decimals, 8)}f}{unit}" if tick else "0" for tick in ticks)
