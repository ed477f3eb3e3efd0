"""Points of a scaling figure as text: the lines of the table beside it, and the details of a point below it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from tuibench.core.units import percent, short
from tuibench.core.width import fit_end
from tuibench.plots.line import Line, ScalingPoint, Sentence
from tuibench.plots.scaling import Scaling
from tuibench.plots.selection import Side
from tuibench.plots.sentence import point_words
from tuibench.plots.trace import signs
from tuibench.tui.screens.detail_fact import Fact, hung
from tuibench.tui.widgets.row import Row, cut

_NAME = 6
_COLUMN = 10
_FIRST = ("best", "worst", "ratio")
_BRIEF = ((" %", "%"), ("efficiency", "eff"), (", grade ", ", "))


def table(shown: Scaling, *, wide: bool, missing: str) -> tuple[Row, list[Row]]:
    """Return the head and a line per value; for several series one number each, unless there is room for all facts."""
    lines = shown.lines
    if not lines:
        return (("nothing was planned", "dim"),), []
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
    return next(different, [fit_end(label, width) for label in brief])


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
