"""A character grid to draw on: lines of braille dots or ASCII strokes, with signs on top."""

from __future__ import annotations

from tuibench.plots.styled import Row, joined

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
        return self._back.get(place, (" ", "plain"))

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
