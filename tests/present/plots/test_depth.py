from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.present.plots.golden import check
from tests.present.profile.sample_data import make_performance
from tuibench.core.text import width_of
from tuibench.present.plots.depth import Depth, draw_depth
from tuibench.present.plots.drawing import Row, text_of


def depth_of(values: Sequence[float | None], **more: Any) -> Depth:
    return Depth("ms", (), tuple(values), **more)


TIMES = depth_of(tuple(layer.ms.value for layer in make_performance().layers))


def columns_of(rows: tuple[Row, ...], style: str) -> set[int]:
    """Return the columns with any text of the style."""
    found = set()
    for row in rows:
        at = 0
        for text, role in row:
            found |= set(range(at, at + len(text))) if role == style else set()
            at += len(text)
    return found


@pytest.mark.parametrize("ascii_only", [False, True])
def test_depth_matches_kept_figure(ascii_only: bool) -> None:
    rows = draw_depth(TIMES, 72, 12, cursor=7, ascii_only=ascii_only)
    check(f"depth-72x12{'-ascii' * ascii_only}", text_of(rows))


def test_logarithmic_depth_shows_small_values() -> None:
    check("depth-log", text_of(draw_depth(depth_of(TIMES.values, log=True), 72, 12, cursor=0)))


def test_cursor_marks_the_columns_of_its_layer_and_names_it_below() -> None:
    depth = depth_of((1.0, 2.0, 4.0, 2.0))
    rows = draw_depth(depth, 44, 9, cursor=2)
    marked = columns_of(rows[:6], "mark")
    first = text_of(rows).index("┤") + 1
    data = 44 - first
    assert marked == set(range(first + 2 * data // 4, first + -(-3 * data // 4)))
    assert ("3", "mark") in [(text.strip(), style) for text, style in rows[-2]]
    assert columns_of(draw_depth(depth, 44, 9)[:6], "mark") == set()
    assert draw_depth(depth, 44, 9, cursor=99) == draw_depth(depth, 44, 9)


def test_column_shared_by_many_layers_shows_the_greatest() -> None:
    values = [0.1] * 5000
    values[3210] = 9.0
    rows = draw_depth(depth_of(tuple(values)), 80, 12)
    assert any(char not in " │┤0123456789." for char in text_of(rows[:1])), "the peak reaches the top row"
    cursor = draw_depth(depth_of(tuple(values)), 80, 12, cursor=3210)
    peak = {i for i, char in enumerate(text_of(rows[1:2])) if "\u2800" < char < "\u28ff"}
    assert columns_of(cursor[:9], "mark") == peak and len(peak) == 1


def test_negative_values_hang_below_zero() -> None:
    text = text_of(draw_depth(depth_of((1.0, -1.0)), 20, 9, ascii_only=True)).splitlines()
    top, foot = text[0], text[5]
    assert "#" in top[: len(top) // 2 + 2] and "#" not in top[12:]
    assert "#" in foot[11:] and "#" not in foot[:11]


def test_layer_without_a_value_is_a_dot_at_the_baseline() -> None:
    rows = draw_depth(depth_of((1.0, None, 1.0)), 32, 8)
    assert "·" in text_of(rows[4:5]) and "·" not in text_of(rows[:4])
    assert "no layer has a value" in text_of(draw_depth(depth_of((None, None)), 32, 8))
    assert "nothing here" in text_of(draw_depth(depth_of((), empty="nothing here"), 32, 8))


@given(
    st.lists(st.none() | st.floats(), max_size=40),
    st.integers(-2, 90),
    st.integers(-2, 20),
    st.none() | st.integers(-5, 45),
    st.booleans(),
    st.booleans(),
)
def test_depth_of_any_values_has_the_requested_size(
    values: list[float | None], width: int, height: int, cursor: int | None, log: bool, ascii_only: bool
) -> None:
    rows = draw_depth(depth_of(tuple(values), log=log), width, height, cursor=cursor, ascii_only=ascii_only)
    assert len(rows) == (height if width > 0 and height > 0 else 0)
    assert {sum(width_of(text) for text, _ in row) for row in rows} <= {width}
    # A message that does not fit ends with an ellipsis.
    assert not ascii_only or width < 30 or text_of(rows).isascii()
