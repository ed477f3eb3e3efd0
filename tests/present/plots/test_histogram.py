from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.present.plots import data, golden
from tests.present.plots.test_figure import check_rows
from tuibench.present.plots.drawing import text_of
from tuibench.present.plots.histogram import Histogram, draw_histogram, marks_of, merged_histogram

counts = st.lists(st.floats(0, 1e12) | st.just(0.0), min_size=1, max_size=60).map(tuple)
marks = st.lists(st.tuples(st.sampled_from(["p50", "p90", "p99.9"]), st.floats(allow_nan=False)), max_size=3)


@given(
    counts, st.floats(1e-6, 1e6), st.floats(1.0001, 1.5), marks, st.integers(1, 120), st.integers(1, 30), st.booleans()
)
def test_histogram_of_any_counts_has_the_requested_size(
    found: tuple[float, ...],
    low: float,
    ratio: float,
    at: list[tuple[str, float]],
    width: int,
    height: int,
    ascii_only: bool,
) -> None:
    histogram = Histogram(tuple(low * ratio**i for i in range(len(found) + 1)), found, under=1, over=2)
    check_rows(draw_histogram(histogram, width, height, marks=at, ascii_only=ascii_only), width, height)


@pytest.mark.parametrize("ascii_only", [False, True], ids=["blocks", "ascii"])
def test_histogram_matches_kept_figure(ascii_only: bool) -> None:
    cell = data.spread_cell()
    histogram = merged_histogram(cell)
    assert histogram is not None
    rows = draw_histogram(histogram, 80, 14, marks=marks_of(cell), ascii_only=ascii_only)
    golden.check(f"histogram-80x14{'-ascii' if ascii_only else ''}", text_of(rows))


def test_histogram_columns_are_percentages_of_all_calls() -> None:
    rows = text_of(draw_histogram(Histogram((1, 2, 3, 4, 5), (1, 1, 4, 2)), 44, 9)).splitlines()
    assert rows[0].startswith("5.0┤") and rows[-1] == "% of calls by ms/batch"
    # Forty columns: ten for each bin; the third has half of all calls, 5 % per column.
    assert rows[0][4:] == " " * 20 + "█" * 10


def test_few_slowest_calls_do_not_compress_the_histogram() -> None:
    rows = text_of(draw_histogram(Histogram((1, 2, 3, 1000), (500, 498, 2), over=1), 50, 9)).splitlines()
    assert rows[-1].endswith("0.3 % beyond 3") and rows[-2].split()[-1] == "3"


def test_calls_possibly_outside_are_given_as_an_upper_bound() -> None:
    drawn = draw_histogram(Histogram((1, 2, 3), (50, 40), under=2, over=3, perhaps_over=5), 70, 9)
    assert text_of(drawn).splitlines()[-1].split("  ")[1:] == ["up to 8.0 % beyond 3", "2.0 % below 1"]
    drawn = draw_histogram(Histogram((1, 2, 3), (50, 40), perhaps_under=10), 70, 9)
    assert text_of(drawn).splitlines()[-1].split("  ")[1:] == ["up to 10 % below 1"]


def test_rarest_call_is_visible() -> None:
    rows = text_of(draw_histogram(Histogram((1, 2, 3, 4, 5), (1000, 0, 0, 6)), 43, 9)).splitlines()
    assert rows[-4][-5:] == "▁▁▁▁▁" and rows[-4][20] == " "


def test_marks_stand_below_their_values_and_overlapping_ones_go() -> None:
    histogram = Histogram((0, 10), (1,))
    marked = [("p50", 5.0), ("p51", 5.1), ("p99", 9.99), ("far", 11.0)]
    rows = text_of(draw_histogram(histogram, 53, 9, marks=marked)).splitlines()
    line = next(row for row in rows if "▲" in row)
    axis = next(row for row in rows if "└" in row)
    assert line.index("▲p50") == axis.index("└") + 1 + (53 - axis.index("└") - 1) // 2 and line.endswith("▲p99")
    assert "p51" not in line and "far" not in line


def test_empty_histogram_says_nothing_measured() -> None:
    assert "nothing measured" in text_of(draw_histogram(Histogram((1, 2), (0,)), 30, 3))
    assert draw_histogram(Histogram((1, 2), (1,)), 0, 3) == ()
