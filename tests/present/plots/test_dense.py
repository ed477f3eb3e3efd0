from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tuibench.present.plots.drawing import DOTS_ACROSS, Canvas, Scale, text_of
from tuibench.present.plots.figure import Figure, Point, Series, draw
from tuibench.present.plots.trace import Brush, Stroke, draw_stroke, signs

HEIGHTS = st.floats(0, 1e6)
VALUES = st.lists(st.tuples(st.integers(0, 400), HEIGHTS), min_size=30, max_size=300).map(sorted)


def brushed(values: list[tuple[int, float]], width: int, height: int, ascii_only: bool) -> Brush:
    y = [value for _, value in values]
    x = Scale(values[0][0], values[-1][0], 0, width * DOTS_ACROSS - 1)
    return Brush(Canvas(width, height, ascii_only), x, Scale(min(y), max(y), height * 4 - 1, 0), signs(ascii_only))


@given(VALUES, st.sets(st.integers(0, 300)), st.integers(1, 80), st.integers(1, 30), st.booleans())
def test_extremes_of_a_dense_line_reach_their_rows(
    values: list[tuple[int, float]], breaks: set[int], width: int, height: int, ascii_only: bool
) -> None:
    assume(len(values) > width // 3)
    brush = brushed(values, width, height, ascii_only)
    draw_stroke(brush, Stroke(0, tuple((x, y, None, None) for x, y in values), frozenset(breaks)))
    rows = text_of(brush.canvas.rows()).split("\n")
    for extreme in (min, max):
        x, y = extreme(values, key=lambda value: value[1])
        column, row = brush.cell(x, y)
        assert rows[row].ljust(width)[column] not in " \u2800"


@pytest.mark.parametrize("ascii_only", [False, True], ids=["braille", "ascii"])
def test_peak_of_a_dense_line_matches_the_axis_and_the_cursor(ascii_only: bool) -> None:
    points = tuple(Point(x, 30.0 if x == 151 else 20.0 + x % 2) for x in range(1, 301))
    figure = Figure((Series("a", points),), None, "batch", "ms")
    rows = text_of(draw(figure, 60, 16, ascii_only=ascii_only)).splitlines()
    assert rows[0].split("+" if ascii_only else "┤")[0].strip() == "30" and rows[0][6:].strip()
    shown = text_of(draw(figure, 60, 16, ascii_only=ascii_only, cursor=(0, 150))).splitlines()
    column = shown[0].index("@" if ascii_only else "◉")
    assert all(row[column].strip() for row in rows[:4]), "the line goes up to it"
