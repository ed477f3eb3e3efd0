from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tuibench.present.plots.depth import sparkline


def test_sparkline_runs_from_least_to_greatest() -> None:
    assert sparkline([0, 1, 2, 3, 4, 5, 6, 7]) == "▁▂▃▄▅▆▇█"
    assert sparkline([7, None, 0], ascii_only=True) == "# _"


def test_equal_values_are_in_the_middle_and_none_is_blank() -> None:
    assert sparkline([3, 3, 3]) == "▄▄▄"
    assert sparkline([None, None]) == "  " and sparkline([]) == ""


def test_given_scale_keeps_small_changes_small() -> None:
    assert sparkline([9.9, 10], low=0, high=10) == "██"
    assert sparkline([-5, 15], low=0, high=10) == "▁█"


def test_more_values_than_columns_are_averaged() -> None:
    assert sparkline([0, 0, 2, 2, 7, 7], width=3) == sparkline([0, 2, 7])
    assert sparkline([None, None, 1, 3], width=2) == " ▄"
    assert sparkline([4, 4, 3, 3, 3], width=2) == "█▁"
    assert sparkline([1, 2], width=10) == "▁█"


@given(st.lists(st.none() | st.floats(), max_size=50), st.booleans(), st.none() | st.integers(0, 20))
def test_sparkline_of_any_values_has_the_requested_length(
    values: list[float | None], ascii_only: bool, width: int | None
) -> None:
    text = sparkline(values, ascii_only, width)
    assert len(text) == (len(values) if width is None else min(len(values), width))
    assert text.isascii() or not ascii_only
