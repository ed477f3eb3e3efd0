"""Points of a scaling figure: a table with a cursor, and the details of one point."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import ClassVar

from textual.binding import BindingType
from textual.message import Message

from tuibench.core.text import cut, cut_start
from tuibench.core.units import percent, short
from tuibench.present.plots.drawing import Row
from tuibench.present.plots.scaling import Scaling
from tuibench.present.plots.selection import Line, ScalingPoint, Sentence, Side
from tuibench.present.plots.sentences import point_words
from tuibench.present.plots.trace import signs
from tuibench.tui import key
from tuibench.tui.screens.detail.facts import Fact, hung
from tuibench.tui.widgets.row import shown
from tuibench.tui.widgets.text_block import Movable

_INDENT = 8
_FEWEST = 6
"""Minimum number of visible points, however many sentences there are."""


class PointList(Movable):
    """A table of points that scrolls while the sentences stay visible."""

    BINDINGS: ClassVar[list[BindingType]] = key.bindings("open")

    class Moved(Message):
        """Another point is under the cursor."""

    class Opened(Message):
        """Enter was pressed on a point."""

    def __init__(self) -> None:
        super().__init__()
        self._head: Row = ()
        self._lines: list[Row] = []
        self._facts: tuple[Fact, ...] = ()
        self._said: list[Row] = []
        self._said_for = -1
        self._about = ""
        self._first = 0
        self.at = 0

    def show_points(self, head: Row, lines: Sequence[Row], facts: Sequence[Fact], about: str = "") -> None:
        """Show these points and keep the cursor's index; `about` is the heading of the sentences."""
        self._about = about
        self.at = min(self.at, max(len(lines) - 1, 0))
        self._head, self._lines, self._facts = shown(head), [shown(line) for line in lines], tuple(facts)
        self._said_for = -1
        self.repaint()

    @property
    def _sentences(self) -> list[Row]:
        """Sentences wrapped at the current width."""
        width = self.size.width
        if width != self._said_for:
            room = max(width - 2, 1)
            self._said = [row for fact in self._facts for row in hung(fact, _INDENT, room, self.legible)]
            self._said_for = width
        return self._said

    @property
    def _room(self) -> int:
        """Number of points visible at once: the rows that the sentences leave, but never too few."""
        left = self.size.height - 2 - len(self._sentences)
        return min(max(left, _FEWEST), max(self.size.height - 1, 1), len(self._lines))

    def move(self, by: int) -> None:
        """Move the cursor."""
        before, self.at = self.at, min(max(self.at + by, 0), max(len(self._lines) - 1, 0))
        self._first = min(max(self._first, self.at - self._room + 1), self.at)
        self.repaint()
        if self.at != before:
            self.post_message(self.Moved())

    def move_to_end(self, last: bool) -> None:
        """Move the cursor to the first or the last point."""
        self.move(len(self._lines) if last else -len(self._lines))

    def action_open(self) -> None:
        """Post Opened for the point under the cursor."""
        self.post_message(self.Opened())

    def row(self, y: int) -> Row:
        """Return the head, a point, the scroll position or a sentence."""
        room = self._room
        self._first = min(max(self._first, self.at - room + 1), self.at, max(len(self._lines) - room, 0))
        if y == 0:
            return ((" ", ""), *self._head)
        if y <= room:
            return self._point(self._first + y - 1)
        if y == room + 1:
            many = f"{self._first + 1}-{self._first + room} of {len(self._lines)}"
            words = "  ".join(filter(None, (many if room < len(self._lines) else "", self._about)))
            return ((f" {words}", "dim"),)
        return self._sentence(y - room - 2, self.size.height - room - 2)

    def _point(self, number: int) -> Row:
        here = number == self.at
        lit = " cursor" if here and self.has_focus else ""
        line = self._lines[number]
        sign = self.glyphs.cursor if here else " "
        return ((sign, ""), *((text, f"{style}{lit}".strip()) for text, style in line))

    def _sentence(self, number: int, room: int) -> Row:
        said = self._sentences
        if number >= len(said):
            return ()
        if number == room - 1 and len(said) > room:
            return ((f" {self.glyphs.ellipsis} w shows all", "dim"),)
        return ((" ", ""), *said[number])


_NAME = 6
_COLUMN = 10
_FIRST = ("best", "worst", "ratio")
_BRIEF = ((" %", "%"), ("efficiency", "eff"), (", grade ", ", "))


def table(shown: Scaling, *, wide: bool, missing: str) -> tuple[Row, list[Row]]:
    """Return the head and a line per value; for several series one number each, unless there is room for all facts."""
    lines = shown.lines
    if not lines:
        return (("no cells planned", "dim"),), []
    every = values_of(shown)
    name = f"{cut(shown.axis_name, _NAME):>{_NAME}}"
    if len(lines) == 1 or wide:
        labels = [cut(line.side.label, 15 - 2 * len(lines)) if len(lines) > 1 else shown.unit for line in lines]
        head = "".join(f" {label:>{max(9, len(label))}} {'±':>6} {'eff':>5} G" for label in labels)
        columns = [
            {point.value: _full(point, max(9, len(label)), missing) for point in line.points}
            for line, label in zip(lines, labels, strict=True)
        ]
    else:
        head = "".join(f"{label:>{_COLUMN}}" for label in _heads([line.side for line in lines], _COLUMN - 1))
        columns = [{point.value: _brief(point, missing) for point in line.points} for line in lines]
    rows = []
    for value in every:
        parts = [(column.get(value) or ((f"{'-':>{_COLUMN}}", "dim"),)) for column in columns]
        rows.append(((f"{value:>{_NAME}}", ""), *(span for part in parts for span in part)))
    return ((name + head, "dim"),), rows


def _heads(sides: Sequence[Side], width: int) -> list[str]:
    """Return unique names of series in `width` columns: cut, else in short form, else by their ends."""
    brief = [side.brief for side in sides]
    ways = ([cut(side.label, width) for side in sides], [cut(label, width) for label in brief])
    different = (way for way in ways if len(set(way)) == len(way))
    return next(different, [cut_start(label, width) for label in brief])


def _full(point: ScalingPoint, width: int, missing: str) -> Row:
    found = point.estimate
    if found.value is None:
        return ((f" {missing} {point.note or point.status}", "bad"),)
    half = percent(found.half_width).replace(" ", "") if found.half_width is not None else ""
    share = f"{100 * point.efficiency:.0f}%" if point.efficiency is not None else ""
    text = f" {short(found.value, 4):>{width}} {half:>6} {share:>5} {point.grade or '-'}"
    return ((text, "" if point.is_clean else "warn"),)


def _brief(point: ScalingPoint, missing: str) -> Row:
    value = point.estimate.value
    if value is None:
        return ((f"{missing:>{_COLUMN}}", "bad"),)
    # A sign beside the number, because colour alone is not enough.
    sign = "" if point.is_clean else "!"
    return ((f"{sign + short(value, 4):>{_COLUMN}}", "" if point.is_clean else "warn"),)


def values_of(shown: Scaling) -> tuple[int, ...]:
    """Return all values on the axis that any series has."""
    return tuple(sorted({point.value for line in shown.lines for point in line.points}))


def sentence_facts(sentences: Sequence[Sentence], *, wide: bool) -> list[Fact]:
    """Return conclusions from the figure, comparisons of series first; with intervals if there is room."""
    ordered = sorted(sentences, key=lambda each: each.kind not in _FIRST)
    return [Fact(each.kind, each.text if wide else each.brief or each.text, _style(each.kind)) for each in ordered]


def sign_facts(shown: Scaling) -> list[Fact]:
    """Return the legend of the sign in a narrow table, if any number has it."""
    points = [point for line in shown.lines for point in line.measured if not point.is_clean]
    why = ("grade D" if any(point.grade == "D" for point in points) else "",
           "outputs differ" if any(point.grade != "D" for point in points) else "")  # fmt: skip
    return [Fact("!", " or ".join(filter(None, why)), "warn", "warn")] if points else []


def _style(kind: str) -> str:
    return "bad" if kind == "missing" else "warn" if kind == "note" else ""


def point_rows(
    shown: Scaling, value: int | None, width: int, *, ascii_only: bool, legible: Callable[[str], str]
) -> list[Row]:
    """Return the details of the points at one value: a line per series, or two lines for a single one."""
    found = list(_at(shown.lines, value))
    if len(found) == 1:
        words = point_words(found[0][1], shown.selection.metric)
        cursor = signs(ascii_only).cursor
        return hung(Fact(f" {cursor}", words, label_style=""), 3, max(width - 1, 20), legible)[:2]
    rows: list[Row] = []
    for sign, (line, point) in zip(signs(ascii_only).markers, found, strict=False):
        words = point_words(point, shown.selection.metric)
        for long, short_form in _BRIEF:
            words = words.replace(long, short_form)
        rows.append(((f" {sign} {line.side.label}  ", "dim"), (words, "" if point.is_clean else "warn")))
    return rows


def _at(lines: Sequence[Line], value: int | None) -> Iterator[tuple[Line, ScalingPoint]]:
    for line in lines:
        point = next((point for point in line.points if point.value == value), None)
        if point is not None:
            yield line, point
